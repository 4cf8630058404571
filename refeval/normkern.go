package refeval

import (
	"slices"

	"github.com/amplint/amplint/refeval/kern"
)

// normScaled sets output 0 to the norm of x along its last axes, from one on, times a scale plus a
// bias; either may be nil. It returns the output.
func (c *Call) normScaled(x *Tensor, at int, z normalizer, scale, bias *Tensor) *Tensor {
	inner := x.Dims[at:]
	n := size(inner)
	if x.F == nil || z.a.low() || n == 0 || x.Len() == 0 || z.variance != nil || !alongRow(scale, inner) || !alongRow(bias, inner) {
		y := c.norm(x, allAxes(x.Rank())[at:], z)
		c.affine(y, scale, bias)
		return y
	}
	y := c.rawOut(0, x.Elem, x.Dims)
	p := kern.Norm{Scale: floats(scale), Bias: floats(bias), Epsilon: float32(z.eps), RMS: !z.center,
		Mean: floats(z.mean), Inv: floats(z.inv)}
	c.engine().LayerNorm(y.F, x.F, x.Len()/n, n, &p)
	return y
}

// alongRow tells whether a tensor, which may be nil, has a float for each element of a row.
func alongRow(t *Tensor, row []int) bool {
	return t == nil || t.F != nil && slices.Equal(withoutOnes(t.Dims), withoutOnes(row)) && t.Rank() <= len(row)
}

// withoutOnes drops the leading dimensions of 1.
func withoutOnes(dims []int) []int {
	for len(dims) > 0 && dims[0] == 1 {
		dims = dims[1:]
	}
	return dims
}
