package rangeprop

import (
	"math"
	"slices"
)

// The gradients that onnxruntime's training graphs are made of, bounded by the magnitudes of what
// goes into them: gradients have no sign to rely on.

func gradientOps() map[string]op {
	gelu, grad := slopeGrad(Range{-geluSlope, 1 + geluSlope}), func(f transfer) op { return op{f: f, ulps: 8} }
	return map[string]op{
		"com.microsoft.ReluGrad": rounded(slopeGrad(Range{0, 1})), "com.microsoft.GeluGrad": approx(gelu), "com.microsoft.FastGeluGrad": approx(gelu),
		"com.microsoft.BiasGeluGrad_dX": approx(gelu), "com.microsoft.TanhGrad": approx(tanhGrad),
		"com.microsoft.SoftmaxGrad": approx(softmaxGrad), "com.microsoft.SoftmaxGrad_13": approx(softmaxGrad),
		"com.microsoft.LogSoftmaxGrad": approx(logSoftmaxGrad), "com.microsoft.LogSoftmaxGrad_13": approx(logSoftmaxGrad),
		"com.microsoft.SoftmaxCrossEntropyLossGrad": approx(crossEntropyGrad), "com.microsoft.GatherGrad": rounded(gatherGrad),
		"com.microsoft.DivGrad": grad(divGrad), "com.microsoft.ConvGrad": grad(convGrad),
		"com.microsoft.LayerNormalizationGrad": grad(layerNormGrad(true)), "com.microsoft.SimplifiedLayerNormalizationGrad": grad(layerNormGrad(false)),
		"com.microsoft.BatchNormalizationGrad": grad(batchNormGrad), "com.microsoft.BatchNormInternal": {f: batchNormInternalOp},
		"com.microsoft.Scale": rounded(scaleOp), "com.microsoft.IsAllFinite": choice(allFiniteOp),
		"com.microsoft.InPlaceAccumulator": rounded(accumulatorOp), "com.microsoft.InPlaceAccumulatorV2": {f: accumulatorV2Op},
	}
}

// geluSlope is how far the derivative of GELU leaves [0, 1], in both of its forms.
const geluSlope = 0.1297

// size returns the greatest magnitude of an input, 0 where it is left out.
func (c *call) size(i int) float64 {
	if !c.has(i) {
		return 0
	}
	return c.in[i].Hull().MaxAbs()
}

// magnitude bounds a result by its size; peak is the largest number on the way to it. What may
// overflow there, or rests on special numbers, may be anything.
func (c *call) magnitude(m, peak float64) *Val {
	v := c.within(Range{-m, m})
	for _, in := range c.in {
		v.nan = v.nan || in != nil && in.special()
	}
	if !(math.Max(m, peak) <= c.accumLimit()) {
		return anyOf(c)
	}
	return v
}

// slopeGrad multiplies a gradient by a derivative of a range.
func slopeGrad(r Range) func(c *call) *Val {
	return func(c *call) *Val {
		v := times(c.x(0), scalar(r))
		for _, in := range c.in {
			v.nan = v.nan || in != nil && (in.nan || in.special())
		}
		if c.has(2) { // a bias is added to the input
			v.nan = v.nan || c.size(1)+c.size(2) > c.accumLimit()
		}
		v.integer, v.tiny = false, 0
		return v
	}
}

func tanhGrad(c *call) *Val {
	v := times(c.x(0), map1(c.x(1), func(y Range) Range { return sub(Range{1, 1}, square(y)) }))
	v.nan = v.nan || c.x(0).special() || c.x(1).special()
	v.integer, v.tiny = false, 0
	return v
}

// softmaxGrad is y·(g - Σ g·y): of weights that sum to 1 the sum is a mean of the gradients.
func softmaxGrad(c *call) *Val {
	g, y := c.x(0).Hull(), c.size(1)
	mean := product(c.count(0), product(g.MaxAbs(), y))
	m := product(y, g.MaxAbs()+mean*(1+math.Min(sumError(c.count(0), 1), 1)))
	if c.x(1).shares.axis != 0 {
		m = math.Min(m, product(y, (g.Hi-g.Lo)+1e-2*g.MaxAbs()))
	}
	return c.magnitude(m, mean)
}

// logSoftmaxGrad is g - exp(y)·Σ g.
func logSoftmaxGrad(c *call) *Val {
	total := product(c.count(0), c.size(0))
	m := c.size(0) + product(math.Exp(c.x(1).Hull().Hi), total)*(1+math.Min(sumError(c.count(0), 1), 1))
	return c.magnitude(m, total)
}

// crossEntropyGrad is the softmax less 1 at the target, times the gradient and a weight. A mean
// divides by the sum of the weights, of which each is a part; over no weight at all it is NaN.
func crossEntropyGrad(c *call) *Val {
	g, w := c.size(0), 1.0
	mean := c.n.Str("reduction", "mean") == "mean"
	peak := product(c.count(2), c.size(3))
	if c.has(3) {
		if mean && c.in[3].Hull().Lo < 0 {
			return anyOf(c)
		}
		if w = c.size(3); mean {
			w = 1
		}
	}
	p := c.x(1).Hull()
	f := Range{math.Exp(p.Lo) - 1, math.Exp(p.Hi)}
	v := c.magnitude(product(product(g, w), f.MaxAbs()), math.Max(peak, product(g, math.Max(w, c.size(3)))))
	v.nan = v.nan || mean && (c.n.Attr("ignore_index") != nil || c.has(3) && !(absolute(c.in[3].Hull()).Lo >= 0x1p-100))
	return v
}

// gatherGrad adds the gradients of what was gathered from one place, from none to all.
func gatherGrad(c *call) *Val {
	g, n := c.x(2).flat(), c.count(1)
	v := map1flags(g, func(x Range) Range { return mul(x, Range{0, n}) })
	v.nan = g.nan || g.posInf && g.negInf
	v.integer = false
	return c.summed(v, g.Hull(), n, product(n, c.size(2)))
}

// divGrad of a/b is g/b and -g·a/b², each summed to the shape of its operand.
func divGrad(c *call) []*Val {
	g, a, b := c.x(0), c.x(1), c.x(2)
	da := c.mid(over(g, b))
	db := negative(c.mid(over(c.mid(times(da, a)), b)))
	outs := make([]*Val, 2)
	for i, v := range []*Val{da, db} {
		v = v.flat().clone()
		v.integer, v.tiny = false, 0
		h, n := v.Hull(), 1.0
		if !slices.Equal(c.shape(0), c.shape(i+1)) {
			n = c.count(0)
		}
		v = map1flags(v, func(x Range) Range { return mul(x, Range{math.Min(n, 1), n}) })
		v.infinities()
		outs[i] = c.summed(v, h, n, product(n, h.MaxAbs())).torn()
		outs[i].nan = outs[i].nan || b.zero() || v.posInf && v.negInf
	}
	return outs
}

// convGrad sums products of the gradient with weights, for each element of the image, and with
// elements of the image, for each weight.
func convGrad(c *call) []*Val {
	inner, outer := c.most(2, 1), c.most(0, 1)
	taps, places := c.count(2)/math.Max(inner, 1), c.count(0)/math.Max(outer, 1)
	if math.IsNaN(taps) || math.IsNaN(places) {
		return nil
	}
	grad := func(terms, n float64) *Val {
		m := product(terms, n) * (1 + math.Min(sumError(n, 1), 1))
		return c.magnitude(m, m)
	}
	return []*Val{grad(product(c.size(0), c.size(2)), taps), grad(product(c.size(0), c.size(1)), places), grad(c.size(0), places)}
}

// normGrad bounds the gradient behind a normalisation of rows of n elements, of which there are rows:
// inv·(h - mean(h) - x̂·mean(h·x̂)) with h = g·scale, and the sums of g·x̂ and g over the rows.
func (c *call) normGrad(mean, inv, n, rows float64) []*Val {
	hat := product(c.size(1)+mean, inv)
	h := product(c.size(0), c.size(2))
	along := product(h, hat)
	d := product(inv, 2*h+product(hat, along)) * (1 + 4*math.Min(sumError(n, 1), 1))
	peak := product(n, math.Max(along, h))
	peak = math.Max(peak, hat)
	sums := 1 + math.Min(sumError(rows, 1), 1)
	ds, db := product(rows, product(c.size(0), hat))*sums, product(rows, c.size(0))*sums
	return []*Val{c.magnitude(d, math.Max(peak, c.size(1)+mean)), c.magnitude(ds, math.Max(hat, c.size(1)+mean)), c.magnitude(db, db)}
}

func layerNormGrad(centered bool) transfer {
	return func(c *call) []*Val {
		axis, ok := c.axis("axis", -1, c.rank(1))
		if !ok {
			return nil
		}
		n := c.trailingCount(1, axis)
		rows := c.count(1) / math.Max(n, 1)
		if math.IsNaN(rows) {
			rows = math.Inf(1)
		}
		if centered {
			return c.normGrad(c.size(3), c.size(4), n, rows)
		}
		return c.normGrad(0, c.size(3), n, rows)
	}
}

func batchNormGrad(c *call) []*Val {
	n := c.count(1) / math.Max(c.most(1, 1), 1)
	if math.IsNaN(n) {
		n = math.Inf(1)
	}
	return c.normGrad(c.size(3), c.size(4), n, n)
}

// batchNormInternalOp is a batch normalisation in training whose last result is 1/√(var + ε).
func batchNormInternalOp(c *call) []*Val {
	rank := c.rank(0)
	outs := c.trainedNorm(c.x(0), channelWise(c.x(1), rank), channelWise(c.x(2), rank), c.epsilon(1e-5))
	outs[4] = c.inverseRoot(c.x(0), c.elements(), c.epsilon(1e-5), false)
	return outs
}

// scaleOp multiplies or divides by a number.
func scaleOp(c *call) *Val {
	by := c.x(1).flat()
	if c.n.Int("scale_down", 0) != 0 {
		by = over(scalar(Range{1, 1}), by)
		by.infinities()
	}
	v := times(c.x(0), by)
	v.integer, v.tiny = false, 0
	return v
}

// allFiniteOp looks for infinities and NaN.
func allFiniteOp(c *call) *Val {
	v := intRange(always)
	for _, in := range c.in {
		if in != nil && (in.special() || in.nan || !in.Hull().Bounded()) {
			v = intRange(maybe)
		}
	}
	return v
}

// accumulatorOp adds to a sum, or leaves it.
func accumulatorOp(c *call) *Val { return joined(c.x(0), plus(c.x(0), c.x(1))) }

// accumulatorV2Op adds to a sum, or begins it anew.
func accumulatorV2Op(c *call) []*Val {
	return []*Val{intRange(always), joined(c.x(1), plus(c.x(0), c.x(1)))}
}
