package rangeprop

import "math"

// Weighted means: what softmax weights, or any non-negative numbers that sum to 1, do to values.

// sharing marks a softmax along a single axis.
func (v *Val) sharing(axes []bool) {
	at := 0
	for i, a := range axes {
		if a && at != 0 {
			return
		}
		if a {
			at = len(axes) - i
		}
	}
	v.shares = simplex{axis: at}
}

// less returns the weights after some of them may have become smaller.
func (s simplex) less() simplex {
	if s.axes() != 0 {
		s.most = true
	}
	return s
}

// less returns the mixture after some of the weights may have become smaller.
func (m *mixture) less() *mixture {
	if m == nil {
		return nil
	}
	return &mixture{m.weights.less(), m.of}
}

// masked keeps the weights of a factor under multiplication by another in [0, 1], and notes the
// product of weights and values.
func masked(v, a, b *Val) {
	for _, p := range [][2]*Val{{a, b}, {b, a}} {
		w, x := p[0], p[1]
		if w.shares.axes() == 0 {
			continue
		}
		if h := x.Hull(); h.Lo >= 0 && h.Hi <= 1 {
			v.shares = w.shares.less()
		}
		v.mix = &mixture{w.shares, x}
	}
}

// unstretched returns an input, its weights forgotten where there are more of them in the result: a single
// weight that meets a row of values stands there as often as the row is long.
func (c *call) unstretched(i int) *Val {
	v := c.x(i)
	own := c.multiplied(i, v.shares)
	inside := v.mix != nil && c.multiplied(i, v.mix.weights)
	if !own && !inside {
		return v
	}
	w := v.clone()
	if own {
		w.shares = simplex{}
	}
	if inside {
		w.mix = nil
	}
	return w
}

// multiplied tells whether an axis that weights sum to 1 over may be repeated in the result.
func (c *call) multiplied(i int, s simplex) bool {
	for at := 1; at < 32; at++ {
		if s.axes().has(at) && c.stretched(i, at) {
			return true
		}
	}
	return false
}

// stretched tells whether an axis of an input, counted from the end, may be repeated in the result.
func (c *call) stretched(i, at int) bool {
	own, out := c.shape(i), c.n.Out(0).Type.Shape
	if at > len(own) || at > len(out) {
		return true
	}
	d := own[len(own)-at]
	return d != out[len(out)-at] && !(d.Known() && d.N > 1)
}

// mean bounds a mean of values along an axis counted from the end: their hull along it, with 0
// where the weights may sum to less than 1. The weights come out rounded and are summed rounded.
func (s simplex) mean(x *Val, axis int, n, unit float64) *Val {
	y := x
	if i := len(x.dims) - axis; i >= 0 && i < len(x.dims) {
		y = x.joinAxis(i)
	}
	if s.most {
		y = joined(y, scalar(Range{}))
	}
	e := s.missing(n, unit)
	return map1flags(y, func(r Range) Range { return Range{r.Lo - e*math.Abs(r.Lo), r.Hi + e*math.Abs(r.Hi)} })
}

// missing is how far a mean under n of the weights may lie from one under weights that sum to 1, as a
// share of what it is taken of. unit is that of the result.
func (s simplex) missing(n, unit float64) float64 {
	e := 2 * math.Min(n, 1<<20) * accumUnit
	if math.IsInf(n, 0) {
		e = unknownSum
	}
	return e + 4*math.Max(unit, s.unit)
}

// meet intersects bounds that both hold.
func (v *Val) meet(w *Val) *Val {
	y := zip(v, w, Range.meet)
	y.posInf, y.negInf, y.integer, y.tiny, y.nan = v.posInf, v.negInf, v.integer, v.tiny, v.nan
	y.basis, y.why = v.basis, v.why
	y.shares, y.mix, y.ball, y.pieces = v.shares, v.mix, v.ball, v.pieces
	if h := y.Hull(); h.Bounded() {
		y.posInf, y.negInf = false, false
		if y.basis == Unknown {
			y.basis, y.why = w.basis, w.why
		}
	}
	return y
}

// mixed meets a matrix product with the mean it is where one side holds weights along the axis that
// is summed over.
func (c *call) mixed(v *Val, a, b operand, n float64) *Val {
	switch {
	case a.v != nil && a.v.shares.axis == 1 && !a.trans && b.v != nil && len(b.shape) > 1:
		return v.meet(a.v.shares.mean(b.v, 2, n, c.p.unit(c.n.Out(0))))
	case b.v != nil && b.v.shares.axis == 2 && !b.trans && a.v != nil && len(a.shape) > 1:
		return v.meet(b.v.shares.mean(a.v, 1, n, c.p.unit(c.n.Out(0))))
	case a.v != nil && a.v.shares.axis == 1 && !a.trans && b.v != nil && len(b.shape) == 1:
		return v.meet(scalar(a.v.shares.mean(b.v, 1, n, c.p.unit(c.n.Out(0))).Hull()))
	case b.v != nil && b.v.shares.axis == 1 && len(b.shape) == 1 && a.v != nil && !a.trans:
		return v.meet(scalar(b.v.shares.mean(a.v, 1, n, c.p.unit(c.n.Out(0))).Hull()))
	}
	return v
}
