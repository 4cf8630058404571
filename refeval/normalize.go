package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// normalizeOps bring values to a mean of 0 and a variance of 1, or to a length of 1.
func normalizeOps() []entry {
	return []entry{
		op("BatchNormalization", batchNorm),
		op("GroupNormalization", groupNorm),
		op("InstanceNormalization", instanceNorm),
		op("LRN", lrn),
		op("LayerNormalization", layerNorm),
		op("LpNormalization", lpNorm),
		op("MeanVarianceNormalization", meanVarianceNorm),
		op("RMSNormalization", rmsNorm),
	}
}

// normalizer divides rows by the root of their mean square, once they are centred if center says
// so, and notes what it used in the tensors that are not nil.
type normalizer struct {
	a                   accum
	eps                 float64
	center              bool
	mean, variance, inv *Tensor
}

// norm sets output 0, and returns it, to the normalised rows of x along the listed axes.
func (c *Call) norm(x *Tensor, list []int, z normalizer) *Tensor {
	return c.eachRow(x, list,
		func(dst, src []float32, n, row int) { normRows(z, dst, src, n, row) },
		func(dst, src []float64, n, row int) { normRows(z, dst, src, n, row) })
}

func normRows[T floating](z normalizer, dst, src []T, n, row int) {
	copy(dst, src)
	if z.center {
		mean := means(z.a, src, n)
		note(z.mean, row, mean)
		for i := range dst {
			dst[i] -= mean[i/n]
		}
		roundReal(z.a, dst)
	}
	variance := means(z.a, mapped(z.a, square, dst), n)
	note(z.variance, row, variance)
	dev := deviation(z.a, variance, z.eps)
	for i := range dst {
		dst[i] /= dev[i/n]
	}
	roundReal(z.a, dst)
	if z.inv != nil {
		note(z.inv, row, mapped(z.a, func(x float64) float64 { return 1 / x }, dev))
	}
}

// deviation returns the roots of variances plus an epsilon, each step rounded.
func deviation[T floating](a accum, variance []T, eps float64) []T {
	e := []T{T(eps)}
	roundReal(a, e)
	sum := make([]T, len(variance))
	for i, v := range variance {
		sum[i] = v + e[0]
	}
	roundReal(a, sum)
	return mapped(a, math.Sqrt, sum)
}

// means returns the mean of each row of n.
func means[T floating](a accum, x []T, n int) []T {
	m := sums(a, x, n)
	for i := range m {
		m[i] /= T(n)
	}
	roundReal(a, m)
	return m
}

// note keeps numbers from a place on in a tensor that may be nil.
func note[T floating](t *Tensor, from int, x []T) {
	if t == nil {
		return
	}
	for i, v := range x {
		t.put64(from+i, float64(v))
	}
}

// affine multiplies y by a scale and adds a bias, both in place; either may be nil. Their shapes
// broadcast to that of y.
func (c *Call) affine(y, scale, bias *Tensor) {
	a := c.accum()
	for _, s := range []struct {
		t *Tensor
		a arith
	}{{scale, multiplication()}, {bias, addition()}} {
		if s.t == nil {
			continue
		}
		if !slices.Equal(broadcast(y.Dims, s.t.Dims), y.Dims) {
			refuse("%s does not broadcast to %v", s.t, y.Dims)
		}
		s.a.into(c, y, y, c.as(s.t, y.Elem))
		if y.F != nil {
			a.roundAll(y.F)
		}
	}
}

// perChannel returns a tensor of one number for each channel so that it broadcasts to a rank.
func perChannel(t *Tensor, rank int) *Tensor {
	if t == nil {
		return nil
	}
	dims := make([]int, max(rank-1, 1))
	for i := range dims {
		dims[i] = 1
	}
	dims[0] = t.Len()
	return t.view(dims)
}

// stash returns the input that the first stage of a norm works on, and how its sums run: stash_type
// may ask for less than the input has.
func (c *Call) stash(x *Tensor) (*Tensor, accum) {
	a := c.accum()
	e := graph.ElemType(c.Int("stash_type"))
	low := c.accumIn(a, e)
	if x.F == nil || low == a || x.Elem == e {
		return x, low
	}
	t := c.Clone(x)
	low.roundAll(t.F)
	return t, low
}

func layerNorm(c *Call) error {
	x, a := c.stash(c.In(0))
	at := axis(c.Int("axis"), x.Rank())
	list := allAxes(x.Rank())[at:]
	z := normalizer{a: a, eps: c.Float("epsilon"), center: true}
	e := graph.ElemType(c.IntOr("stash_type", int(graph.Float)))
	if x.Elem == graph.Double {
		e = graph.Double
	}
	stats := reducedDims(x.Dims, list, true)
	z.mean, z.inv = c.Out(1, e, stats), c.Out(2, e, stats)
	c.normScaled(x, at, z, c.In(1), c.In(2))
	return nil
}

func rmsNorm(c *Call) error {
	x, a := c.stash(c.In(0))
	y := c.normScaled(x, axis(c.Int("axis"), x.Rank()), normalizer{a: a, eps: c.Float("epsilon")}, c.In(1), nil)
	c.Set(0, TensorValue(c.as(y, c.In(1).Elem))) // the scale's type is the result's
	return nil
}

func instanceNorm(c *Call) error {
	x := c.In(0)
	if x.Rank() < 2 {
		refuse("%s has no channels", x)
	}
	y := c.norm(x, allAxes(x.Rank())[2:], normalizer{a: c.accum(), eps: c.Float("epsilon"), center: true})
	c.affine(y, perChannel(c.In(1), x.Rank()), perChannel(c.In(2), x.Rank()))
	return nil
}

// groupNorm scales by the channel, in opset 18 by the group.
func groupNorm(c *Call) error {
	x, a := c.stash(c.In(0))
	groups := c.Int("num_groups")
	if x.Rank() < 2 || groups < 1 || x.Dims[1]%groups != 0 {
		refuse("%d groups of the channels of %s", groups, x)
	}
	each := x.Dims[1] / groups
	dims := []int{x.Dims[0], groups, each, size(x.Dims[2:])}
	y := c.norm(x.view(dims), []int{2, 3}, normalizer{a: a, eps: c.Float("epsilon"), center: true})
	spread := []int{groups, 1, 1}
	if c.In(1).Len() == x.Dims[1] {
		spread = []int{groups, each, 1}
	}
	if c.In(1).Len() != size(spread) || c.In(2).Len() != size(spread) {
		refuse("%s and %s for %d groups", c.In(1), c.In(2), groups)
	}
	c.affine(y, c.In(1).view(spread), c.In(2).view(spread))
	c.View(0, y, x.Dims)
	return nil
}

// lpNorm divides rows by their length; rows of zeros stay.
func lpNorm(c *Call) error {
	x, a, p := c.In(0), c.accum(), c.Int("p")
	if p != 1 && p != 2 {
		refuse("a norm of order %d", p)
	}
	c.eachRow(x, []int{axis(c.Int("axis"), x.Rank())},
		func(dst, src []float32, n, _ int) { lpNormRows(a, dst, src, n, p) },
		func(dst, src []float64, n, _ int) { lpNormRows(a, dst, src, n, p) })
	return nil
}

func lpNormRows[T floating](a accum, dst, src []T, n, p int) {
	pre, post := math.Abs, func(x float64) float64 { return x }
	if p == 2 {
		pre, post = square, math.Sqrt
	}
	length := mapped(a, post, sums(a, mapped(a, pre, src), n))
	clear(dst)
	for i, v := range src {
		if l := length[i/n]; l != 0 {
			dst[i] = v / l
		}
	}
}

// meanVarianceNorm is defined by a function of the standard, whose variance is the mean square less
// the square of the mean. A low type computes it so; in float32 the squares are those of what is
// centred, which cannot come out negative.
func meanVarianceNorm(c *Call) error {
	x, a := c.In(0), c.accum()
	list := c.meanVarianceAxes(x.Rank())
	c.eachRow(x, list,
		func(dst, src []float32, n, _ int) { meanVarianceRows(a, dst, src, n) },
		func(dst, src []float64, n, _ int) { meanVarianceRows(a, dst, src, n) })
	return nil
}

// meanVarianceAxes returns what is normalised together. Before opset 9 that was an image of one
// channel, or of all.
func (c *Call) meanVarianceAxes(rank int) []int {
	switch {
	case c.Version >= 9:
		return axes(c.Ints("axes"), rank)
	case rank < 3 || c.IntOr("normalize_variance", 1) == 0:
		refuse("no mean without variance of an input of rank %d", rank)
	case c.Int("across_channels") != 0:
		return allAxes(rank)[1:]
	}
	return allAxes(rank)[2:]
}

// mvnEpsilon is added to the standard deviation by MeanVarianceNormalization.
const mvnEpsilon = 1e-9

func meanVarianceRows[T floating](a accum, dst, src []T, n int) {
	mean := means(a, src, n)
	for i, v := range src {
		dst[i] = v - mean[i/n]
	}
	roundReal(a, dst)
	var variance []T
	if a.low() {
		variance = means(a, mapped(a, square, src), n)
		for i, m := range mapped(a, square, mean) {
			variance[i] -= m
		}
		roundReal(a, variance)
	} else {
		variance = means(a, mapped(a, square, dst), n)
	}
	e := []T{mvnEpsilon}
	roundReal(a, e)
	dev := mapped(a, func(v float64) float64 { return math.Sqrt(v) }, variance)
	for i := range dev {
		dev[i] += e[0]
	}
	roundReal(a, dev)
	for i := range dst {
		dst[i] /= dev[i/n]
	}
}
