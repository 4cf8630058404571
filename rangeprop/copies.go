package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
)

// What patterns say of a value that they read as it is here, and rounded to fewer bits there.

// parted tells whether nothing holds of the pattern that v completes: what it takes for one value was
// computed twice, or a copy of it may overflow.
func (p *pass) parted(v *graph.Value) bool {
	c := p.facts.CopiesOf(v)
	if c == nil {
		return false
	}
	for _, w := range c.Values {
		if p.val(w).special() {
			return true
		}
	}
	return c.Torn
}

// copies lists the rounded copies that the pattern reads which v completes.
func (p *pass) copies(v *graph.Value) []*graph.Value {
	if c := p.facts.CopiesOf(v); c != nil {
		return c.Values
	}
	return nil
}

// copied is how far a copy in the pattern of v is from what it is a copy of: relative, and the least
// number that it holds, 0 where there is no copy. A copy may itself be one of a copy.
func (p *pass) copied(v *graph.Value) (relative, least float64) {
	for _, w := range p.copies(v) {
		f, ok := held(w.Type.Elem)
		if !ok {
			return math.Inf(1), math.Inf(1)
		}
		relative, least = math.Max(relative, 4*f.Unit()), math.Max(least, 2*f.MinSubnormal())
	}
	return relative, least
}

// asCopied is a bound of what a pattern reads of a value in the formats of its copies; rounding is monotone.
func (p *pass) asCopied(v *graph.Value, r Range) Range {
	for _, w := range p.copies(v) {
		if f, ok := held(w.Type.Elem); ok && f != numfmt.FP64 {
			r = r.join(Range{f.Round(r.Lo), f.Round(r.Hi)})
		}
	}
	return r
}

// normCopied is the bound of a normalised value some reads of which are of copies: a copy is off by a part
// of the number and by the least number, which the least root makes larger; of differences from a mean it
// is the numbers before that count.
func (p *pass) normCopied(n *pattern.Norm, bound float64) float64 {
	relative, least := p.copied(n.Output)
	if relative == 0 {
		return bound
	}
	root := leastRoot(n)
	if n.Kind != pattern.LayerNorm {
		return bound*(1+relative) + quotient(least, root)
	}
	return bound + quotient(relative*p.val(n.Input).Hull().MaxAbs()+least, root)
}

// ratioCopied is the bound of a quotient some reads of which are of copies, ok is false where they leave none.
func (p *pass) ratioCopied(q *pattern.Ratio, r Range) (Range, bool) {
	relative, least := p.copied(q.Output)
	if relative == 0 {
		return r, true
	}
	den := q.Denominator
	if den == nil {
		den = q.Den
	}
	h := p.val(den).Hull()
	low := math.Max(h.Lo, -h.Hi)
	if !(low > 0) || q.Root {
		return r, false
	}
	e := relative*r.MaxAbs() + least/low
	switch q.Kind {
	case pattern.OfSum, pattern.OfAbs, pattern.OfMax:
	case pattern.OfMean:
		if q.Count <= 0 || q.Power != 1 || q.Products {
			return r, false
		}
		e = r.MaxAbs() * (relative + float64(q.Count)*least/low)
	case pattern.OfSpan:
		e = (relative*p.val(q.Input).Hull().MaxAbs() + least) / low
	case pattern.OfPart, pattern.OfTerms, pattern.OfCount, pattern.OfHarmonic:
		return r, false
	}
	return Range{r.Lo - e, r.Hi + e}, !math.IsInf(e, 0)
}
