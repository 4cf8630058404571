package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
)

// portions bounds a mean by weights in parts by the hull of what they weigh.
func (p *pass) portions(q *pattern.Portions, x *Val) *Val {
	e, less, ok := p.weighing(q)
	if !ok || len(p.copies(q.Output)) > 0 {
		return x
	}
	r := Range{math.Inf(1), math.Inf(-1)}
	for i, of := range q.Of {
		r = r.join(p.factors(q.Output, q.Coefs[i], of))
	}
	if less {
		r = r.join(Range{})
	}
	r = mul(r, p.factors(q.Output, q.Coef, q.Scales))
	e = e*r.MaxAbs() + p.least(q.Output)*float64(len(q.Of))
	return x.limit(Range{r.Lo - e, r.Hi + e}, 0)
}

// weighing tells how far a mean by weights may be off, as a share of what is weighed, and whether the weights may
// be less than 1 together; ok is false where they may be more, or below zero.
func (p *pass) weighing(q *pattern.Portions) (e float64, less, ok bool) {
	unit := p.unitBehind(q.Output, nil)
	if row := q.Row; row != nil {
		s := p.val(row).shares
		if s.axis == 0 || s.axis != len(row.Type.Shape)-q.Axis || p.val(row).nan {
			return 0, false, false
		}
		return s.missing(float64(row.Type.Shape[q.Axis].N), 2*unit), s.most || !q.Whole, true
	}
	// In few bits weights vanish, and with them their sum.
	if unit > accumUnit || !p.nonNegatives(q.Over) || q.Num != nil && p.spills(q) {
		return 0, false, false
	}
	return 16 * float64(len(q.Over)) * unit, q.Eps > 0 || !q.Whole || !p.positive(q.Over) || p.val(q.Sum).posInf, true
}

// spills tells whether a sum of products may be infinite before it is divided.
func (p *pass) spills(q *pattern.Portions) bool {
	return p.overflows(p.val(q.Num), q.Num) || p.val(q.Num).special() || p.largest(q.Over)*p.largest(slices.Concat(q.Of...)) > sumLimit
}

// largest is the largest magnitude of values, and at least 1.
func (p *pass) largest(vs []*graph.Value) float64 {
	m := 1.0
	for _, v := range vs {
		m = math.Max(m, p.val(v).Hull().MaxAbs())
	}
	return m
}
