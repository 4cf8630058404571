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
		x, m, as := f.below1(s, length)
		if x == nil || !f.facesLength(s, h.base, as, g.base) {
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

// facesLength tells whether a length divides the sums of the rows that it is the length of: num are the sums, of what
// the mask m is a factor of, and den is the length.
func (f *finder) facesLength(s *reduction, num, m, den *graph.Value) bool {
	cond, _ := f.unturned(m)
	rows, ok := s.origins(num.Type.Shape)
	if !ok || cond.Producer == nil || len(cond.Producer.Inputs) != 2 {
		return false
	}
	length := f.truth(f.stripEps(den).of)
	end := cond.Producer.In(0)
	if f.truth(end) != length {
		end = cond.Producer.In(1)
	}
	of, off := s.operand(), len(s.operand())-len(m.Type.Shape)
	faced, ok := matched(den.Type.Shape, end.Type.Shape, long(end.Type.Shape))
	if !ok || off < 0 {
		return false
	}
	for i, axis := range faced {
		at := len(rows) - len(faced) + i
		if axis < 0 {
			continue
		}
		place1, ok := place(axis, end.Type.Shape, cond.Type.Shape)
		place2, ok2 := place(place1, cond.Type.Shape, m.Type.Shape)
		if !ok || !ok2 || at < 0 || rows[at] != place2+off || of[place2+off] != den.Type.Shape[i] {
			return false
		}
	}
	return true
}

// below1 reads what a sum adds up as m·x or Where(m, x, 0) for a mask of the positions below a length. The mask is as
// it stands there.
func (f *finder) below1(s *reduction, length *graph.Value) (x, m, as *graph.Value) {
	if n := s.of.Producer; n != nil && n.OpName() == "Where" && n.In(0) != nil && n.In(1) != nil && n.In(2) != nil {
		if x, turned, ok := f.picked(n); ok && f.positionsBelow(n.In(0), turned, s, length) {
			return x, f.untyped(n.In(0)), n.In(0)
		}
		return nil, nil, nil
	}
	p := f.product(s.of)
	for _, g := range p.factors {
		m := f.truth(g.base)
		if m == nil || g.pow != 1 || !f.positionsBelow(m, false, s, length) {
			continue
		}
		left := p.without(g.base, 1)
		if x, ok := left.single(1); ok && left.coef == 1 {
			return x, m, g.base
		}
	}
	return nil, nil, nil
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
	d, ok := lone(v.Type.Shape)
	if !ok {
		return d, false
	}
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

// lone returns the only dimension of a shape that is not 1.
func lone(s graph.Shape) (d graph.Dim, ok bool) {
	for _, e := range s {
		if e == (graph.Dim{N: 1}) {
			continue
		}
		if ok {
			return graph.Dim{}, false
		}
		d, ok = e, true
	}
	return d, ok
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
