package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
)

// ratio bounds a quotient by what it is made of.
func (p *pass) ratio(q *pattern.Ratio, x *Val) *Val {
	in := p.asCopied(q.Output, p.averaged(q))
	f, unit := p.coarsest(q.Output, q.Nodes)
	if q.Kind == pattern.OfMean { // the sum of the weights is none of the nodes behind what is averaged
		unit = math.Max(unit, p.unitOf(behind(q.Output, slices.Concat([]*graph.Value{q.Input}, q.Others, q.Weights)...)...))
	}
	if q.Kind != pattern.OfCount && p.pastNumbers(q, f) && !(unit <= accumUnit && p.summable(q, in)) {
		return x
	}
	if q.Kind == pattern.OfAbs && q.Root && unit > accumUnit { // squares vanish in few bits, of which the root would not
		return x
	}
	if q.Kind == pattern.OfAbs && p.allSquaresVanish(q) {
		return x
	}
	if q.Apart && (p.crowded(q.Output.Producer) || p.vanishing(q)) || f.Bits() < 32 && p.inverts(q) {
		return x
	}
	r, ok := p.ratioRange(q, in, f)
	if !ok {
		return x
	}
	k := p.ratioShort(q, f) * powersShort(q)
	if r, ok = p.ratioCopied(q, r); !ok || math.IsInf(k, 0) {
		return x
	}
	slack := unit*8 + 1e-6
	switch {
	case q.Kind == pattern.OfMean: // the products are summed apart from the weights
		slack += math.Min(2*float64(count(q.Weights[0].Type.Shape))*accumUnit, unknownSum)
	case q.Kind == pattern.OfAbs && len(q.Parts) == 2: // as are those of two rows apart from their squares
		slack += math.Min(2*float64(q.Count)*accumUnit, unknownSum)
	}
	return x.limit(grained(f, mul(r, p.factors(q.Output, q.Coef*k, q.Scales)), p.factors(q.Output, q.Coef, q.Scales).MaxAbs()), slack)
}

// averaged is the hull of what a quotient is made of.
func (p *pass) averaged(q *pattern.Ratio) Range {
	h := p.val(q.Input).Hull()
	for _, v := range q.Others {
		h = h.join(p.val(v).Hull())
	}
	return h
}

// allSquaresVanish tells whether a quotient by lengths is of numbers so small that no square of theirs is one of FP32.
// Of others that may be as small what is said of rows holds, which are not.
func (p *pass) allSquaresVanish(q *pattern.Ratio) bool {
	small := func(v *graph.Value) bool { return p.val(v).Hull().MaxAbs() < leastSquared }
	return len(q.Parts) == 2 && slices.ContainsFunc(q.Parts, small) || q.Root && q.EpsValue == 0 && small(q.Input)
}

// leastProduct is the least product of weights whose rounding is still a small part of it in FP32.
const leastProduct = 1e-30

// vanishing tells whether the sum of the weights of a mean, no ε beside it, may be of products of which some vanish
// that those with what is averaged do not: it is not kept above 0, nor are the weights.
func (p *pass) vanishing(q *pattern.Ratio) bool {
	if q.EpsValue > 0 || p.val(q.Den).Hull().Lo >= leastProduct {
		return false
	}
	least := 1.0
	for _, w := range q.Weights {
		least *= math.Min(1, p.val(w).Tiny())
	}
	return !(least >= leastProduct)
}

// grained is a range of what is rounded in 16 bits to multiples of the least number before and after it is scaled.
func grained(f numfmt.Format, r Range, scale float64) Range {
	if f.Bits() >= 32 {
		return r
	}
	e := f.MinSubnormal() * (1 + scale)
	if r.Lo < 0 {
		r.Lo -= e
	}
	if r.Hi > 0 {
		r.Hi += e
	}
	return r
}

// ratioRange is where a quotient lies in real numbers, its factors aside, and for a mean in a format; ok is false
// where what it is made of does not bound it. in is the hull of the input.
func (p *pass) ratioRange(q *pattern.Ratio, in Range, f numfmt.Format) (r Range, ok bool) {
	switch q.Kind {
	case pattern.OfSum:
		return Range{0, 1}, !(in.Lo < 0)
	case pattern.OfPart:
		// Roundings are monotone, but a side of the part has to be rounded as that of the whole is.
		least, most := p.widths(q.Output, nil)
		return Range{0, 1}, !(in.Lo < 0) && least == most && p.nonNegatives(q.Parts)
	case pattern.OfTerms:
		r = Range{0, 1}
		if q.Signed {
			r.Lo = -1
		}
		return r, p.nonNegatives(q.Parts) && p.inUnit(q.Units)
	case pattern.OfHarmonic: // it grows with both
		a, b := p.val(q.Parts[0]).Hull().Hi, p.val(q.Parts[1]).Hull().Hi
		return Range{0, quotient(product(a, b), a+b)}, p.nonNegatives(q.Parts) && a > 0 && b > 0 && f.Bits() >= 32
	case pattern.OfCount:
		e := unknownSum * in.MaxAbs()
		return Range{in.Lo - e, in.Hi + e}, !(in.MaxAbs() > sumLimit) && p.unit(q.Num) <= accumUnit
	case pattern.OfSpan:
		return Range{0, 1}, true
	case pattern.OfAbs, pattern.OfMax:
		if in.Lo >= 0 && p.nonNegatives(q.Parts) {
			return Range{0, 1}, true
		}
	case pattern.OfMean:
		return p.meanRange(q, in, f)
	}
	return Range{-1, 1}, true
}

// meanRange is ratioRange of a weighted mean.
func (p *pass) meanRange(q *pattern.Ratio, in Range, f numfmt.Format) (r Range, ok bool) {
	for _, w := range q.Weights {
		if h := p.val(w).Hull(); h.Lo < 0 || q.Capped && h.Hi > 1 || q.Counted && !p.val(w).integer && !p.crisp(w) {
			return r, false
		}
	}
	if f.Bits() < 32 {
		e, ok := p.uneven(q, f)
		if !ok {
			return r, false
		}
		in = Range{in.Lo - e, in.Hi + e}
	}
	if r = in; q.Power == 2 {
		r = square(in)
	}
	if q.EpsValue > 0 || q.Capped || !p.positive(q.Weights) || p.val(q.Den).posInf {
		r = r.join(Range{})
	}
	if q.Root {
		r = mul(r.join(Range{}), Range{0, math.Sqrt(p.val(q.Den).Hull().Hi)})
	}
	return r, true
}

// ratioShort is how many times too large a quotient may come out in a format because parts of its denominator
// vanish there. Rounding is monotone: a sum of numbers that are not negative comes out no less than each of them,
// unless the numbers are scaled before.
func (p *pass) ratioShort(q *pattern.Ratio, f numfmt.Format) float64 {
	reads := q.Num
	if q.Kind == pattern.OfSpan { // differences of what is stored are rounded alike, and none of them to 0
		reads = q.Input
	}
	alike := p.storedIn(reads, f) && math.Abs(q.Coef) == 1
	switch {
	case q.Kind == pattern.OfMean || alike || q.Kind == pattern.OfSum && q.Whole && !(q.EpsMax && f.Bits() < 32): // a maximum is rounded by itself
		return 1
	case f.Bits() < 32 && rooted(q.Nodes): // a product that vanishes below the root may be of a large number
		return math.Inf(1)
	}
	return p.ratioLoss(q, f)
}

// powersShort is how many times longer than its norm of a high order an element may be: powers of small numbers lose
// digits, or vanish, where an ε is too small to make up for it.
func powersShort(q *pattern.Ratio) float64 {
	if q.Kind != pattern.OfAbs || q.Power <= 2 {
		return 1
	}
	return math.Max(1, quotient(math.Pow(0x1p-126, 1/q.Power), q.EpsValue))
}

// summable tells whether the numerator of a mean cannot overflow though it has no bound: it adds up unknown
// many of what is not large, in FP32. What is NaN stays NaN.
func (p *pass) summable(q *pattern.Ratio, in Range) bool {
	if q.Kind != pattern.OfMean || q.Power != 1 || q.Coef != 1 || len(q.Scales) > 0 {
		return false
	}
	top := in.MaxAbs()
	for _, w := range q.Weights {
		top *= math.Max(1, p.val(w).Hull().MaxAbs())
	}
	return top <= sumLimit
}

// crowded tells whether a node multiplies so many or so large operands that a product of some may overflow.
func (p *pass) crowded(n *graph.Node) bool {
	top := 1.0
	for _, in := range n.Inputs {
		top = product(top, math.Max(1, p.val(in).Hull().MaxAbs())*math.Max(1, float64(count(in.Type.Shape))))
	}
	return len(n.Inputs) > 2 && top > math.MaxFloat32
}

// pastNumbers tells whether the numerator of a quotient may be infinite where its denominator is not. A sum of
// large numbers is more than that of its weights, and overflows before where a result has 16 bits. f is the format
// with the fewest bits on the way.
func (p *pass) pastNumbers(q *pattern.Ratio, f numfmt.Format) bool {
	if p.grown(q) {
		return true
	}
	num := []*graph.Value{q.Num}
	if n := q.Output.Producer; n != nil && n.OpName() == "Div" && n.In(0) != nil {
		num = append(num, n.In(0))
	}
	over := slices.ContainsFunc(num, func(v *graph.Value) bool { return p.overflows(p.val(v), v) })
	ends := p.val(q.Num).basis != Unknown && p.ends(q.Denominator)
	return over && (q.Kind == pattern.OfMean && f.Bits() < 32 || ends || !p.val(q.Den).special())
}

// ends tells whether a value is cut off at the greatest number of its format though what it is made of may be
// infinite.
func (p *pass) ends(v *graph.Value) bool {
	if v == nil || v.Producer == nil || v.Producer.In(0) == nil || !p.val(v.Producer.In(0)).posInf {
		return false
	}
	return !p.val(v).posInf || v.Producer.OpName() == "Clip" && v.Producer.Version() < 11
}

// grown tells whether something that is divided, or made of the quotient, may overflow though the quotient does
// not: it is scaled by more than 1, or adds up more than the weights.
func (p *pass) grown(q *pattern.Ratio) bool {
	k := p.factors(q.Output, q.Coef, q.Scales).MaxAbs()
	if q.Kind == pattern.OfMean {
		k *= math.Max(1, math.Pow(p.averaged(q).MaxAbs(), q.Power))
	}
	if k <= 1 {
		return false
	}
	under := p.denominator(q)
	return slices.ContainsFunc(q.Nodes, func(n *graph.Node) bool {
		v := n.Out(0)
		return v != nil && v != q.Output && !under[v] && p.overflows(p.val(v), v)
	})
}

// denominator returns what divides a quotient, all that it is computed of and what is computed of it alone.
func (p *pass) denominator(q *pattern.Ratio) map[*graph.Value]bool {
	under := map[*graph.Value]bool{}
	for _, v := range behind(q.Den, nil) {
		under[v] = true
	}
	if q.Kind != pattern.OfMean { // what is divided is added up there
		under[q.Num] = true
	}
	alone := map[*graph.Value]bool{q.Den: true}
	for _, n := range q.Nodes {
		if !slices.ContainsFunc(n.Inputs, func(v *graph.Value) bool { return v != nil && v.Const == nil && !alone[v] }) {
			for _, v := range n.Outputs {
				under[v], alone[v] = true, true
			}
		}
	}
	return under
}

// nonNegatives tells whether none of some values holds a number below zero, or NaN.
func (p *pass) nonNegatives(list []*graph.Value) bool {
	return !slices.ContainsFunc(list, func(u *graph.Value) bool { return !(p.val(u).Hull().Lo >= 0) || p.val(u).nan })
}

// inUnit tells whether some values lie in [0, 1].
func (p *pass) inUnit(list []*graph.Value) bool {
	return !slices.ContainsFunc(list, func(u *graph.Value) bool {
		h := p.val(u).Hull()
		return !(h.Lo >= 0 && h.Hi <= 1+1e-6) || p.val(u).nan
	})
}

// sumLimit is what the elements of a sum over an unknown number may be without overflow in FP32: no
// memory holds as many as it would take.
const sumLimit = 1e22

// unknownSum is the relative error that a sum of an unknown number of elements is given.
const unknownSum = 1e-3

// crisp tells whether a mask is only read as true or false.
func (p *pass) crisp(w *graph.Value) bool { return w.Type.Elem == graph.Bool }

// positive tells whether all weights are above zero.
func (p *pass) positive(ws []*graph.Value) bool {
	for _, w := range ws {
		if p.val(w).Hull().Lo <= 0 {
			return false
		}
	}
	return true
}
