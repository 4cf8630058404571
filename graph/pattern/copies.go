package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// Patterns look through casts: a value and what is left of it in fewer bits are one to them. Where a
// pattern reads both, what it says of one number holds of two.

// Copies are what a pattern reads of a value in fewer bits than it has elsewhere in it.
type Copies struct {
	Values []*graph.Value // rounded copies
	Torn   bool           // the same was computed twice, in other types
}

// CopiesOf returns the copies that the pattern reads which v completes, nil where there are none.
func (s *Set) CopiesOf(v *graph.Value) *Copies { return s.copies[v] }

// findCopies looks for copies in the patterns found; only a model that casts to few bits has any.
func (f *finder) findCopies(m *graph.Model) {
	if !narrows(m) {
		return
	}
	f.copiesOfNorms()
	f.copiesOfSums()
	for _, r := range f.set.Ratios {
		f.copies(r.Output, slices.Concat([]*graph.Value{r.Input}, r.Others, r.Weights, r.Parts, r.Units), false)
		f.copies(r.Output, r.Scales, true)
		if r.Kind == OfMean {
			f.copies(r.Output, []*graph.Value{r.Input}, true)
		}
	}
	for v, b := range f.set.blends {
		f.copies(v, []*graph.Value{b.Weight}, false)
		f.copies(v, slices.Concat([]*graph.Value{b.Weight}, b.A, b.B), true)
	}
}

func (f *finder) copiesOfNorms() {
	for _, n := range f.set.Norms {
		f.copies(n.Output, []*graph.Value{n.Input}, false)
		f.copies(n.Output, slices.Concat(n.Scales, n.Biases), true)
		if n.Var != nil {
			f.copies(n.Var, []*graph.Value{n.Input}, false)
		}
	}
	for v, of := range f.set.spreads {
		f.copies(v, []*graph.Value{of}, false)
	}
}

func (f *finder) copiesOfSums() {
	for _, s := range f.set.Shifts {
		f.copies(s.Output, []*graph.Value{s.Input}, false)
	}
	for _, s := range f.set.ExpSums {
		for _, v := range []*graph.Value{s.Sum, s.Log, s.Output} {
			f.copies(v, []*graph.Value{s.Input}, false)
		}
	}
	for _, s := range f.set.Softmaxes {
		f.copies(s.Output, []*graph.Value{s.Input}, false)
	}
	for v, s := range f.set.shares {
		f.copies(v, []*graph.Value{s.Input}, false)
	}
	for v, of := range f.set.rises {
		f.copies(v, []*graph.Value{of}, false)
	}
	for v, of := range f.set.falls {
		f.copies(v, []*graph.Value{of}, false)
	}
	for v, g := range f.set.gaps {
		f.copies(v, []*graph.Value{g.Row}, false)
	}
	for v, c := range f.set.crests {
		f.copies(v, []*graph.Value{c.Input}, false)
	}
	for v, q := range f.set.portions {
		f.copies(v, q.inputs(), false)
	}
	for v, m := range f.set.merges {
		f.copies(v, m.inputs(), false)
	}
}

// narrows tells whether a model casts to floats of few bits, or from those of many.
func narrows(m *graph.Model) bool {
	for n := range m.Nodes() {
		if n.OpName() == "Cast" || n.OpName() == "CastLike" {
			x, y := n.In(0), n.Out(0)
			if x != nil && y != nil && y.Type.Elem.IsFloat() && (y.Type.Elem.Bits() < 32 || x.Type.Elem == graph.Double) {
				return true
			}
		}
	}
	return false
}

// copies notes what the pattern that v completes reads of values in fewer bits than elsewhere in it or,
// alone, in fewer than the value itself has.
func (f *finder) copies(v *graph.Value, of []*graph.Value, alone bool) {
	if v == nil {
		return
	}
	for _, from := range of {
		if from == nil {
			continue
		}
		ways := f.waysTo(v, from)
		switch {
		case alone:
			for _, way := range ways {
				if i := slices.Index(way, from); i >= 0 {
					f.addCopies(v, way[:i], from)
				}
			}
		case len(ways) > 1:
			f.parted(v, ways)
		}
	}
}

// parted notes the copies on ways that do not end in one value.
func (f *finder) parted(v *graph.Value, ways [][]*graph.Value) {
	shared := func(w *graph.Value) bool {
		return !slices.ContainsFunc(ways, func(way []*graph.Value) bool { return !slices.Contains(way, w) })
	}
	i := slices.IndexFunc(ways[0], shared)
	if i < 0 { // computed twice
		a := ways[0]
		for _, b := range ways {
			if !alike(a[len(a)-1], b[len(b)-1], alikeDepth) {
				f.copiesAt(v).Torn = true
			}
			f.addCopies(v, b, a[len(a)-1])
		}
		return
	}
	for _, way := range ways {
		f.addCopies(v, way[:slices.Index(way, ways[0][i])], ways[0][i])
	}
}

// addCopies notes those of some values that have other bits than what they are copies of, and not more.
func (f *finder) addCopies(v *graph.Value, ws []*graph.Value, of *graph.Value) {
	for _, w := range ws {
		t, own := w.Type.Elem, of.Type.Elem
		if t.IsFloat() && t != own && t.Bits() <= own.Bits() && (t.Bits() < 32 || own.IsFloat()) {
			f.copiesAt(v).Values = append(f.copiesAt(v).Values, w)
		}
	}
}

func (f *finder) copiesAt(v *graph.Value) *Copies {
	if f.set.copies[v] == nil {
		f.set.copies[v] = &Copies{}
	}
	return f.set.copies[v]
}

// maxReads is how many values of a pattern are looked at for what it reads, the nearest first.
const maxReads = 256

// waysTo lists for each read of a value, on the way back from v, the nodes that only hand it on: from what
// is read to where it comes from.
func (f *finder) waysTo(v, from *graph.Value) (ways [][]*graph.Value) {
	origin := f.same(from)
	seen := map[*graph.Value]bool{v: true}
	for list := []*graph.Value{v}; len(list) > 0 && len(seen) < maxReads; list = list[1:] {
		w := list[0]
		if w != v && f.same(w) == origin {
			ways = append(ways, f.way(w))
			continue
		}
		if w.Producer == nil || w.Const != nil {
			continue
		}
		for _, in := range w.Producer.Inputs {
			if in != nil && !seen[in] {
				seen[in] = true
				list = append(list, in)
			}
		}
	}
	return ways
}

// way follows a value through nodes that change no number.
func (f *finder) way(v *graph.Value) (list []*graph.Value) {
	for ; v != nil; v = f.step(v) {
		list = append(list, v)
	}
	return list
}

// alikeDepth is how far back two computations are compared.
const alikeDepth = 12

// alike tells whether two values are computed in the same types from the same ones.
func alike(a, b *graph.Value, depth int) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.Type.Elem != b.Type.Elem {
		return false
	}
	if a.Const != nil && b.Const != nil {
		return true // of one name
	}
	n, m := a.Producer, b.Producer
	if depth == 0 || n == nil || m == nil || n.OpName() != m.OpName() || len(n.Inputs) != len(m.Inputs) {
		return false
	}
	same := func(i, j int) bool { return alike(n.Inputs[i], m.Inputs[j], depth-1) }
	all := true
	for i := range n.Inputs {
		all = all && same(i, i)
	}
	return all || len(n.Inputs) == 2 && same(0, 1) && same(1, 0)
}
