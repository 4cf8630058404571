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
	top := math.Log(float64(n)) + h.Hi - h.Lo
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
		v = times(v, c.in[2].flat())
	}
	if ignored {
		v = joined(v, scalar(Range{}))
	}
	switch reduction {
	case "sum":
		n := c.count(1)
		v = map1flags(v, func(x Range) Range { return mul(x, Range{1, n}) })
		v = v.widen(sumError(n, v.Hull().MaxAbs()))
	case "mean":
		v.nan = v.nan || ignored || weighted && c.in[2].zero()
		if weighted && c.in[2].Hull().Lo < 0 {
			return anyOf(c)
		}
		v = v.widen(math.Min(sumError(c.count(1), 1), 1e-3) * finiteOr0(v.Hull().MaxAbs()))
	}
	v.integer = false
	return v
}

func finiteOr0(x float64) float64 {
	if math.IsInf(x, 0) {
		return 0
	}
	return x
}
