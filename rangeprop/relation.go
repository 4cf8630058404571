package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
)

// Facts of products and sums whose parts are not free of one another.

// entropy bounds p·(log p + rest) by p·log p, which is at least -1/e, plus p·rest. The product of the
// hulls is as large as the logarithm of the least number. Where p is 0 and the logarithm infinite the
// product is NaN, which its parts say.
func (p *pass) entropy(e *pattern.Entropy, x *Val) *Val {
	in := p.val(e.P)
	h := in.Hull()
	if h.Lo < 0 || in.special() || p.clippedLog(e) {
		return x
	}
	r := plogp(h)
	r.Hi += e.Guard // p·log((p + ε) / p) is at most ε, and below it lies p·log(max(p, ε) / p)
	if e.Neg {
		r = Range{-r.Hi, -r.Lo}
	}
	size := 1.0
	for i, list := range [][]*graph.Value{e.Plus, e.Minus} {
		for _, v := range list {
			w := p.val(v)
			if w.special() {
				return x
			}
			r, size = addShare(r, h, w.Hull(), i == 1), size+product(h.Hi, w.Hull().MaxAbs())
		}
	}
	if e.Over != nil {
		q := p.val(e.Over).Hull()
		if q.Lo <= 0 || !q.Bounded() || !p.val(e.Log).Hull().Bounded() { // the quotient may vanish or overflow
			return x
		}
		l := Range{math.Log(q.Lo), math.Log(q.Hi)}
		r, size = addShare(r, h, l, !e.Neg), size+product(h.Hi, l.MaxAbs())
	}
	if e.Logits != nil {
		size += product(h.Hi, p.val(e.Logits).Hull().MaxAbs()) / 2
	}
	s := (8*p.unitBehind(e.Output, nil) + 1e-5) * size
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return x
	}
	return x.limit(Range{r.Lo - s, r.Hi + s}, 0)
}

// clippedLog tells whether the logarithm is of what was rounded to 16 bits apart from p, by a node that keeps it from
// nothing: it may be infinite where a runtime that leaves out roundings still multiplies it by a p above 0.
func (p *pass) clippedLog(e *pattern.Entropy) bool {
	return e.Log != nil && p.logApart(e.Log, e.P)
}

// logApart tells whether l is the logarithm, infinite for some, of what a Clip or a Max keeps in 16 bits, and x is
// not that. Sums are left in more bits by the same runtimes.
func (p *pass) logApart(l, x *graph.Value) bool {
	n := l.Producer
	if n == nil || n.OpName() != "Log" || n.In(0) == nil || l.Type.Elem.Bits() >= 32 || !math.IsInf(p.val(l).Hull().Lo, -1) {
		return false
	}
	of := pattern.Bare(n.In(0))
	return of != pattern.Bare(x) && of.Producer != nil && (of.Producer.OpName() == "Clip" || of.Producer.OpName() == "Max")
}

// addShare adds or subtracts the product with p.
func addShare(r, h, w Range, minus bool) Range {
	w = mul(h, w)
	if minus {
		w = Range{-w.Hi, -w.Lo}
	}
	return add(r, w)
}

// plogp bounds p·log p, which falls to -1/e at p = 1/e and is 0 at 0 and 1.
func plogp(p Range) Range {
	f := func(x float64) float64 {
		if x == 0 {
			return 0
		}
		return x * math.Log(x)
	}
	a, b := f(p.Lo), f(p.Hi)
	r := Range{math.Min(a, b), math.Max(a, b)}
	if p.Lo < 1/math.E && p.Hi > 1/math.E {
		r.Lo = -1 / math.E
	}
	return r
}

// blend bounds a mean of two values, weighted by z and 1-z.
func (p *pass) blend(b *pattern.Blend, x *Val) *Val {
	if z := p.val(b.Weight).Hull(); z.Lo < 0 || z.Hi > 1 {
		return x
	}
	r := p.factors(b.Output, b.CoefA, b.A).join(p.factors(b.Output, b.CoefB, b.B))
	s := 8 * p.unitOf(slices.Concat([]*graph.Value{b.Output, b.Weight, b.Rest}, b.A, b.B, p.copies(b.Output))...) * r.MaxAbs()
	f := narrowest(behind(b.Output, nil))
	return x.limit(grained(f, Range{r.Lo - s, r.Hi + s}, 1+math.Abs(b.CoefA)+math.Abs(b.CoefB)), 0)
}

// crest is not above zero, and as far below it as the others are above the value at most: where the
// value is the largest itself the difference is zero.
func (p *pass) crest(c *pattern.Crest, x *Val) *Val {
	in := p.val(c.Input)
	top := math.Inf(-1)
	for _, o := range c.Others {
		top = math.Max(top, p.val(o).Hull().Hi)
	}
	low := math.Min(0, in.Hull().Lo-top)
	blur := p.blur(c.Output, c.Input)
	if math.IsInf(low, 0) || math.IsNaN(low) { // infinities less infinities
		return x.limit(Range{math.Inf(-1), blur}, 0)
	}
	unit := p.unitOf(slices.Concat(c.Others, []*graph.Value{c.Input, c.Output})...)
	return x.limit(Range{low - blur - 4*unit*math.Abs(low), blur}, 0)
}

// merge: one of the exponentials is 1, so that the sum is no less than the smaller of the two factors,
// none of which is negative.
func (p *pass) merge(m *pattern.Merge, v *graph.Value, x *Val) *Val {
	low, blur := math.Inf(1), 0.0
	for i, w := range m.By {
		h := Range{1, 1}
		if w != nil {
			h = p.val(w).Hull()
		}
		low, blur = math.Min(low, h.Lo), math.Max(blur, p.blur(v, m.Of[i].Input))
	}
	low *= math.Exp(-blur) * (1 - 1e-5 - 8*p.unitBehind(v, m.Of[0].Input))
	if !(low >= leastMerged) {
		return x
	}
	return x.atLeast(low)
}

// leastMerged is the least bound of a sum of exponentials that is told of: numbers below it may be
// rounded by more than a part of theirs.
const leastMerged = 1.0 / 1024

// rotation bounds a turned element by the length of the pair that was turned (Cauchy-Schwarz).
func (p *pass) rotation(r *pattern.Rotation, v *graph.Value, x *Val) *Val {
	a, b := p.val(r.A), p.val(r.B)
	if a.special() || b.special() {
		return x
	}
	m := r.Radius * math.Hypot(a.Hull().MaxAbs(), b.Hull().MaxAbs())
	if math.IsInf(m, 0) || math.IsNaN(m) {
		return x
	}
	_, unit := p.coarsest(v, []*graph.Node{v.Producer})
	m *= 1 + 8*math.Max(unit, p.unitBehind(v, nil))
	return x.limit(grained(narrowest(behind(v, nil)), Range{-m, m}, 3), 0)
}

// gap is at least zero, but for the rounding of what it is the difference of.
func (p *pass) gap(g *pattern.Gap, v *graph.Value, x *Val) *Val {
	picked := g.Picked
	in := p.val(picked)
	if in.nan || in.special() || g.Label != nil && !(Range{0, float64(g.Classes - 1)}).Contains(p.val(g.Label).Hull()) {
		return x
	}
	return x.limit(Range{-(8*p.unitBehind(v, picked) + 1e-5) * (1 + in.Hull().MaxAbs()), math.Inf(1)}, 0)
}

// spread bounds a variance by a quarter of the square of the spread (Popoviciu), and by how far the
// mean is off when it is summed in the type's own arithmetic.
func (p *pass) spread(of, v *graph.Value, x *Val) *Val {
	in := p.val(of)
	if in.special() || p.overflows(x, v) {
		return x
	}
	h := in.Hull()
	n := math.Min(float64(count(of.Type.Shape)), 1<<16)
	e := n*accumUnit + 8*p.unitOf(slices.Concat(p.copies(v), []*graph.Value{of, v, v.Producer.In(0)})...)
	off, least := e*h.MaxAbs(), 0.0
	if f, ok := held(v.Type.Elem); ok { // squares, and shares of them, round to multiples of the least number
		least = (n + 2) * f.MinSubnormal()
	}
	return x.limit(Range{0, (h.Hi-h.Lo)*(h.Hi-h.Lo)/4 + off*(h.Hi-h.Lo) + off*off + least}, e)
}
