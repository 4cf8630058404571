package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
)

func elementwiseOps() map[string]op {
	return map[string]op{
		"Add": rounded(addOp), "Sub": rounded(subOp), "Mul": rounded(mulOp), "Div": rounded(divOp),
		"Neg": exact(negOp), "Abs": exact(absOp), "Reciprocal": rounded(reciprocalOp), "Sqrt": rounded(sqrtOp),
		"Max": exact(variadic(maximum)), "Min": exact(variadic(minimum)),
		"Sum": rounded(sumOp), "Mean": rounded(meanOp),
		"Pow": approx(powOp), "Mod": rounded(modOp), "Clip": exact(clipOp), "Where": exact(whereOp),
		"Floor": exact(stepOp(math.Floor)), "Ceil": exact(stepOp(math.Ceil)), "Round": exact(stepOp(math.RoundToEven)),
		"Sign": choice(signOp), "BitShift": rounded(bitsOp), "BitwiseAnd": rounded(bitsOp), "BitwiseOr": rounded(bitsOp),
		"BitwiseXor": rounded(bitsOp), "BitwiseNot": rounded(bitwiseNotOp),
		"com.microsoft.BiasAdd": rounded(biasAddOp),
	}
}

// addOp adds. A sum of two numbers of FP32 is a multiple of the smaller one's last place where they all but cancel
// out, which is no less than 2^-25 of the larger one.
func addOp(c *call) *Val {
	a, b := c.x(0), c.x(1)
	v := plus(a, b)
	if c.elem(0) == graph.Float {
		v.tiny = math.Max(clearOfZero(a), clearOfZero(b)) * 0x1p-26
	}
	return v
}

// clearOfZero is the least magnitude of a value, 0 where it may be zero.
func clearOfZero(a *Val) float64 {
	h := a.Hull()
	return math.Max(math.Max(h.Lo, -h.Hi), 0)
}

// plus adds. Inf + -Inf is NaN.
func plus(a, b *Val) *Val {
	v := zip(a, b, add)
	v.nan = v.nan || a.posInf && b.negInf || a.negInf && b.posInf
	v.posInf, v.negInf = a.posInf || b.posInf, a.negInf || b.negInf
	v.integer = a.integer && b.integer
	return v
}

func subOp(c *call) *Val {
	a, b := c.x(0), c.x(1)
	if c.n.In(0) == c.n.In(1) {
		return alone(a, 0)
	}
	return plus(a, negative(b))
}

// alone is a number, or NaN, that comes out of a value and itself.
func alone(a *Val, x float64) *Val {
	v := map1(a, func(Range) Range { return Range{x, x} })
	v.nan, v.integer = a.nan || a.special(), true
	return v
}

func negOp(c *call) *Val { return negative(c.x(0)) }

func negative(a *Val) *Val {
	v := map1(a, neg)
	v.posInf, v.negInf, v.integer, v.tiny = a.negInf, a.posInf, a.integer, a.tiny
	return v
}

func mulOp(c *call) *Val {
	if c.p.facts.Square(c.n.Out(0)) != nil {
		return squared(c.x(0))
	}
	return times(c.unstretched(0), c.unstretched(1))
}

// times multiplies. 0 · Inf is NaN.
func times(a, b *Val) *Val {
	v := zip(a, b, mul)
	v.nan = v.nan || a.special() && b.zero() || b.special() && a.zero()
	if a.special() || b.special() {
		v.infinities()
	}
	v.integer = a.integer && b.integer
	v.tiny = a.Tiny() * b.Tiny()
	masked(v, a, b)
	return v
}

func squared(a *Val) *Val {
	v := map1(a, square)
	v.integer = a.integer
	t := a.Tiny()
	v.tiny = t * t
	return v
}

// divOp divides; integers toward zero. 0/0 and Inf/Inf are NaN.
func divOp(c *call) *Val {
	a, b := c.x(0), c.x(1)
	if !c.elem(0).IsFloat() {
		return zip(a, b, intDiv)
	}
	if c.n.In(0) == c.n.In(1) {
		v := alone(a, 1)
		v.nan = v.nan || a.zero()
		return v
	}
	return over(a, b)
}

func over(a, b *Val) *Val {
	v := zip(a, b, div)
	v.nan = v.nan || a.zero() && b.zero() || a.special() && b.special()
	return v
}

// intDiv bounds integer division; a divisor of 0 has no result.
func intDiv(x, y Range) Range {
	m := x.MaxAbs()
	if !y.hasZero() {
		r := div(x, y)
		return Range{math.Trunc(r.Lo), math.Trunc(r.Hi)}
	}
	if x.Lo >= 0 && y.Lo >= 0 {
		return Range{0, m}
	}
	return Range{-m, m}
}

func absOp(c *call) *Val {
	a := c.x(0)
	v := map1(a, absolute)
	v.posInf, v.integer, v.tiny = a.special(), a.integer, a.tiny
	return v
}

func reciprocalOp(c *call) *Val { return map1(c.x(0), reciprocal) }

// sqrtOp is NaN below zero.
func sqrtOp(c *call) *Val { return squareRoot(c.x(0)) }

func squareRoot(a *Val) *Val {
	zero := math.Copysign(0, -1) // the root of -0, which a negative number may have been
	v := map1(a, func(x Range) Range { return Range{math.Sqrt(math.Max(x.Lo, zero)), math.Sqrt(math.Max(x.Hi, 0))} })
	v.nan = a.nan || a.Hull().Lo < 0
	v.tiny = math.Sqrt(a.Tiny())
	return v
}

// variadic folds the inputs of Max and Min. They pass infinities on; whether the bounds allow them
// is for the bounds to say.
func variadic(f func(x, y Range) Range) func(c *call) *Val {
	return func(c *call) *Val {
		v := c.x(0)
		for i := 1; i < len(c.in); i++ {
			a, b := v, c.x(i)
			v = zip(a, b, f)
			h := v.Hull()
			v.posInf = (a.posInf || b.posInf) && math.IsInf(h.Hi, 1)
			v.negInf = (a.negInf || b.negInf) && math.IsInf(h.Lo, -1)
			v.integer = a.integer && b.integer
			v.tiny = math.Min(a.Tiny(), b.Tiny())
		}
		return v
	}
}

func sumOp(c *call) *Val {
	v := c.x(0)
	total := v.Hull().MaxAbs()
	for i := 1; i < len(c.in); i++ {
		v = plus(v, c.x(i))
		total += c.x(i).Hull().MaxAbs()
	}
	return c.summed(v, all, float64(len(c.in)), total)
}

func meanOp(c *call) *Val {
	return map1(sumOp(c), func(x Range) Range { return x.scale(1 / float64(len(c.in))) })
}

// widen moves both ends of every bound outward.
func (v *Val) widen(e float64) *Val {
	if e == 0 {
		return v
	}
	return map1flags(v, func(x Range) Range { return Range{x.Lo - e, x.Hi + e} })
}

// map1flags is map1 that keeps the flags beside the bounds.
func map1flags(a *Val, f func(Range) Range) *Val {
	v := tightened(a, f)
	v.tiny = 0
	return v
}

// tightened is map1 for bounds of the same elements: all else that is known of them stays.
func tightened(a *Val, f func(Range) Range) *Val {
	v := map1(a, f)
	lo, hi := v.lo, v.hi
	*v = *a
	v.lo, v.hi = lo, hi
	return v.plain()
}

func powOp(c *call) *Val {
	a, b := c.x(0), c.x(1)
	if e, ok := c.number(1); ok {
		switch e {
		case 2:
			return squared(a)
		case 1:
			return a
		case 0.5, -0.5:
			return rootPower(a, e)
		}
	}
	v := zip(a, b, power)
	v.nan = v.nan || a.Hull().Lo < 0 && !b.integer
	v.integer = a.integer && b.integer && b.Hull().Lo >= 0
	return v
}

// rootPower is a root or its reciprocal, which powers of -Inf are not NaN but Inf and 0.
func rootPower(a *Val, e float64) *Val {
	v := squareRoot(a)
	nan := v.nan
	if a.negInf {
		v = map1(v, func(r Range) Range { return Range{r.Lo, math.Inf(1)} })
	}
	if e < 0 {
		v = map1(v, reciprocal)
	}
	v.nan = nan
	return v
}

// modOp bounds the remainder: smaller than the divisor, with its sign, or the dividend's for fmod.
func modOp(c *call) *Val {
	a, b := c.x(0), c.x(1)
	fmod := c.n.Int("fmod", 0) != 0
	v := zip(a, b, func(x, y Range) Range {
		m := y.MaxAbs()
		r := Range{-m, m}
		if fmod {
			r = r.meet(Range{math.Min(x.Lo, 0), math.Max(x.Hi, 0)})
		} else {
			r = r.meet(Range{math.Min(y.Lo, 0), math.Max(y.Hi, 0)})
		}
		return r
	})
	v.nan = v.nan || a.special() || b.zero() && c.elem(0).IsFloat()
	v.integer = a.integer && b.integer
	return v
}

// clipOp limits by attributes up to opset 10, by inputs after. min wins over nothing and max wins
// over min.
func clipOp(c *call) *Val {
	a := c.x(0)
	low, high := scalar(all), scalar(all)
	if x := c.n.Attr("min"); x != nil {
		low = scalar(Range{float64(x.F), float64(x.F)})
	}
	if x := c.n.Attr("max"); x != nil {
		high = scalar(Range{float64(x.F), float64(x.F)})
	}
	lowGiven, highGiven := c.n.Attr("min") != nil || c.has(1), c.n.Attr("max") != nil || c.has(2)
	if c.has(1) {
		low = c.in[1].flat()
	}
	if c.has(2) {
		high = c.in[2].flat()
	}
	v := a
	if lowGiven {
		v = zip(v, low, maximum)
	}
	if highGiven {
		v = zip(v, high, minimum)
	}
	return clipped(v, a, low, high)
}

// clipped takes over from the value before the limits what still can be, and rests on it only
// where the limits do not bound it.
func clipped(v, a, low, high *Val) *Val {
	h := v.Hull()
	w := v.clone()
	w.posInf = (a.posInf || low.posInf || high.posInf) && math.IsInf(h.Hi, 1)
	w.negInf = (a.negInf || low.negInf || high.negInf) && math.IsInf(h.Lo, -1)
	w.integer, w.tiny = a.integer && low.whole() && high.whole(), 0
	if h.Bounded() && w.basis == Unknown {
		w.constantly()
	}
	return w
}

// whole tells whether a limit is an integer or none at all.
func (v *Val) whole() bool {
	h := v.Hull()
	return v.integer || !v.nan && h.Lo == math.Trunc(h.Lo) && (h.Lo == h.Hi || h == all)
}

// whereOp joins both branches, or takes the one that a constant condition selects, element by
// element. Relations between condition and branches are facts of package pattern.
func whereOp(c *call) *Val {
	cond, a, b := c.x(0), c.unstretched(1), c.unstretched(2)
	a, b = c.compared(c.guarded(a, b))
	switch cond.Hull() { // the other branch is never read
	case always:
		b = a
	case never:
		a = b
	}
	v := zip3(cond, a, b, func(q, x, y Range) Range {
		switch {
		case q.Lo > 0:
			return x
		case q.Hi <= 0:
			return y
		}
		return x.join(y)
	})
	v.basis, v.why = Constant, nil
	v.rest(a)
	v.rest(b)
	h := v.Hull()
	v.posInf, v.negInf = (a.posInf || b.posInf) && math.IsInf(h.Hi, 1), (a.negInf || b.negInf) && math.IsInf(h.Lo, -1)
	v.nan = a.nan || b.nan
	v.integer = a.integer && b.integer
	v.tiny = math.Min(a.Tiny(), b.Tiny())
	switch zero := (Range{}); { // zeros in the place of weights
	case a == b:
		v.shares, v.mix = a.shares, a.mix
	case a.Hull() == zero:
		v.shares, v.mix = b.shares.less(), b.mix.less()
	case b.Hull() == zero:
		v.shares, v.mix = a.shares.less(), a.mix.less()
	}
	return v
}

// guarded removes from the branches of a Where what its condition tests for: Where(IsNaN(x), 0, x)
// is never NaN.
func (c *call) guarded(a, b *Val) (*Val, *Val) {
	cond := c.n.In(0)
	flip := false
	for cond != nil && cond.Producer != nil && cond.Producer.Op == "Not" {
		cond, flip = cond.Producer.In(0), !flip
	}
	if cond == nil || cond.Producer == nil || cond.Producer.In(0) == nil {
		return a, b
	}
	i, w := 2, b
	if flip {
		i, w = 1, a
	}
	test := cond.Producer
	if pattern.Bare(c.n.In(i)) != pattern.Bare(test.In(0)) {
		return a, b
	}
	w = w.clone()
	switch test.Op {
	case "IsNaN":
		w.nan = false
	case "IsInf":
		w = w.finiteOnly(test.Int("detect_positive", 1) != 0, test.Int("detect_negative", 1) != 0, c.elem(0))
	default:
		return a, b
	}
	if flip {
		return w, b
	}
	return a, w
}

// compared cuts the branches of a Where at the number that its condition compares them with: Where(c > x, x, c)
// is at most c.
func (c *call) compared(a, b *Val) (*Val, *Val) {
	cond := c.n.In(0)
	if cond == nil || cond.Producer == nil || cond.Producer.In(0) == nil || cond.Producer.In(1) == nil || cond.Producer.Domain != "" {
		return a, b
	}
	test := cond.Producer
	x, k := test.In(0), test.In(1)
	more := test.Op == "Greater" || test.Op == "GreaterOrEqual" // the branch that is taken holds what is more
	if !more && test.Op != "Less" && test.Op != "LessOrEqual" {
		return a, b
	}
	limit, ok := c.p.single(k)
	if !ok {
		if limit, ok = c.p.single(x); !ok {
			return a, b
		}
		x, more = k, !more
	}
	if pattern.Bare(c.n.In(1)) == pattern.Bare(x) {
		a = a.cut(limit, more)
	}
	if pattern.Bare(c.n.In(2)) == pattern.Bare(x) {
		b = b.cut(limit, !more)
	}
	return a, b
}

// cut moves what lies below a limit, or above it, to the limit. NaN compares as false and may stay.
func (v *Val) cut(limit float64, above bool) *Val {
	w := map1flags(v, func(r Range) Range {
		if above {
			return Range{math.Max(r.Lo, limit), math.Max(r.Hi, limit)}
		}
		return Range{math.Min(r.Lo, limit), math.Min(r.Hi, limit)}
	})
	w.shares, w.mix = v.shares, v.mix
	w.posInf, w.negInf = v.posInf && above, v.negInf && !above
	return w
}

// finiteOnly removes infinities; the bound then is the greatest finite number of the type, which
// holds for the smaller formats too.
func (v *Val) finiteOnly(pos, neg bool, e graph.ElemType) *Val {
	w := v.clone()
	limit, top := all, math.MaxFloat64
	if f, ok := held(e); ok {
		top = f.Max()
	}
	if pos {
		w.posInf, limit.Hi = false, top
	}
	if neg {
		w.negInf, limit.Lo = false, -top
	}
	return tightened(w, func(x Range) Range {
		return Range{math.Min(math.Max(x.Lo, limit.Lo), limit.Hi), math.Max(math.Min(x.Hi, limit.Hi), limit.Lo)}
	})
}

// stepOp is a function to integers that never falls.
func stepOp(f func(float64) float64) func(c *call) *Val {
	return func(c *call) *Val {
		a := c.x(0)
		v := map1(a, monotone(f))
		v.posInf, v.negInf, v.integer = a.posInf, a.negInf, true
		return v
	}
}

func signOp(c *call) *Val {
	v := map1(c.x(0), monotone(func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return 0
	}))
	v.integer = true
	return v
}

// bitsOp bounds operations on bits by the least power of two above both operands; negative
// operands may give anything of the type.
func bitsOp(c *call) *Val {
	v := c.within(all)
	if a, b := c.x(0).Hull(), c.x(len(c.in)-1).Hull(); a.Lo >= 0 && b.Lo >= 0 && c.n.Op != "BitShift" {
		_, bits := math.Frexp(math.Max(a.Hi, b.Hi))
		v = c.within(Range{0, math.Exp2(float64(bits)) - 1})
	}
	return v
}

func bitwiseNotOp(c *call) *Val {
	if r, ok := integers(c.elem(0)); ok {
		if a := c.x(0); r.Lo < 0 {
			return map1(a, func(x Range) Range { return Range{-x.Hi - 1, -x.Lo - 1} })
		}
		return c.within(r)
	}
	return c.within(all)
}

func biasAddOp(c *call) *Val { return plus(c.mid(plus(c.x(0), c.x(1))), c.x(2)) }
