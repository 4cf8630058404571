package refeval

import "slices"

// matmulOps are products of matrices.
func matmulOps() []entry {
	return []entry{
		op("MatMul", matMul),
	}
}

func matMul(c *Call) error {
	c.Set(0, TensorValue(c.matmul(c.In(0), c.In(1))))
	return nil
}

// matmul multiplies stacks of matrices as numpy does: a vector is a row on the left, a column on
// the right, and the dimensions before the last two broadcast.
func (c *Call) matmul(x, y *Tensor) *Tensor {
	e := sameType(x, y)
	if len(x.Dims) == 0 || len(y.Dims) == 0 {
		refuse("%s and %s are no matrices", x, y)
	}
	xd, yd := x.Dims, y.Dims
	if len(xd) == 1 {
		xd = []int{1, xd[0]}
	}
	if len(yd) == 1 {
		yd = []int{yd[0], 1}
	}
	m, k, n := xd[len(xd)-2], xd[len(xd)-1], yd[len(yd)-1]
	if k != yd[len(yd)-2] {
		refuse("%s and %s do not multiply", x, y)
	}
	xb, yb := xd[:len(xd)-2], yd[:len(yd)-2]
	batch := broadcast(xb, yb)
	z := c.Temp(e, append(slices.Clone(batch), m, n))
	i := 0
	walk(append(slices.Clone(batch), 1), func(off []int, _ int) {
		c.matmulOf(z, i*m*n, x, off[0]*m*k, y, off[1]*k*n, m, n, k)
		i++
	}, append(spread(xb, batch), 0), append(spread(yb, batch), 0))
	dims := slices.Clone(z.Dims)
	if len(y.Dims) == 1 {
		dims = dims[:len(dims)-1]
	}
	if len(x.Dims) == 1 {
		dims = slices.Delete(dims, len(batch), len(batch)+1)
	}
	return z.view(dims)
}
