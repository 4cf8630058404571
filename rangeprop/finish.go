package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// held returns the floating-point format of an element type.
func held(e graph.ElemType) (numfmt.Format, bool) {
	switch e {
	case graph.Float:
		return numfmt.FP32, true
	case graph.Double:
		return numfmt.FP64, true
	case graph.Float16:
		return numfmt.FP16, true
	case graph.BFloat16:
		return numfmt.BF16, true
	case graph.Float8E4M3FN:
		return numfmt.E4M3FN, true
	case graph.Float8E4M3FNUZ:
		return numfmt.E4M3FNUZ, true
	case graph.Float8E5M2:
		return numfmt.E5M2, true
	case graph.Float8E5M2FNUZ:
		return numfmt.E5M2FNUZ, true
	}
	return numfmt.Invalid, false
}

// integers returns the range of an integer type or bool; 64-bit ends are rounded outward.
func integers(e graph.ElemType) (Range, bool) {
	if e == graph.Bool {
		return Range{0, 1}, true
	}
	if !e.IsInt() {
		return Range{}, false
	}
	bits := float64(e.Bits())
	switch e {
	case graph.Uint8, graph.Uint16, graph.Uint32, graph.Uint64, graph.Uint4, graph.Uint2:
		return Range{0, math.Exp2(bits) - 1}, true
	}
	return Range{-math.Exp2(bits - 1), math.Exp2(bits-1) - 1}, true
}

// typed restricts a value to what its type can hold.
func typed(x *Val, t graph.Type) *Val {
	r, ok := integers(t.Elem)
	if !ok || t.Kind != graph.KindTensor && t.Kind != graph.KindUnknown {
		return x
	}
	if x.nan { // real results without an integer: kernels give anything
		x = map1flags(x, func(Range) Range { return r })
	}
	tiny := x.tiny
	y := map1(x, func(a Range) Range {
		if a = (Range{math.Floor(a.Lo), math.Ceil(a.Hi)}); !r.Contains(a) { // integers wrap around
			tiny = 0
			return r
		}
		return a
	})
	y.integer, y.nan, y.posInf, y.negInf, y.tiny = true, false, false, false, tiny
	if r.Contains(x.Hull()) {
		y.shares = x.shares
	}
	return y
}

// finish turns the bounds of real results into those of the results in the output's type: a
// correctly rounded operator stays within the rounded bounds, since rounding is monotone; others
// get their error first. What rounds past the format is infinite.
func (c *call) finish(v *graph.Value, x *Val, o op) *Val {
	if o.bounded && x.basis == Unknown && x.Hull().Bounded() {
		x = x.clone().constantly()
	}
	if x.basis == Unknown && x.why == nil {
		x = x.clone()
		x.why = v
	}
	if _, ok := integers(v.Type.Elem); ok {
		return typed(x, v.Type)
	}
	f, ok := c.p.resultFormat(v)
	if ok && o.exact && f.Bits() < 32 && c.fractions() {
		return heldIn(f, x) // numbers of an attribute are rounded to the type, too
	}
	if !ok || o.exact {
		return x
	}
	y := roundTo(f, x, o.ulps)
	if o.limit != (Range{}) { // these are fresh
		clampAll(y.lo, o.limit)
		clampAll(y.hi, o.limit)
	}
	return y
}

// fractions tells whether an attribute of the node holds real numbers.
func (c *call) fractions() bool {
	for _, a := range c.n.Attrs {
		if a.Type == graph.AttrFloat {
			return true
		}
	}
	return false
}

func clampAll(x []float64, r Range) {
	for i, v := range x {
		if v < r.Lo {
			x[i] = r.Lo
		} else if v > r.Hi {
			x[i] = r.Hi
		}
	}
}

// resultFormat is the format a result is computed in: that of its type, or a wider one that it will
// be held in, so that no value of the type's own range is lost on the way.
func (p *pass) resultFormat(v *graph.Value) (numfmt.Format, bool) {
	own, ok := held(element(v.Type))
	if element(v.Type) == graph.Undefined && v.Producer != nil && v.Producer.In(0) != nil { // as the first input, most likely
		own, ok = held(v.Producer.In(0).Type.Elem)
	}
	if ok && p.opt.Hold != nil {
		if f := p.opt.Hold(v); f != numfmt.Invalid && f.Bits() > own.Bits() {
			return f, true
		}
	}
	return own, ok
}

// roundTo widens by an error of ulps and rounds into the format.
func roundTo(f numfmt.Format, x *Val, ulps float64) *Val {
	slack, least := ulps*f.Unit(), 0.0
	if ulps > 0 {
		least = f.MinSubnormal()
	}
	if f == numfmt.FP64 && slack == 0 {
		slack = f.Unit() // float64 ends may be off by the rounding of this very computation
	}
	y := x.like(x.dims)
	y.integer, y.tiny = x.integer, f.Round(x.tiny)
	y.shares, y.mix, y.ball, y.pieces = x.shares.rounded(f.Unit()), x.mix, x.ball, x.pieces
	for i, lo := range x.lo {
		y.lo[i] = signed(lo, lo-slop(lo, slack, least))
	}
	for i, hi := range x.hi {
		y.hi[i] = signed(hi, hi+slop(hi, slack, least))
	}
	f.RoundAll(y.lo)
	f.RoundAll(y.hi)
	for i := 0; i < len(x.lo) && !f.HasInf(); i++ {
		y.nan = y.nan || math.IsNaN(y.lo[i]) || math.IsNaN(y.hi[i])
		y.lo[i], y.hi[i] = f.RoundSat(x.lo[i]), f.RoundSat(x.hi[i])
	}
	y.infinities()
	return y
}

// signed keeps the sign of an end: no kernel gives an exponential below 0, however small.
func signed(end, widened float64) float64 {
	if end > 0 && widened < 0 || end < 0 && widened > 0 {
		return 0
	}
	return widened
}

// slop is the error of a kernel at x; no kernel misses 0, and infinities have none.
func slop(x, relative, least float64) float64 {
	if x == 0 || math.IsInf(x, 0) {
		return 0
	}
	return relative*math.Abs(x) + least
}

// infinities sets the flags of elements that may be infinite from the bounds.
func (v *Val) infinities() {
	for i := range v.lo {
		v.negInf = v.negInf || math.IsInf(v.lo[i], -1)
		v.posInf = v.posInf || math.IsInf(v.hi[i], 1)
	}
}

// hold rounds a value into the format that it will be held in, once more: rounding is monotone.
func (p *pass) hold(v *graph.Value, x *Val) *Val {
	e := element(v.Type)
	if p.opt.Hold == nil || !e.IsFloat() {
		return x
	}
	f := p.opt.Hold(v)
	if own, _ := held(e); f == numfmt.Invalid || f == own {
		return x
	}
	y := heldIn(f, x)
	if x.pieces != nil {
		held := *x.pieces
		held.v = heldIn(f, held.v)
		y.pieces = &held
	}
	if y.posInf && !x.posInf || y.negInf && !x.negInf || y.nan && !x.nan {
		return y.plain() // what overflows keeps neither sum nor norm
	}
	return y
}

// heldIn rounds the bounds into a format.
func heldIn(f numfmt.Format, x *Val) *Val {
	y := x.clone()
	y.shares = x.shares.rounded(f.Unit())
	y.lo, y.hi = slices.Clone(x.lo), slices.Clone(x.hi)
	f.RoundAll(y.lo)
	f.RoundAll(y.hi)
	for i := range x.lo {
		if !f.HasInf() && (math.IsNaN(y.lo[i]) || math.IsNaN(y.hi[i])) {
			y.lo[i], y.hi[i] = f.RoundSat(x.lo[i]), f.RoundSat(x.hi[i])
			y.nan = true
		}
		y.negInf = y.negInf || math.IsInf(y.lo[i], -1) && !math.IsInf(x.lo[i], -1)
		y.posInf = y.posInf || math.IsInf(y.hi[i], 1) && !math.IsInf(x.hi[i], 1)
	}
	y.tiny = f.Round(x.tiny)
	return y
}
