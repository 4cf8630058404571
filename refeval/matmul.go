package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval/kern"
)

// matmulOps are products of matrices.
func matmulOps() []entry {
	return []entry{
		op("Det", det),
		op("Einsum", einsum),
		op("Gemm", gemmNode),
		op("MatMul", matMul),
		op("MatMulInteger", matMulInteger),
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
	z := c.forProduct(e, append(slices.Clone(batch), m, n))
	switch p := y.right(false); {
	case p != nil:
		c.engine().GemmPacked(z.F, n, kern.Rows(x.F, k), p, size(xb)*m, false)
	case size(yb) == 1: // all rows go with the one matrix
		c.matmulOf(z, 0, x, 0, y, 0, size(xb)*m, n, k)
	default:
		c.multiply(z, x, y, pairs(batch, xb, yb, m*k, k*n), m, n, k)
	}
	dims := slices.Clone(z.Dims)
	if len(y.Dims) == 1 {
		dims = dims[:len(dims)-1]
	}
	if len(x.Dims) == 1 {
		dims = slices.Delete(dims, len(batch), len(batch)+1)
	}
	return z.view(dims)
}

// forProduct makes a tensor for products of matrices: those of float32 set it, others are added to
// zeros.
func (c *Call) forProduct(e graph.ElemType, dims []int) *Tensor {
	if storeOf(e) == storeF {
		return c.Raw(e, dims)
	}
	return c.Temp(e, dims)
}

// pairs lists the matrices of two stacks that meet under broadcasting, each of so many elements.
func pairs(batch, xb, yb []int, mk, kn int) []places {
	list := make([]places, 0, size(batch))
	walk(append(slices.Clone(batch), 1), func(off []int, _ int) {
		list = append(list, places{off[0] * mk, off[1] * kn})
	}, append(spread(xb, batch), 0), append(spread(yb, batch), 0))
	return list
}

// gemmNode is alpha A B + beta C of two matrices, either of which may be turned first.
func gemmNode(c *Call) error {
	y := c.gemmOf(c.In(0), c.In(1), c.Int("transA") != 0, c.Int("transB") != 0)
	c.Set(0, TensorValue(y))
	c.scale(y, c.Float("alpha"))
	bias := c.In(2)
	if bias == nil {
		return nil
	}
	if beta := c.Float("beta"); beta == 0 {
		return nil
	} else if beta != 1 {
		bias = c.Clone(bias)
		c.scale(bias, beta)
	}
	c.affine(y, nil, bias)
	return nil
}

// gemmOf multiplies two matrices.
func (c *Call) gemmOf(x, y *Tensor, turnX, turnY bool) *Tensor {
	e := sameType(x, y)
	if x.Rank() != 2 || y.Rank() != 2 {
		refuse("%s and %s are no matrices", x, y)
	}
	m, k, k2, n := x.Dims[0], x.Dims[1], y.Dims[0], y.Dims[1]
	if turnX {
		m, k = k, m
	}
	if turnY {
		k2, n = n, k2
	}
	if k != k2 {
		refuse("%s and %s do not multiply", x, y)
	}
	z := c.forProduct(e, []int{m, n})
	if p := y.right(turnY); p != nil {
		c.engine().GemmPacked(z.F, n, turned(x, turnX).kern(), p, m, false)
		return z
	}
	if z.F != nil {
		c.gemm(z.F, turned(x, turnX), turned(y, turnY), m, n, k)
		return z
	}
	c.matmulOf(z, 0, c.turn(x, turnX), 0, c.turn(y, turnY), 0, m, n, k)
	return z
}

// turned views a matrix of floats, transposed if turn says so.
func turned(t *Tensor, turn bool) matrix {
	m := matrix{t.F, t.Dims[1], 1}
	if turn {
		m.row, m.col = m.col, m.row
	}
	return m
}

// turn returns a matrix of any type, transposed if turn says so.
func (c *Call) turn(t *Tensor, turn bool) *Tensor {
	if !turn {
		return t
	}
	r := c.Temp(t.Elem, []int{t.Dims[1], t.Dims[0]})
	copyBox(r, whole(r), t, layout{strides: []int{1, t.Dims[1]}}, r.Dims)
	return r
}

// scale multiplies in place and rounds.
func (c *Call) scale(t *Tensor, by float64) {
	if by == 1 {
		return
	}
	for i := range t.Len() {
		t.put64(i, t.at64(i)*by)
	}
	if t.F != nil {
		c.accum().roundAll(t.F)
	}
}

// matMulInteger multiplies integers less their zero points, which may differ by row on the left
// and by column on the right.
func matMulInteger(c *Call) error {
	x, zx := c.In(0), c.In(2)
	if zx != nil && zx.Rank() == 1 && zx.Len() != 1 {
		zx = zx.view([]int{zx.Len(), 1})
	}
	c.Set(0, TensorValue(c.matmul(c.less(x, zx), c.less(c.In(1), c.In(3)))))
	return nil
}

// less returns integers as int32 less a zero point that broadcasts to them.
func (c *Call) less(x, zero *Tensor) *Tensor {
	if zero == nil || zero.Len() == 1 {
		return c.shifted(x, zero, 0)
	}
	y := c.shifted(x, nil, 0)
	if !slices.Equal(broadcast(x.Dims, zero.Dims), x.Dims) {
		refuse("zero points %s for %s", zero, x)
	}
	sub := arith{i: integer(minus[int64])}
	sub.into(c, y, y, zero)
	return y
}

// det computes determinants by elimination, in double.
func det(c *Call) error {
	x := c.In(0)
	rank := x.Rank()
	if rank < 2 || x.Dims[rank-1] != x.Dims[rank-2] || x.I != nil {
		refuse("%s is no square matrix", x)
	}
	n := x.Dims[rank-1]
	y := c.Out(0, x.Elem, x.Dims[:rank-2])
	for i := range y.Len() {
		m := make([]float64, n*n)
		for k := range m {
			m[k] = x.at64(i*n*n + k)
		}
		y.put64(i, determinant(m, n))
	}
	return nil
}

// determinant eliminates column by column, by the largest pivot; m is spoilt.
func determinant(m []float64, n int) float64 {
	d := 1.0
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(m[i*n+k]) > math.Abs(m[p*n+k]) {
				p = i
			}
		}
		if p != k {
			d = -d
			for j := range n {
				m[k*n+j], m[p*n+j] = m[p*n+j], m[k*n+j]
			}
		}
		d *= m[k*n+k]
		if m[k*n+k] == 0 {
			return 0
		}
		for i := k + 1; i < n; i++ {
			f := m[i*n+k] / m[k*n+k]
			for j := k; j < n; j++ {
				m[i*n+j] -= f * m[k*n+j]
			}
		}
	}
	return d
}
