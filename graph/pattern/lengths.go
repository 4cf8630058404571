package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// byLength reads Σ(m·x) / l for a mask m that is true at the positions below l: no more of them are summed
// than l says, and none where l is not above 0. g is the factor of v, read as the product p, that divides.
func (f *finder) byLength(v *graph.Value, p *product, g factor) bool {
	e := f.stripEps(g.base)
	length := f.truth(e.of)
	if g.pow != -1 || length == nil || length.Type.Elem == graph.Bool {
		return false
	}
	rest := p.without(g.base, g.pow)
	for _, h := range rest.factors {
		s, ok := f.reduction(h.base)
		if !ok || h.pow != 1 || s.op != "Sum" {
			continue
		}
		x, m := f.below1(s, length)
		if x == nil {
			continue
		}
		left := rest.without(h.base, 1)
		if scales, ok := f.values(left); ok {
			q := &Ratio{Kind: OfMean, Power: 1, Counted: true, Capped: true, Num: h.base, Input: x, Weights: []*graph.Value{m}, Den: length, Denominator: e.shifted,
				Output: v, Coef: left.coef, Scales: scales, EpsValue: e.value, EpsMax: e.max, Nodes: f.between(v, x)}
			f.addRatio(q)
			return true
		}
	}
	return false
}

// below1 reads what a sum adds up as m·x or Where(m, x, 0) for a mask of the positions below a length.
func (f *finder) below1(s *reduction, length *graph.Value) (x, m *graph.Value) {
	if n := s.of.Producer; n != nil && n.OpName() == "Where" && n.In(0) != nil && n.In(1) != nil && n.In(2) != nil {
		if x, turned, ok := f.picked(n); ok && f.positionsBelow(n.In(0), turned, s, length) {
			return x, f.untyped(n.In(0))
		}
		return nil, nil
	}
	p := f.product(s.of)
	for _, g := range p.factors {
		m := f.truth(g.base)
		if m == nil || g.pow != 1 || !f.positionsBelow(m, false, s, length) {
			continue
		}
		left := p.without(g.base, 1)
		if x, ok := left.single(1); ok && left.coef == 1 {
			return x, m
		}
	}
	return nil, nil
}

// positionsBelow tells whether a mask, or its contrary, is true at positions below a length, counted along the
// axis that is summed over.
func (f *finder) positionsBelow(m *graph.Value, turned bool, s *reduction, length *graph.Value) bool {
	m, back := f.unturned(m)
	n := m.Producer
	if n == nil || len(n.Inputs) != 2 || n.In(0) == nil || n.In(1) == nil {
		return false
	}
	turned = turned != back
	at, end := n.In(0), n.In(1)
	switch n.OpName() {
	case "Less", "GreaterOrEqual":
	case "Greater", "LessOrEqual":
		at, end = end, at
	default:
		return false
	}
	if wants := n.Op == "GreaterOrEqual" || n.Op == "LessOrEqual"; turned != wants {
		return false
	}
	d, ok := f.positions(at)
	return ok && f.truth(end) == length && slices.Equal(s.dims(), graph.Shape{d}) && once(s.of.Type.Shape, d)
}

// positions reads whole numbers from 0 or above, none of them twice, along the one dimension it returns.
func (f *finder) positions(v *graph.Value) (graph.Dim, bool) {
	if w := f.truth(v); w != nil { // a cast that wraps around is none of those that are looked through
		v = w
	}
	v = f.shaped(v)
	if len(v.Type.Shape) != 1 {
		return graph.Dim{}, false
	}
	d := v.Type.Shape[0]
	n := v.Producer
	switch {
	case !d.Known() && d.Sym == "":
		return d, false
	case v.Const != nil:
		return d, rising(v.Const)
	case n == nil || n.OpName() != "Range":
		return d, false
	}
	from, ok := f.number1(f.orNil(n.In(0)))
	by, ok2 := f.number1(f.orNil(n.In(2)))
	return d, ok && ok2 && from >= 0 && by >= 1
}

// maxPositions bounds the tables of positions that are looked at.
const maxPositions = 1 << 16

// rising tells whether a table counts up from 0 or above, by 1 or more each time.
func rising(t *graph.Tensor) bool {
	if t.Len() > maxPositions {
		return false
	}
	x, err := t.Float64s()
	for i, c := range x {
		if c < 0 || i > 0 && c < x[i-1]+1 {
			return false
		}
	}
	return err == nil
}

// once tells whether a shape has a dimension exactly once.
func once(s graph.Shape, d graph.Dim) bool {
	n := 0
	for _, e := range s {
		if e == d {
			n++
		}
	}
	return n == 1
}
