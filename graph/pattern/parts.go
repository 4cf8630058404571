package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// maxParts bounds the sums whose terms are compared with each other.
const maxParts = 5

// parts reads (Σ ±t) / (Σ u + c) where each t is one of the u, at most as large as one, or summed up in
// one. Where no u is negative the quotient lies in [-1, 1], and in [0, 1] where no t is subtracted:
// (a-b)/(a+b), x/(x+1), x/(1+|x|), shares of a sum that a mask keeps from vanishing.
func (f *finder) parts(v, num, den *graph.Value) {
	if v.Type.Shape == nil || !settled(v.Type.Shape) {
		return
	}
	den = f.same(den)
	below, k := den, 1.0
	if p := f.product(den); p.coef > 0 {
		if base, ok := p.single(1); ok && slices.Equal(base.Type.Shape, den.Type.Shape) {
			below, k = base, p.coef
		}
	}
	ts, ct := f.terms(num)
	us, cu := f.terms(below)
	if len(ts) == 0 || len(ts) > len(us) || len(us) > maxParts || cu < 0 || ct > cu || -ct > cu {
		return
	}
	q := &Ratio{Kind: OfTerms, Num: num, Den: den, Denominator: den, Input: num, Output: v, Coef: 1 / k, EpsValue: cu, Signed: ct < 0}
	for _, u := range us {
		if u.sign < 0 {
			return
		}
		q.Parts = append(q.Parts, u.value)
	}
	taken := make([]bool, len(us))
	for _, t := range ts {
		if !f.takePart(q, t, us, taken) {
			return
		}
	}
	q.Nodes = f.between(v, ts[0].value)
	f.addRatio(q)
}

// takePart finds the term of the denominator that bounds a term of the numerator.
func (f *finder) takePart(q *Ratio, t term, us []term, taken []bool) bool {
	for i, u := range us {
		if taken[i] {
			continue
		}
		part, magnitude := f.bounds(u, t)
		if part == nil && !magnitude {
			continue
		}
		taken[i] = true
		q.Signed = q.Signed || t.sign < 0 || magnitude
		if part != nil {
			q.Parts = append(q.Parts, part)
		}
		return true
	}
	return false
}

// bounds tells that u is at least t where the value returned, t itself, is not negative, or that u is at
// least the magnitude of t.
func (f *finder) bounds(u, t term) (part *graph.Value, magnitude bool) {
	if u.value == t.value || u.equal(t.product) && len(t.factors) == 1 && t.factors[0].pow == 1 && t.coef > 0 && u.coef >= t.coef {
		return t.value, false
	}
	if a := u.value.Producer; a != nil && a.OpName() == "Abs" && a.In(0) != nil && f.same(a.In(0)) == t.value {
		return nil, true
	}
	r, coef, _, ok := f.average(u.value)
	if !ok || r.op != "Sum" && r.op != "Mean" && r.op != "Max" || coef < 1 || f.same(r.of) != t.value || !r.aligned(u.value) {
		return nil, false
	}
	return t.value, false
}
