package rangeprop

import "math"

func trainingOps() map[string]op {
	step := func(groups int, f func(c *call, rate Range, in []*Val) []*Val) op {
		return op{f: optimizerOp(groups, f), ulps: 8}
	}
	return map[string]op{
		"ai.onnx.preview.training.Adam": step(4, adamStep), "ai.onnx.preview.training.Adagrad": step(3, adagradStep),
		"ai.onnx.preview.training.Momentum": step(3, momentumStep), "com.microsoft.AdamWOptimizer": {f: adamWOp, ulps: 8},
	}
}

// optimizerOp bounds one step of an optimiser: after the rate and the number of steps come parameters,
// gradients and states, each so many; the results are the parameters and the states. A step gets the
// parameter, its gradient and its states.
func optimizerOp(groups int, step func(c *call, rate Range, in []*Val) []*Val) transfer {
	return func(c *call) []*Val {
		n := (len(c.in) - 2) / groups
		outs := make([]*Val, len(c.n.Outputs))
		for i := range n {
			var in []*Val
			for k := range groups {
				in = append(in, c.x(2+k*n+i).flat())
			}
			for k, v := range step(c, c.x(0).Hull(), in) {
				if at := k*n + i; at < len(outs) {
					outs[at] = c.trained(v, in)
				}
			}
		}
		return outs
	}
}

// trained lets a result of a step rest on all that goes into it; special numbers, and what overflows,
// make it anything.
func (c *call) trained(v *Val, in []*Val) *Val {
	w := c.mid(v).clone()
	for _, x := range append([]*Val{c.x(0), c.x(1)}, in...) {
		w.rest(x)
		if x.nan || x.special() || x.Hull().MaxAbs() > math.Sqrt(math.MaxFloat32) {
			return anyOf(c)
		}
	}
	w.integer, w.tiny = false, 0
	return w.torn()
}

// decayed adds a share of the parameter to its gradient.
func (c *call) decayed(x, g *Val) *Val {
	return plus(g, scaled(x, float64(c.n.Float("norm_coefficient", 0))))
}

// momentumStep: v = α·v + β·g, x = x - r·v, or by Nesterov x - r·(g + α·v). In the first step β is 1.
func momentumStep(c *call, rate Range, in []*Val) []*Val {
	g, alpha, beta := c.decayed(in[0], in[1]), float64(c.n.Float("alpha", 0)), float64(c.n.Float("beta", 0))
	v := plus(scaled(in[2], alpha), times(g, scalar(Range{beta, beta}.join(Range{1, 1}))))
	by := v
	if c.n.Str("mode", "") == "nesterov" {
		by = plus(g, scaled(v, alpha))
	}
	return []*Val{plus(in[0], negative(times(scalar(rate), by))), v}
}

// adagradStep: h = h + g², x = x - r·g/(√h + ε). √h is at least |g|, so that the quotient is at most 1.
func adagradStep(c *call, rate Range, in []*Val) []*Val {
	t, decay := c.x(1).Hull(), float64(c.n.Float("decay_factor", 0))
	rate = div(rate, add(Range{1, 1}, t.scale(decay)))
	g, eps := c.decayed(in[0], in[1]), float64(c.n.Float("epsilon", 0))
	h := plus(in[2], squared(g))
	low := math.Max(in[2].Hull().Lo, 0)
	q := math.Min(g.Hull().MaxAbs()/(math.Sqrt(low)+eps), 1)
	v := plus(in[0], negative(times(scalar(rate), scalar(Range{-q, q}))))
	v.nan = v.nan || in[2].Hull().Lo < 0 || eps == 0 && low == 0
	return []*Val{v, h}
}

// adamStep: v = α·v + (1-α)·g, h = β·h + (1-β)·g², x = (1-p)·(x - r·v/(√h + ε)).
func adamStep(c *call, rate Range, in []*Val) []*Val {
	alpha, beta, eps := float64(c.n.Float("alpha", 0.9)), float64(c.n.Float("beta", 0.999)), float64(c.n.Float("epsilon", 1e-6))
	g := c.decayed(in[0], in[1])
	v, h := moments2(g, in[2], in[3], alpha, beta)
	rate = mul(rate, warmedUp(c.x(1).Hull(), alpha, beta))
	q := adamQuotient(g, in[2], in[3], alpha, beta, eps)
	x := plus(in[0], negative(times(scalar(rate), scalar(Range{-q, q}))))
	x = scaled(x, 1-float64(c.n.Float("norm_coefficient_post", 0)))
	x.nan = x.nan || in[3].Hull().Lo < 0 || eps == 0 && in[3].Hull().Lo <= 0
	return []*Val{x, v, h}
}

// moments2 are the two moments of a gradient after a step.
func moments2(g, v, h *Val, alpha, beta float64) (*Val, *Val) {
	return plus(scaled(v, alpha), scaled(g, 1-alpha)), plus(scaled(h, beta), scaled(squared(g), 1-beta))
}

// adamQuotient bounds v/(√h + ε): the root is no less than that of either part of h, so that the old
// moment and the gradient are each divided by their own.
func adamQuotient(g, v, h *Val, alpha, beta, eps float64) float64 {
	low := math.Sqrt(math.Max(beta*h.Hull().Lo, 0))
	old := math.Abs(alpha) * v.Hull().MaxAbs() / (low + eps)
	top := g.Hull().MaxAbs()
	fresh := math.Abs(1-alpha) * math.Min(1/math.Sqrt(math.Max(1-beta, 0)), top/(low+eps))
	return (old + fresh) * (1 + 1e-5)
}

// warmedUp is √(1-βᵗ)/(1-αᵗ), what the rate is multiplied by in step t; 1 in step 0.
func warmedUp(t Range, alpha, beta float64) Range {
	if !(alpha >= 0 && alpha < 1 && beta >= 0 && beta < 1) {
		return all
	}
	lo, hi := math.Max(t.Lo, 1), math.Max(t.Hi, 1)
	r := Range{math.Sqrt(1-math.Pow(beta, lo)) / (1 - math.Pow(alpha, hi)), math.Sqrt(1-math.Pow(beta, hi)) / (1 - math.Pow(alpha, lo))}
	if t.Lo <= 0 {
		r = r.join(Range{1, 1})
	}
	return Range{r.Lo * (1 - 1e-5), r.Hi * (1 + 1e-5)}
}

// adamWOp moves sequences of parameters by Adam with decoupled decay of the weights, or leaves them.
// Bias correction divides by no less than 1-α and 1-β, those of the first step.
func adamWOp(c *call) []*Val {
	x, g, m, v := c.x(2).flat(), c.x(3).flat(), c.x(4).flat(), c.x(5).flat()
	alpha, beta := float64(c.n.Float("alpha", 0.9)), float64(c.n.Float("beta", 0.999))
	eps, decay := float64(c.n.Float("epsilon", 1e-8)), float64(c.n.Float("weight_decay", 0))
	m2, v2 := moments2(g, m, v, alpha, beta)
	q := adamQuotient(g, m, v, alpha, beta, eps)
	if c.n.Int("correct_bias", 1) != 0 {
		q /= 1 - alpha
	}
	rate := c.x(0).Hull()
	moved := plus(x, negative(times(scalar(rate), scalar(Range{-q, q}))))
	shrunk := times(moved, scalar(sub(Range{1, 1}, rate.scale(decay)).join(Range{1, 1})))
	nan := v.Hull().Lo < 0 || !(alpha >= 0 && alpha < 1 && beta >= 0 && beta < 1) || c.x(1).Hull().Lo < 1
	outs := []*Val{intRange(maybe)}
	for i, p := range [][2]*Val{{x, joined(moved, shrunk)}, {m, m2}, {v, v2}} {
		y := c.trained(joined(p[0], p[1]), []*Val{x, g, m, v})
		y.nan = y.nan || nan && i == 0
		outs = append(outs, y)
	}
	return outs
}
