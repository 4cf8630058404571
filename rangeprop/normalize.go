package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

func normalizeOps() map[string]op {
	return map[string]op{
		"BatchNormalization": {f: batchNormOp}, "LayerNormalization": {f: layerNormOp, ulps: 8, bounded: true},
		"RMSNormalization": {f: rmsNormOp, ulps: 8, bounded: true}, "SimplifiedLayerNormalization": {f: rmsNormOp, ulps: 8, bounded: true},
		"InstanceNormalization": {f: single(instanceNormOp), ulps: 8, bounded: true}, "GroupNormalization": {f: single(groupNormOp), ulps: 8, bounded: true},
		"MeanVarianceNormalization": {f: single(mvnOp), ulps: 8, bounded: true}, "LpNormalization": {f: single(lpNormOp), ulps: 8, bounded: true},
		"LRN":                                  approx(lrnOp),
		"com.microsoft.SkipLayerNormalization": {f: skipNormOp(false), ulps: 8, bounded: true},
		"com.microsoft.SkipSimplifiedLayerNormalization": {f: skipNormOp(true), ulps: 8, bounded: true},
		"com.microsoft.EmbedLayerNormalization":          {f: embedNormOp, ulps: 8, bounded: true},
		"com.microsoft.GroupNorm":                        {f: single(groupNormLastOp), ulps: 8, bounded: true},
		"com.microsoft.SkipGroupNorm":                    {f: skipGroupNormOp, ulps: 8, bounded: true},
		"com.microsoft.SimplifiedLayerNormalization":     {f: rmsNormOp, ulps: 8, bounded: true},
		"com.microsoft.LayerNormalization":               {f: layerNormOp, ulps: 8, bounded: true},
	}
}

// leastSquared is below what a number has to be for its square to be much less than the least normal FP32: of rows
// that are never above it the squares vanish always, and not where somebody seeks for such a row.
const leastSquared = 1e-18

// normalized bounds (x - mean)/√(var + ε) of n elements: within √(n-1), since the squares of all
// add up to at most n and the elements to 0, and within the greatest deviation over √ε. The mean
// comes out rounded, by off at most; then the elements add up to no more than √n all the same, and
// deviate by that much more. Without a mean subtracted (rms) it is √n, and x/√ε. Without an ε there
// is no bound where the squares of all deviations vanish; of inputs that reach further the few rows
// that do so are not counted.
func (c *call) normalized(x *Val, n, eps float64, rms bool) *Val {
	if !(eps >= 0) || n == 0 {
		return unnormalized(x)
	}
	if f, low := c.stash(); low {
		return c.normalizedLow(f, x, n, eps)
	}
	h, root := x.Hull(), math.Sqrt(n)
	off := product(math.Min((n+1)*accumUnit, 1), h.MaxAbs())
	m, spread := math.Min(root, math.Sqrt(math.Max(n-1, 0))+quotient(off, math.Sqrt(eps))), h.Hi-h.Lo+off
	if n == 1 {
		m = 0
	}
	r := Range{-m, m}
	if rms {
		m, spread = root, h.MaxAbs()
		r = Range{-m, m}
		if h.Lo >= 0 {
			r.Lo = 0
		}
		if h.Hi <= 0 {
			r.Hi = 0
		}
	}
	if d := spread / math.Sqrt(eps); d < m && eps > 0 {
		r = r.meet(Range{-d, d})
	}
	if eps == 0 && spread < leastSquared {
		r = all
	}
	v := scalar(r)
	v.rest(x)
	v.nan = x.nan || x.special() || eps == 0 || product(n, h.MaxAbs()) > c.accumLimit()
	return v
}

// unnormalized is what a norm makes of numbers where its root may be of 0 or less, and of no numbers at all.
func unnormalized(x *Val) *Val {
	v := scalar(all)
	v.rest(x)
	v.nan, v.posInf, v.negInf = true, true, true
	return v
}

// stash returns the format that a norm takes its sums in where its attribute stash_type asks for less
// than float.
func (c *call) stash() (f numfmt.Format, low bool) {
	f, ok := held(graph.ElemType(c.n.Int("stash_type", int64(graph.Float))))
	return f, ok && f.Bits() < 32
}

// normalizedLow is normalized where every step is rounded to a format: also where the mean is far off,
// and a sum of squares stops growing, the sum is no less than each square, so that √n holds. What
// vanishes of a square must be no more than ε makes up for; and beyond the format's limit there are NaN.
func (c *call) normalizedLow(f numfmt.Format, x *Val, n, eps float64) *Val {
	m := math.Sqrt(n) * (1 + 8*f.Unit())
	r := Range{-m, m}
	if f.Round(eps) < 4*f.MinSubnormal() {
		r = all
	}
	v := scalar(r)
	v.rest(x)
	v.nan = x.nan || x.special() || f.Round(eps) == 0 || product(math.Max(n, 2), x.Hull().MaxAbs()) > f.Max()
	v.posInf, v.negInf = math.IsInf(r.Hi, 1), math.IsInf(r.Hi, 1)
	return v
}

// expanded is normalized for an operator whose function body in the standard computes E[x²] - m². The
// model names the operator, not that body: the bound is that of its definition. Where the difference
// may be short by more than ε some kernels give NaN.
func (c *call) expanded(x *Val, n, eps float64) *Val {
	m := x.Hull().MaxAbs()
	v := c.normalized(x, n, eps, false)
	v.nan = v.nan || !(4*accumUnit*m*m <= eps)
	return v
}

// meanOf bounds the mean of n elements in their type.
func (c *call) meanOf(x *Val, n float64) *Val {
	if n == 0 {
		return unnormalized(x)
	}
	v := x.flat()
	h := v.Hull()
	e, limit := math.Min(sumError(n, 1), 1)*finiteOr0(h.MaxAbs()), c.accumLimit()
	if f, low := c.stash(); low { // a step of a rounded sum is at most twice its term
		e, limit = math.Min(n*f.Unit(), 3)*finiteOr0(h.MaxAbs()), f.Max()
	}
	total := product(n, h.MaxAbs())
	v = map1flags(v, func(r Range) Range {
		r = overflowing(r, r, total, limit)
		return Range{r.Lo - e, r.Hi + e}
	}).torn()
	v.integer = false
	return v
}

// trailingCount returns the greatest number of elements from an axis of input i on, infinite where not known.
func (c *call) trailingCount(i, axis int) float64 {
	if c.rank(i) < 0 {
		return math.Inf(1)
	}
	n := 1.0
	for d := axis; d < c.rank(i); d++ {
		_, hi := c.dim(i, d)
		if hi < 0 {
			return math.Inf(1)
		}
		n *= float64(hi)
	}
	return n
}

// affine is x·scale + bias; either may be left out.
func (c *call) affine(x, scale, bias *Val) *Val {
	if scale != nil {
		x = c.mid(times(x, scale))
	}
	if bias != nil {
		x = plus(x, bias)
	}
	return x
}

// given returns an input, nil where it is left out.
func (c *call) given(i int) *Val {
	if c.has(i) {
		return c.in[i]
	}
	return nil
}

func (c *call) epsilon(def float32) float64 { return float64(c.n.Float("epsilon", def)) }

func layerNormOp(c *call) []*Val {
	x, n := c.x(0), math.Inf(1)
	if axis, ok := c.axis("axis", -1, c.rank(0)); ok {
		n = c.trailingCount(0, axis)
	}
	eps := c.epsilon(1e-5)
	y := c.affine(c.normalized(x, n, eps, false), c.given(1), c.given(2))
	return []*Val{y, c.meanOf(x, n), c.inverseRoot(x, n, eps, false)}
}

// inverseRoot bounds 1/√(var + ε) over n elements: the variance is at most a quarter of the square
// of the spread, and infinite where the squares overflow.
func (c *call) inverseRoot(x *Val, n, eps float64, rms bool) *Val {
	h := x.Hull()
	top, limit := h.MaxAbs(), c.accumLimit()
	if !(eps >= 0) || n == 0 {
		return unnormalized(x)
	}
	if f, low := c.stash(); low { // the mean is off by up to 3 of the greatest, the sum by as much again
		top, limit, eps, rms = 6*top, f.Max(), f.Round(eps), true
	}
	if !rms {
		top = (h.Hi-h.Lo)/2 + product(math.Min((n+1)*accumUnit, 1), h.MaxAbs())
	}
	if top *= top; product(n, 4*top) > limit {
		top = math.Inf(1)
	}
	v := scalar(Range{1 / math.Sqrt(top+eps), 1 / math.Sqrt(eps)})
	v.rest(x)
	v.nan = x.nan || x.special() || product(n, h.MaxAbs()) > limit
	v.posInf = eps == 0
	return v
}

func rmsNormOp(c *call) []*Val {
	x, n := c.x(0), math.Inf(1)
	if axis, ok := c.axis("axis", -1, c.rank(0)); ok {
		n = c.trailingCount(0, axis)
	}
	eps := c.epsilon(1e-5)
	return []*Val{c.affine(c.normalized(x, n, eps, true), c.given(1), nil), c.inverseRoot(x, n, eps, true)}
}

// instanceNormOp normalises every channel of every image.
func instanceNormOp(c *call) *Val {
	y := c.normalized(c.x(0), c.trailingCount(0, 2), c.epsilon(1e-5), false)
	return c.affine(y, channelWise(c.x(1), c.rank(0)), channelWise(c.x(2), c.rank(0)))
}

// groupNormOp normalises groups of channels. Scale and bias are per group before opset 21.
func groupNormOp(c *call) *Val {
	n := c.trailingCount(0, 1) / float64(max(c.n.Int("num_groups", 1), 1))
	y := c.expanded(c.x(0), n, c.epsilon(1e-5))
	scale, bias := c.x(1).flat(), c.x(2).flat()
	if c.n.Version() >= 21 {
		scale, bias = channelWise(c.x(1), c.rank(0)), channelWise(c.x(2), c.rank(0))
	}
	return c.affine(y, scale, bias)
}

// groupNormLastOp has its channels last, and an optional SiLU.
func groupNormLastOp(c *call) *Val {
	n := c.trailingCount(0, 1) / float64(max(c.n.Int("groups", 1), 1))
	return c.silu(c.affine(c.expanded(c.x(0), n, c.epsilon(1e-5)), c.x(1).flat(), c.x(2).flat()))
}

// silu applies the activation that a node of channels last asks for.
func (c *call) silu(y *Val) *Val {
	if c.n.Int("activation", 0) == 1 {
		return gate(y.within(c.heldLimit()), func(x float64) float64 { return x * logistic(x) }, -1.2784645)
	}
	return y
}

func skipGroupNormOp(c *call) []*Val {
	sum := c.total(c.x(0), c.x(3), c.given(4))
	n := c.trailingCount(0, 1) / float64(max(c.n.Int("groups", 1), 1))
	y := c.affine(c.expanded(sum, n, c.epsilon(1e-5)), c.x(1).flat(), c.x(2).flat())
	return []*Val{c.silu(y), sum}
}

// mvnEpsilon is added to the standard deviation by MeanVarianceNormalization.
const mvnEpsilon = 1e-9

func mvnOp(c *call) *Val {
	n, axes := 1.0, c.n.Ints("axes")
	if axes == nil {
		axes = []int64{0, 2, 3}
	}
	if c.n.Version() < 9 { // an image of one channel, or of all
		axes, n = nil, c.trailingCount(0, 2-int(min(c.n.Int("across_channels", 0), 1)))
	}
	for _, a := range axes {
		if a < 0 {
			a += int64(c.rank(0))
		}
		_, hi := c.dim(0, int(a))
		if n *= float64(hi); hi < 0 {
			n = math.Inf(1)
		}
	}
	return c.expanded(c.x(0), n, mvnEpsilon*mvnEpsilon)
}

// lpNormOp divides by a norm of at least every element's magnitude.
func lpNormOp(c *call) *Val {
	x := c.x(0)
	v := map1(x, func(r Range) Range {
		q := Range{-1, 1}
		if r.Lo >= 0 {
			q.Lo = 0
		}
		if r.Hi <= 0 {
			q.Hi = 0
		}
		return q
	})
	v.nan = x.nan || x.special() || x.zero()
	if c.n.Int("p", 2) == 2 && x.Hull().MaxAbs() < leastSquared {
		return unnormalized(x)
	}
	return v
}

// lrnOp divides by (bias + alpha/size · Σx²)^beta: largest where the neighbours are 0.
func lrnOp(c *call) *Val {
	a := float64(c.n.Float("alpha", 0.0001)) / float64(max(c.n.Int("size", 1), 1))
	beta, bias := float64(c.n.Float("beta", 0.75)), float64(c.n.Float("bias", 1))
	if bias <= 0 || a < 0 || beta < 0 {
		return c.anything()
	}
	f := func(x float64) float64 {
		if math.IsInf(x, 0) {
			return x
		}
		return x / math.Pow(bias+a*x*x, beta)
	}
	top := math.Inf(1)
	if 2*beta > 1 && a > 0 {
		top = math.Sqrt(bias / (a * (2*beta - 1)))
	}
	v := map1(c.x(0), func(x Range) Range {
		hi, lo := f(math.Min(math.Max(x.Hi, 0), top)), f(math.Max(math.Min(x.Lo, 0), -top))
		return Range{lo, hi}
	})
	v.nan = c.x(0).nan || c.x(0).special()
	return v
}

// batchNormOp is a linear map per channel; in training it normalises by the batch itself.
func batchNormOp(c *call) []*Val {
	x, rank := c.x(0), c.rank(0)
	scale, bias := channelWise(c.x(1), rank), channelWise(c.x(2), rank)
	mean, variance := c.x(3), c.x(4)
	eps := c.epsilon(1e-5)
	if c.n.Int("training_mode", 0) != 0 || c.n.Version() < 7 && c.n.Int("is_test", 0) == 0 && c.n.Out(1) != nil ||
		c.n.Version() >= 7 && c.n.Version() < 14 && len(c.n.Outputs) > 1 {
		return c.trainedNorm(x, scale, bias, eps)
	}
	if c.n.Version() < 9 && c.n.Int("spatial", 1) == 0 {
		scale, bias, mean, variance = scale.flat(), bias.flat(), mean.flat(), variance.flat()
	} else {
		mean, variance = channelWise(mean, rank), channelWise(variance, rank)
	}
	root := squareRoot(plus(variance, scalar(Range{eps, eps})))
	root.posInf = variance.posInf
	y := plus(c.mid(times(c.mid(over(c.mid(plus(x, negative(mean))), root)), scale)), bias)
	y.nan = y.nan || root.zero()
	e := accumUnit * 8 * times(over(mean, root), scale).Hull().MaxAbs() // kernels fold the mean into the bias
	if math.IsInf(e, 0) {
		e = 0
	}
	y = y.widen(e)
	if c.p.facts.Trained(c.n) {
		y = y.meet(c.ownStats(scale, bias, eps))
	}
	return []*Val{y, mean.flat(), variance.flat(), mean.flat(), variance.flat()}
}

// ownStats bounds the normalisation of x by its own mean and variance. Kernels fold the mean into the
// bias, so that a channel without variance shows the rounding of x, divided by √ε.
func (c *call) ownStats(scale, bias *Val, eps float64) *Val {
	if f, ok := held(c.elem(0)); ok && f.Bits() < 32 && eps < 2*f.MinSubnormal() {
		return scalar(all) // squares that vanish leave nothing of the variance
	}
	y := c.trainedNorm(c.x(0), scale, bias, eps)[0]
	y = y.widen(product(c.meanSlack(eps), scale.Hull().MaxAbs()))
	e := 8 * accumUnit * product(c.x(0).Hull().MaxAbs()/math.Sqrt(eps), scale.Hull().MaxAbs())
	if math.IsInf(e, 0) || math.IsNaN(e) {
		return scalar(all)
	}
	return y.widen(e)
}

// meanSlack is how much further than √n-1 an element may lie from a mean that is rounded to 16 bits: √n is the
// most where the variance is of the deviations from what is taken as mean. Where not all is in one format, the
// variance may be of those from another.
func (c *call) meanSlack(eps float64) float64 {
	n, u, off := c.channelCount(), accumUnit, 0.0
	for _, v := range []*graph.Value{c.n.In(3), c.n.In(4)} {
		unit := c.p.unitBehind(v, c.n.In(0))
		if u = math.Max(u, unit); unit > accumUnit {
			if least, most := c.p.widths(v, nil); least != most {
				off = 2 * unit * c.x(0).Hull().MaxAbs() / math.Sqrt(eps)
			}
		}
	}
	if u <= accumUnit {
		return 0
	}
	return math.Sqrt(n)*(1+8*u) - math.Sqrt(math.Max(n-1, 0)) + finiteOr0(off)
}

// between bounds a mean of two values.
func between(a, b *Val) *Val {
	v := joined(a, b)
	v.integer, v.tiny = false, 0
	return v
}

// channelCount is the number of elements that are normalised together, each channel by itself.
func (c *call) channelCount() float64 {
	n := c.elements()
	if lo, _ := c.dim(0, 1); lo > 0 {
		n /= float64(lo)
	}
	return n
}

func (c *call) trainedNorm(x, scale, bias *Val, eps float64) []*Val {
	n := c.channelCount()
	y := c.affine(c.normalized(x, n, eps, false), scale, bias)
	h := x.Hull()
	top := (h.Hi - h.Lo) * (h.Hi - h.Lo)
	if product(n, math.Max(top, h.MaxAbs())) > c.accumLimit() {
		top = math.Inf(1)
	}
	v := c.mid(scalar(Range{0, top}))
	v.rest(x)
	v.nan = y.nan
	mean, variance := between(c.meanOf(x, n), c.x(3).flat()), between(v, c.x(4).flat())
	saved := joined(variance, c.inverseRoot(x, n, eps, false)) // some kernels hand on what they multiply by
	return []*Val{y, mean, variance, mean, saved}
}

// skipNormOp adds a residual and a bias, then normalises; its fourth result is the sum.
func skipNormOp(rms bool) transfer {
	return func(c *call) []*Val {
		gamma, beta, bias := c.given(2), c.given(3), c.given(4)
		if rms {
			beta, bias = nil, c.given(3)
		}
		sum := c.total(c.x(0), c.x(1), bias)
		n := c.trailingCount(0, c.rank(0)-1)
		if c.rank(0) < 1 {
			n = math.Inf(1)
		}
		eps := c.epsilon(1e-12)
		mean := c.meanOf(sum, n)
		if rms { // there is none
			mean = joined(mean, scalar(Range{}))
		}
		return []*Val{c.affine(c.normalized(sum, n, eps, rms), gamma, beta), mean, c.inverseRoot(sum, n, eps, rms), sum}
	}
}

// embedNormOp sums rows of the tables for words, positions and segments, then normalises.
func embedNormOp(c *call) []*Val {
	var segments *Val
	if c.has(4) {
		segments = c.in[4].joinRows()
	}
	sum := c.total(c.x(2).joinRows(), c.x(3).joinRows(), segments)
	n := c.trailingCount(2, 1)
	y := c.affine(c.normalized(sum, n, c.epsilon(1e-12), false), c.given(5), c.given(6))
	mask := c.index(1, true)
	mask.hi[0]++
	return []*Val{y, mask, sum}
}

// joinRows joins the rows of a table.
func (v *Val) joinRows() *Val {
	if len(v.dims) != 2 {
		return v.flat()
	}
	w := v.joinAxis(0)
	return w.with(w.dims[1:], w.lo, w.hi)
}
