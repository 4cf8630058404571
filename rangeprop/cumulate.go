package rangeprop

import "math"

// Running sums and products, and positions along an axis.

// argOp is an index along the axis.
func argOp(c *call) *Val {
	axis, ok := c.axis("axis", 0, c.rank(0))
	return c.index(axis, ok)
}

// index bounds positions along an axis of the first input.
func (c *call) index(axis int, ok bool) *Val {
	v := scalar(Range{0, math.MaxInt64})
	if ok {
		if _, hi := c.dim(0, axis); hi >= 0 {
			v.hi[0] = math.Max(float64(hi-1), 0)
		}
	}
	v.integer = true
	return v
}

// cumSumOp sums between one and all elements along the axis, none of them where it is exclusive.
func cumSumOp(c *call) *Val {
	v, ok := c.full(0)
	n := c.elements()
	keep := make([]bool, len(v.dims))
	if axis, given := c.ints(1); given && ok && len(axis) == 1 {
		a := int(axis[0])
		if a < 0 {
			a += len(v.dims)
		}
		for i := range keep {
			keep[i] = i != a
		}
		if _, hi := c.dim(0, a); hi >= 0 {
			n = float64(hi)
		}
	}
	s := v.collapse(keep)
	out := map1(s, func(x Range) Range {
		total := product(n, x.MaxAbs())
		e := sumError(n, total)
		r := mul(x, Range{1, math.Max(n, 1)})
		if c.n.Int("exclusive", 0) != 0 {
			r = r.join(Range{0, 0})
		}
		r = overflowing(r, x, total, c.accumLimit())
		if x.Lo >= 0 {
			return Range{math.Max(r.Lo-e, 0), r.Hi + e}
		}
		return Range{r.Lo - e, r.Hi + e}
	}).torn()
	out.integer, out.nan = s.integer, out.nan || s.posInf && s.negInf
	return out
}

// cumProdOp multiplies between none and all elements along the axis.
func cumProdOp(c *call) *Val {
	a, n := c.x(0).flat(), c.elements()
	v := map1(a, func(x Range) Range {
		m := corners(absolute(x), Range{0, n})
		if x.Lo < 0 {
			m.Lo = -m.Hi
		}
		return overflowing(m, m, m.Hi, c.accumLimit())
	})
	v.nan = v.nan || a.zero() && (a.special() || math.IsInf(v.Hull().Hi, 1))
	v.integer = a.integer
	return v
}

// topKOp picks elements along an axis, the greatest or least first, and tells their positions.
func topKOp(c *call) []*Val {
	v, ok := c.full(0)
	axis, ok2 := c.axis("axis", -1, c.rank(0))
	if !ok || !ok2 {
		return []*Val{v.flat(), c.index(0, false)}
	}
	keep := make([]bool, len(v.dims))
	for i := range keep {
		keep[i] = i != axis
	}
	best := v.collapse(keep)
	if v.shares.axis == len(v.dims)-axis {
		best = c.largestShare(best, axis, v.shares)
		best.shares = v.shares.less()
	}
	return []*Val{best, c.index(axis, true)}
}

// largestShare lifts the first of sorted shares: the largest of n that sum to 1 is at least 1/n.
func (c *call) largestShare(best *Val, axis int, s simplex) *Val {
	_, n := c.dim(0, axis)
	out := c.shapeOut(0)
	if s.most || n <= 0 || len(out) != len(best.dims) || !out[axis].Known() || out[axis].N < 1 || out[axis].N > maxKept ||
		c.n.Int("largest", 1) == 0 || c.n.Int("sorted", 1) == 0 {
		return best
	}
	first := scalar(Range{}).ranked(out).clone()
	first.dims[axis] = int(out[axis].N)
	first.lo, first.hi = make([]float64, first.dims[axis]), make([]float64, first.dims[axis])
	first.lo[0] = math.Max(0, 1-4*s.unit-2*float64(n)*accumUnit) / float64(n)
	w := zip(best, first, func(a, b Range) Range { return Range{math.Max(a.Lo, math.Min(b.Lo, a.Hi)), a.Hi} })
	w.nan, w.basis, w.why = best.nan, best.basis, best.why
	return w
}
