package rangeprop

import "math"

func lossOps() map[string]op {
	return map[string]op{
		"SoftmaxCrossEntropyLoss": {f: crossEntropyOp, ulps: 8}, "NegativeLogLikelihoodLoss": {f: single(nllOp), ulps: 8},
	}
}

// crossEntropyOp is the negative log-softmax of the labelled class, weighted and reduced.
func crossEntropyOp(c *call) []*Val {
	x := c.x(0)
	h := x.Hull()
	_, n := c.dim(0, 1)
	top := math.Log(float64(n)) + (h.Hi - h.Lo) + 4*accumUnit*finiteOr0(h.MaxAbs())
	if n < 0 || math.IsNaN(top) {
		top = math.Inf(1)
	}
	logp := scalar(Range{-top, 0})
	logp.rest(x)
	logp.nan = x.nan || x.special()
	return []*Val{c.labelled(logp), logp}
}

func nllOp(c *call) *Val { return c.labelled(c.x(0).flat()) }

// labelled negates and weights the log-probabilities. A weighted mean divides by the sum of the
// weights: the weights cancel. Labels that are ignored count 0, and a mean over none is NaN.
func (c *call) labelled(logp *Val) *Val {
	v := negative(logp)
	reduction := c.n.Str("reduction", "mean")
	ignored := c.n.Attr("ignore_index") != nil
	weighted := c.has(2)
	if weighted && reduction != "mean" {
		v = c.mid(times(v, c.in[2].flat()))
	}
	if ignored {
		v = joined(v, scalar(Range{}))
	}
	switch reduction {
	case "sum":
		n, terms := c.count(1), v.Hull()
		v = map1flags(v, func(x Range) Range { return mul(x, Range{1, n}) })
		if v = c.summed(v, terms, n, v.Hull().MaxAbs()); terms.Lo >= 0 {
			v = v.atLeast(0)
		}
	case "mean":
		if weighted && c.in[2].Hull().Lo < 0 {
			return anyOf(c)
		}
		v.nan = v.nan || ignored || weighted && c.in[2].zero()
		v = c.meanLoss(v, weighted)
	}
	v.integer = false
	return v
}

// meanLoss bounds a mean of losses, whose weighted sum or whose sum of weights may overflow.
func (c *call) meanLoss(v *Val, weighted bool) *Val {
	terms, low := v.Hull(), v.Hull().Lo
	if weighted {
		terms = mul(terms.join(Range{1, 1}), c.in[2].Hull())
	}
	if terms.Bounded() {
		v = v.widen(math.Min(sumError(c.count(1), 1), 1e-3) * v.Hull().MaxAbs())
	}
	if weighted { // a product rounds by half the least number, which may be as large as its weight
		v = v.widen(math.SmallestNonzeroFloat32 / 2 / math.Max(c.in[2].Tiny(), math.SmallestNonzeroFloat32))
	}
	if low >= 0 {
		v = v.atLeast(0)
	}
	if weighted { // or vanishes
		if a := absolute(terms); a.Lo < 0x1p-126 {
			v = joined(v, scalar(Range{}))
		}
	}
	total := product(c.count(1), terms.MaxAbs())
	if math.IsInf(c.count(1), 1) && c.accumLimit() >= math.MaxFloat32 && terms.MaxAbs() <= sumLimit {
		return v
	}
	if !(total > c.accumLimit()) {
		return v
	}
	v = map1flags(v, func(x Range) Range { return overflowing(x.join(Range{}), terms, total, c.accumLimit()) })
	v.nan = true
	return v
}

func finiteOr0(x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return x
}
