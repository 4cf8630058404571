package refeval

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// contribOps are onnxruntime's own operators, as its optimiser and its exporters write them. The
// domain's version is always 1, so that operators of the standard which changed have kernels of
// their own here.
func contribOps() []entry {
	list := append(contribNormOps(), contribProductOps()...)
	list = append(list, contribAttentionOps()...)
	return append(list,
		op("com.microsoft.BiasAdd", biasAdd),
		op("com.microsoft.BiasGelu", biasGelu),
		op("com.microsoft.BiasSoftmax", biasSoftmax),
		op("com.microsoft.BiasSplitGelu", biasSplitGelu),
		mover("com.microsoft.ExpandDims", expandDims),
		op("com.microsoft.FastGelu", contribFastGelu),
		mover("com.microsoft.GatherND", gatherND),
		op("com.microsoft.Gelu", unary(erfGelu)),
		op("com.microsoft.GridSample", gridSample),
		op("com.microsoft.IsAllFinite", isAllFinite),
		op("com.microsoft.Pad", pad),
		op("com.microsoft.QuickGelu", unaryWith(func(c *Call) func(float64) float64 { return swish(c.Float("alpha")) })),
		op("com.microsoft.Trilu", trilu),
	)
}

// plus returns the sum of two tensors that broadcast, rounded.
func (c *Call) plus(x, y *Tensor) *Tensor {
	sameType(x, y)
	z := c.Temp(x.Elem, broadcast(x.Dims, y.Dims))
	addition().into(c, z, x, y)
	if z.F != nil {
		c.accum().roundAll(z.F)
	}
	return z
}

func erfGelu(x float64) float64 { return x * 0.5 * (1 + math.Erf(x*math.Sqrt2/2)) }

// biasGelu is the exact Gelu of a sum.
func biasGelu(c *Call) error {
	y := c.plus(c.In(0), c.In(1))
	for i := range y.Len() {
		y.put64(i, erfGelu(y.at64(i)))
	}
	c.Set(0, TensorValue(y))
	return nil
}

// contribFastGelu may add a bias first.
func contribFastGelu(c *Call) error {
	x := c.In(0)
	if c.Has(1) {
		x = c.plus(x, c.In(1))
	}
	return fastGelu(c, x)
}

// biasAdd adds a bias and a second input.
func biasAdd(c *Call) error {
	c.Set(0, TensorValue(c.plus(c.plus(c.In(0), c.In(1)), c.In(2))))
	return nil
}

// biasSplitGelu gates the first half of the last dimension by the Gelu of the second.
func biasSplitGelu(c *Call) error {
	x := c.plus(c.In(0), c.In(1))
	n := x.Dims[x.Rank()-1]
	if n%2 != 0 {
		refuse("the %d elements of the last dimension of %s have no halves", n, x)
	}
	dims := append(append([]int{}, x.Dims[:x.Rank()-1]...), n/2)
	y := c.Out(0, x.Elem, dims)
	for i := range y.Len() {
		at := i/(n/2)*n + i%(n/2)
		y.put64(i, x.at64(at)*erfGelu(x.at64(at+n/2)))
	}
	return nil
}

// biasSoftmax is the softmax of a sum over an axis and all behind it.
func biasSoftmax(c *Call) error {
	x, a := c.plus(c.In(0), c.In(1)), c.accum()
	if x.Len() != c.In(0).Len() {
		refuse("a bias %s for %s", c.In(1), c.In(0))
	}
	c.eachRow(x, allAxes(x.Rank())[axis(c.Int("axis"), x.Rank()):],
		func(dst, src []float32, n, _ int) { softmaxRows(a, dst, src, n, false) },
		func(dst, src []float64, n, _ int) { softmaxRows(a, dst, src, n, false) })
	return nil
}

// expandDims inserts a dimension of 1.
func expandDims(c *Call) error {
	x := c.In(0)
	at := axis(c.In(1).int(), x.Rank()+1)
	dims := append(append(append([]int{}, x.Dims[:at]...), 1), x.Dims[at:]...)
	c.View(0, x, dims)
	return nil
}

// isAllFinite looks for Inf and NaN in all inputs, or for one of the two.
func isAllFinite(c *Call) error {
	inf, nan := c.Int("isnan_only") == 0, c.Int("isinf_only") == 0
	fine := true
	for i := range c.Len() {
		x := c.In(i)
		for k := range x.Len() {
			v := x.at64(k)
			fine = fine && !(inf && math.IsInf(v, 0)) && !(nan && math.IsNaN(v))
		}
	}
	c.Out(0, graph.Bool, []int{}).I[0] = bit(fine)
	return nil
}
