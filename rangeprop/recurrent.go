package rangeprop

import (
	"math"
	"slices"
)

func recurrentOps() map[string]op {
	return map[string]op{
		"LSTM": {f: lstmOp, ulps: 4, bounded: true}, "com.microsoft.DynamicQuantizeLSTM": {f: lstmOp, ulps: 4, bounded: true}, "GRU": {f: gruOp, ulps: 4, bounded: true}, "RNN": {f: rnnOp, ulps: 4, bounded: true},
	}
}

// usual tells whether a recurrent node has the activations of the standard: the gates in [0, 1],
// the rest in [-1, 1].
func (c *call) usual(def ...string) bool {
	a := c.n.Attr("activations")
	if a == nil {
		return true
	}
	for i, s := range a.Strings {
		if s != def[i%len(def)] {
			return false
		}
	}
	return true
}

// state returns the initial state, 0 where it is left out.
func (c *call) state(i int) *Val {
	if c.has(i) {
		return c.in[i].flat()
	}
	return scalar(Range{})
}

// steps returns the greatest number of steps in time.
func (c *call) steps() float64 {
	axis := 0
	if c.n.Int("layout", 0) == 1 {
		axis = 1
	}
	if _, hi := c.dim(0, axis); hi >= 0 {
		return float64(hi)
	}
	if v := c.n.In(0); v != nil && v.Producer != nil && v.Producer.Op == "Unsqueeze" { // one, though the rank is unknown
		u := &call{p: c.p, n: v.Producer}
		axes := v.Producer.Ints("axes")
		if axes == nil {
			axes, _ = u.ints(1)
		}
		if slices.Contains(axes, int64(axis)) {
			return 1
		}
	}
	return math.Inf(1)
}

// settled bounds a state that is a mean of the last state and a value in [-1, 1], or of o·tanh(c).
func (c *call) settled(h *Val) *Val {
	v := joined(h, scalar(Range{-1, 1}))
	v.nan = v.nan || c.x(0).nan || h.special() || c.torn(h)
	v.integer, v.tiny = false, 0
	return v
}

// torn tells whether the sums under the activations may be NaN: a special number among what goes
// into them, or terms that overflow.
func (c *call) torn(h *Val) bool {
	for i, in := range c.in {
		if in != nil && i != 4 && (in.nan || in.special()) {
			return true
		}
	}
	size := func(i int) float64 {
		if c.has(i) {
			return c.in[i].Hull().MaxAbs()
		}
		return 0
	}
	state := math.Max(h.Hull().MaxAbs(), 1)
	total := product(product(size(0), size(1)), c.most(1, 2)) + product(product(state, size(2)), c.most(2, 2)) + 2*size(3) +
		product(size(7), size(6)+c.steps())
	return !(total <= math.MaxFloat32)
}

// lstmOp: h = o·tanh(c) with a gate o; |c| grows by at most 1 a step.
func lstmOp(c *call) []*Val {
	if !c.usual("Sigmoid", "Tanh", "Tanh") {
		return []*Val{c.wild(), c.wild(), c.wild()}
	}
	h, cell, n := c.state(5), c.state(6), c.steps()
	if c.n.Int("input_forget", 0) != 0 {
		n = math.Min(n, 1) // c is then a mean of the last c and a value in [-1, 1]
	}
	y := c.settled(h)
	m := cell.Hull().MaxAbs() + n
	last := cell.like(nil)
	last.lo[0], last.hi[0] = -m, m
	last.nan = y.nan || cell.nan || cell.special()
	y.nan = last.nan || h.nan
	return []*Val{y.only(c, h), y, last}
}

// only drops the initial state from the outputs of all steps: those are computed.
func (v *Val) only(c *call, h *Val) *Val {
	if c.n.Op == "GRU" || c.has(4) { // a mean of the initial state, or rows shorter than the rest
		return v
	}
	y := scalar(Range{-1, 1})
	y.nan = v.nan
	return y
}

// wild is the state under activations that do not bound it.
func (c *call) wild() *Val {
	v := c.within(all)
	v.nan, v.posInf, v.negInf = true, true, true
	return v
}

func gruOp(c *call) []*Val {
	if !c.usual("Sigmoid", "Tanh") {
		return []*Val{c.wild(), c.wild()}
	}
	y := joined(c.settled(c.state(5)), scalar(Range{}))
	return []*Val{y, y}
}

func rnnOp(c *call) []*Val {
	if !c.usual("Tanh") {
		return []*Val{c.wild(), c.wild()}
	}
	h := c.state(5)
	y := c.settled(h)
	y.nan = y.nan || h.nan
	return []*Val{joined(y.only(c, h), scalar(Range{})), y}
}
