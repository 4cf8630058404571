package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// length is the length of the rows of a value, and where its axes stand in what it divides.
type length struct {
	*denominator
	of   *graph.Value
	coef float64     // what the length is divided by to be that of the value
	at   map[int]int // from axes of the value to places, counted from the last
}

// angles reads Σ x·y / (‖x‖·‖y‖) where matrix products or an Einsum add up, or where the lengths meet as rows and
// columns: every element is the cosine of the angle between one row of x and one of y.
func (f *finder) angles(v, _, _ *graph.Value) {
	if !settled(v.Type.Shape) {
		return
	}
	p := f.product(v)
	var both []length
	rest, coef := p, 1.0
	for _, g := range p.factors {
		if list, by := f.lengthsIn(g); len(both)+len(list) <= 2 && len(list) > 0 {
			both, rest, coef = append(both, list...), rest.without(g.base, g.pow), coef*by
		}
	}
	if len(both) != 2 {
		return
	}
	for _, h := range rest.factors {
		scales, ok := f.values(rest.without(h.base, 1))
		by, count := f.dots(h.base, both)
		if h.pow != 1 || !ok || by == 0 {
			continue
		}
		parts := []*graph.Value{both[0].of, both[1].of}
		f.addRatio(&Ratio{Kind: OfAbs, Num: h.base, Den: both[1].of, Input: both[0].of, Output: v, Coef: rest.coef * coef * by, Scales: scales, Parts: parts,
			Count: count, Nodes: f.betweenAll(v, parts...)})
		return
	}
}

// lengthsIn reads a factor as the reciprocal of lengths, or of their product, that an ε may keep from vanishing. In
// by stands what they are multiplied with.
func (f *finder) lengthsIn(g factor) (list []length, by float64) {
	if g.pow != -1 && g.pow != -0.5 || !settled(g.base.Type.Shape) {
		return nil, 0
	}
	e := f.stripEps(g.base)
	inner, pow, by := f.expand(factor{e.of, 1})
	total := pow * g.pow
	if !(by > 0) || total != -1 && total != -0.5 {
		return nil, 0
	}
	s := &summing{f: f, inside: map[*graph.Value]bool{}, stop: func(v *graph.Value) bool {
		_, ok := f.denominator(factor{v, total})
		return ok
	}}
	w, ok := s.read(inner, maxSummed)
	if w = w.restated(g.base.Type.Shape); !ok || w == nil || !(w.coef > 0) {
		return nil, 0
	}
	if low := math.Pow(e.value, -g.pow); len(w.factors) > 1 && low < least && (e.max || e.value > 0) {
		return nil, 0
	}
	for _, leaf := range w.factors {
		l, ok := f.lengthAt(leaf, total, w.out)
		if !ok {
			return nil, 0
		}
		list = append(list, l)
	}
	return list, math.Pow(by, g.pow) * math.Pow(w.coef, total)
}

// lengthAt reads a factor of a divisor as the length of rows, none of which is summed over.
func (f *finder) lengthAt(leaf indexed, pow float64, out []int) (l length, ok bool) {
	d, ok := f.denominator(factor{leaf.value, pow})
	if !ok || d.mid != nil || !(d.coef > 0) || !slices.Equal(d.sum.of.Type.Shape, d.operand.Type.Shape) {
		return l, false
	}
	from, ok := d.sum.origins(leaf.value.Type.Shape)
	l = length{denominator: d, of: f.same(d.operand), coef: d.outer / math.Sqrt(d.coef), at: map[int]int{}}
	for i, axis := range from {
		if axis < 0 {
			continue
		}
		place := slices.Index(out, leaf.axes[i])
		if place < 0 || leaf.axes[i] == 0 {
			return l, false
		}
		if !d.sum.reduces(axis) {
			l.at[axis] = len(out) - 1 - place
		}
	}
	return l, ok
}

// dots reads v as a multiple of sums of products of the rows whose lengths are given, each element of them meeting the
// lengths of its own rows. by is the multiple of their cosine, 0 where v is no such sum.
func (f *finder) dots(v *graph.Value, both []length) (by float64, count int64) {
	s := &summing{f: f, inside: map[*graph.Value]bool{both[0].of: true, both[1].of: true}}
	w, ok := s.read(v, maxSummed)
	if !ok || len(w.factors) != 2 {
		return 0, 0
	}
	a, b := w.factors[0], w.factors[1]
	if !slices.Equal(w.summed(a), w.summed(b)) {
		return 0, 0
	}
	for range 2 {
		if both[0].covers(a, w.out) && both[1].covers(b, w.out) {
			return w.coef * both[0].coef * both[1].coef, both[0].sum.count
		}
		a, b = b, a
	}
	return 0, 0
}

// summed lists the axes of a factor that the result does not have.
func (w *summed) summed(g indexed) (axes []int) {
	for _, x := range g.axes {
		if x != 0 && !slices.Contains(w.out, x) {
			axes = append(axes, x)
		}
	}
	slices.Sort(axes)
	return axes
}

// covers tells whether a factor of a sum of products is the value whose rows are measured: the sum runs over the rows,
// and every other axis stands where it does in the lengths.
func (l length) covers(g indexed, out []int) bool {
	if g.value != l.of {
		return false
	}
	for axis, x := range g.axes {
		place := slices.Index(out, x)
		switch at, kept := l.at[axis]; {
		case x == 0:
		case l.sum.reduces(axis):
			if place >= 0 {
				return false
			}
		case place < 0 || !kept || at != len(out)-1-place:
			return false
		}
	}
	return true
}
