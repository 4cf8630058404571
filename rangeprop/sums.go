package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// How sums come out in the format they are accumulated in: FP32, also for FP16 operands, double for
// double.

// accumUnit is the unit roundoff of sums.
const accumUnit = 1.0 / (1 << 24)

// accumLimit is the greatest finite number of the format that the sums of an output are accumulated
// in, +Inf for integers, which wrap around.
func (c *call) accumLimit() float64 {
	switch e := c.elem(0); {
	case e == graph.Double:
		return math.MaxFloat64
	case e.IsFloat():
		return math.MaxFloat32
	}
	return math.Inf(1)
}

// heldLimit is the greatest finite number of what an operator of several steps may hold between them: some
// kernels do in the type of the output.
func (c *call) heldLimit() float64 {
	if f, ok := held(c.elem(0)); ok {
		return math.Min(c.accumLimit(), f.Max())
	}
	return c.accumLimit()
}

// wraps tells whether sums of an output wrap around.
func (c *call) wraps() bool { return c.elem(0).IsInt() }

// sumError bounds the rounding error of a sum of n terms whose magnitudes add up to total.
func sumError(n, total float64) float64 {
	if math.IsInf(total, 0) || total == 0 {
		return 0
	}
	return n * accumUnit * total
}

// overflowing bounds a sum of terms whose magnitudes add up to total: where that is more than the
// limit of its format it may become infinite on its way on any side that its terms may have, whatever
// they add up to.
func overflowing(r, terms Range, total, limit float64) Range {
	if !(total > limit) {
		return r
	}
	if terms.Lo < 0 {
		r.Lo = math.Inf(-1)
	}
	if terms.Hi > 0 {
		r.Hi = math.Inf(1)
	}
	return r
}

// torn marks what may overflow to both sides as NaN: partial sums are added in an order that only the
// kernel knows, and Inf - Inf is NaN.
func (v *Val) torn() *Val {
	for i := range v.lo {
		v.nan = v.nan || math.IsInf(v.lo[i], -1) && math.IsInf(v.hi[i], 1)
	}
	return v
}

// summed widens sums of n terms by their rounding and overflow; terms bounds any of them, and total
// their magnitudes together.
func (c *call) summed(v *Val, terms Range, n, total float64) *Val {
	e, limit := sumError(n, total), c.accumLimit()
	if e == 0 && !(total > limit) {
		return v
	}
	return map1flags(v, func(x Range) Range {
		x = overflowing(x, terms, total, limit)
		return ofOneSign(Range{x.Lo - e, x.Hi + e}, x, terms, n)
	}).torn()
}

// ofOneSign meets a sum that was widened by its rounding with what no rounding changes where none of its n terms
// is negative, or none positive: then each partial sum is off by a share of itself, and a term by what vanishes.
func ofOneSign(wide, exact, terms Range, n float64) Range {
	share, gone := math.Max(0, 1-n*accumUnit), n*math.SmallestNonzeroFloat32
	if terms.Lo >= 0 && !math.IsInf(n, 0) {
		wide.Lo = math.Max(wide.Lo, math.Max(0, exact.Lo*share-gone))
	}
	if terms.Hi <= 0 && !math.IsInf(n, 0) {
		wide.Hi = math.Min(wide.Hi, math.Min(0, exact.Hi*share+gone))
	}
	return wide
}

// total adds values, of which some may be nil, in any order.
func (c *call) total(list ...*Val) *Val {
	var v *Val
	most, n := 0.0, 0.0
	for _, x := range list {
		switch {
		case x == nil:
			continue
		case v == nil:
			v = x
		default:
			v = plus(v, x)
		}
		most, n = most+x.Hull().MaxAbs(), n+1
	}
	return c.mid(c.summed(v, all, n, most))
}

// mid is a result on the way to another: what overflows in it is infinite, whatever follows.
func (c *call) mid(v *Val) *Val { return v.within(c.accumLimit()) }

// within makes infinite what lies past a limit.
func (v *Val) within(limit float64) *Val {
	h := v.Hull()
	if h.MaxAbs() <= limit {
		return v
	}
	w := map1flags(v, func(x Range) Range {
		if x.Lo < -limit {
			x.Lo = math.Inf(-1)
		}
		if x.Hi > limit {
			x.Hi = math.Inf(1)
		}
		return x
	})
	w.infinities()
	return w
}
