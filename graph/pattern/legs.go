package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// legs reads x / √(c·x² + Σ y²), a length whose squares are added up one by one: the absolute value of a complex
// number, the length of a quaternion, of parts of a row. It lies in [-1, 1]/√c.
func (f *finder) legs(v *graph.Value) {
	if !settled(v.Type.Shape) || !v.Type.Elem.IsFloat() {
		return
	}
	p := f.product(v)
	for _, g := range p.factors {
		under, shifted, coef, ok := f.hypotenuse(g)
		if !ok {
			continue
		}
		rest := p.without(g.base, g.pow)
		for _, h := range rest.factors {
			c := f.leg(h.base, under, g.base)
			scales, ok := f.values(rest.without(h.base, 1))
			if h.pow != 1 || !(c > 0) || !ok {
				continue
			}
			q := &Ratio{Kind: OfAbs, Root: true, Num: h.base, Input: h.base, Den: shifted, Denominator: shifted, Output: v, Coef: rest.coef * coef / math.Sqrt(c), Scales: scales}
			q.Nodes = f.between(v, h.base)
			f.addRatio(q)
			return
		}
	}
}

// hypotenuse reads a factor as coef / √(Σ t), each t at least 0, with what keeps the sum or the root from zero.
func (f *finder) hypotenuse(g factor) (under []term, shifted *graph.Value, coef float64, ok bool) {
	base, pow, coef := f.expand(g)
	if pow == -1 {
		e := f.stripEps(base)
		var by float64
		if base, pow, by = f.expand(factor{e.of, 1}); pow != 0.5 || !(by > 0) {
			return nil, nil, 0, false
		}
		pow, coef = -pow, coef/by
	}
	if pow != -0.5 {
		return nil, nil, 0, false
	}
	shifted = base
	alone := f.stripEps(base).of
	if p := f.product(alone); len(p.factors) == 1 && p.factors[0].pow == 2 && p.coef > 0 { // the magnitude of a number
		return []term{{alone, 1, p}}, shifted, coef, true
	}
	base, pow, by := f.expand(factor{alone, 1})
	if pow != 1 || !(by > 0) {
		return nil, nil, 0, false
	}
	coef /= math.Sqrt(by)
	under, constant := f.terms(base)
	if len(under) == 0 || len(under) > maxParts || constant < 0 {
		return nil, nil, 0, false
	}
	for _, t := range under {
		if !f.squared(t) {
			return nil, nil, 0, false
		}
	}
	return under, shifted, coef, true
}

// squared tells whether a term is a square, or a sum or a mean of squares.
func (f *finder) squared(t term) bool {
	if _, ok := f.unshaped(t).root(); ok {
		return t.sign > 0
	}
	_, c := f.squaresOf(t)
	return c > 0
}

// unshaped reads a term as a product, its shape aside.
func (f *finder) unshaped(t term) *product {
	if u, ok := t.single(1); ok && t.coef > 0 {
		return (&product{coef: t.coef}).times(f.product(f.shaped(u)), 1)
	}
	return t.product
}

// squaresOf reads a term as c times a sum of squares of what is reduced.
func (f *finder) squaresOf(t term) (r *reduction, c float64) {
	r, c, _, ok := f.average(t.value)
	if !ok || r.count == 0 {
		return nil, 0
	}
	c *= t.sign
	switch r.op {
	case "SumSquare":
		return r, c
	case "Sum", "Mean":
		if x := f.squareOf(r.of); x != nil {
			w := *r
			w.of = x
			return &w, c
		}
	}
	return nil, 0
}

// squareOf returns x where v is x².
func (f *finder) squareOf(v *graph.Value) *graph.Value {
	p := f.product(v)
	if x, ok := p.single(2); ok && p.coef == 1 {
		return x
	}
	return nil
}

// leg returns how often the square of x stands among terms, element by element where den divides x; 0 where it
// does not.
func (f *finder) leg(x *graph.Value, under []term, den *graph.Value) float64 {
	most := 0.0
	for _, t := range under {
		if u, ok := t.single(2); ok && f.narrow(u) == x && slices.Equal(den.Type.Shape, x.Type.Shape) {
			most = math.Max(most, t.sign*t.coef)
		}
		if r, c := f.squaresOf(t); r != nil && f.same(r.of) == x && r.aligned(den) {
			most = math.Max(most, c)
		}
	}
	if most == 0 {
		return f.allLegs(x, under, den)
	}
	return most
}

// allLegs is leg of a row whose elements are the terms, one by one.
func (f *finder) allLegs(x *graph.Value, under []term, den *graph.Value) float64 {
	least, seen, axis := math.Inf(1), map[int64]bool{}, -1
	for _, t := range under {
		w := f.unshaped(t)
		u, ok := w.single(2)
		if !ok {
			return 0
		}
		s, ok := f.stretch(f.shaped(u))
		if !ok || s.of != x || s.to != s.from+1 || axis >= 0 && s.axis != axis {
			return 0
		}
		least, axis = math.Min(least, t.sign*w.coef), s.axis
		seen[s.from] = true
	}
	s := slices.Clone(x.Type.Shape)
	if int64(len(seen)) != s[axis].N {
		return 0
	}
	s[axis] = graph.Dim{N: 1}
	if !slices.Equal(s, den.Type.Shape) {
		return 0
	}
	return least
}
