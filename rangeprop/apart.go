package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
)

// apart meets differences from a rounded number and from a mean, and weighted variances, with what they are.
func (p *pass) apart(v *graph.Value, x *Val) *Val {
	if m := p.facts.Remainder(v); m != nil {
		x = p.remainder(m, v, x)
	}
	if c := p.facts.Centered(v); c != nil {
		x = p.centered(c, x)
	}
	if s := p.facts.WeightedSpread(v); s != nil {
		x = p.weightedSpread(s, v, x)
	}
	return x
}

// remainder: x - floor(x) is exact. A quotient by another step is rounded, and may lie on the other side of a
// whole number.
func (p *pass) remainder(m *pattern.Remainder, v *graph.Value, x *Val) *Val {
	in := p.val(m.Of)
	if in.nan || in.special() || p.unitBehind(v, nil) > accumUnit {
		return x
	}
	e := (16*accumUnit + m.Off) * in.Hull().MaxAbs()
	if m.Step == 1 && m.Off == 0 {
		e = 0
	}
	return x.limit(Range{m.Step*m.Low - e, m.Step*m.High + e}, 0)
}

// centered: an element lies no further from the mean than (n-1)/n of the spread, since it is one of n itself.
func (p *pass) centered(c *pattern.Centered, x *Val) *Val {
	in := p.val(c.Input)
	h, n := in.Hull(), float64(c.Count)
	if in.special() || !(h.MaxAbs() <= sumLimit) || p.unitBehind(c.Output, c.Input) > accumUnit {
		return x
	}
	m := (h.Hi-h.Lo)*(n-1)/n + (n+8)*accumUnit*h.MaxAbs()
	return x.limit(Range{-m, m}, 0)
}

// weightedSpread bounds a weighted variance by a quarter of the square of the spread (Popoviciu). Weights that are
// less than 1 together leave the rest to 0, which x - m then counts for nothing.
func (p *pass) weightedSpread(s *pattern.WeightedSpread, v *graph.Value, x *Val) *Val {
	in, shared := p.val(s.Input), true
	if s.Weights != nil {
		shared = p.val(s.Weights).shares.axis == len(s.Weights.Type.Shape)-s.Axis && !p.val(s.Weights).nan
	}
	h := in.Hull().join(Range{})
	if q := p.facts.Ratio(v); q != nil {
		shared = p.nonNegatives(q.Weights)
	}
	if !shared || in.nan || in.special() || !(h.MaxAbs() <= sumLimit/h.MaxAbs()) || p.unitBehind(v, nil) > accumUnit {
		return x
	}
	// The mean is off by what its sum is rounded by, and so is the sum of the squares.
	n := float64(unknownCount)
	if k := count(s.Input.Type.Shape); k > 0 {
		n = math.Min(n, float64(k))
	}
	e := (8 + 4*math.Min(n, 1<<16)) * accumUnit * h.MaxAbs() * h.MaxAbs() * 4
	return x.limit(Range{0, (h.Hi-h.Lo)*(h.Hi-h.Lo)/4 + e}, 0)
}
