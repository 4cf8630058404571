package pattern

import "github.com/amplint/amplint/graph"

// Crest is a - max(a, b, …), element by element: never above zero, and zero wherever a is the largest.
type Crest struct {
	Input  *graph.Value   // a
	Others []*graph.Value // b, …
	Max    *graph.Value
	Output *graph.Value
}

// Merge is c·exp(a - m) + d·exp(b - m) for m = max(a, b), as sums of exponentials are joined that
// were taken apart: one of the exponentials is 1. A nil factor is 1.
type Merge struct {
	A, B *Crest
	C, D *graph.Value
}

// crest reads x - m where x is one of the operands of a Max that gives m.
func (f *finder) crest(v, x, m *graph.Value) {
	max := f.same(m).Producer
	if max == nil || max.OpName() != "Max" || len(max.Inputs) < 2 {
		return
	}
	c := &Crest{Input: x, Max: f.same(m), Output: v}
	for _, in := range max.Inputs {
		switch {
		case in == nil:
			return
		case f.same(in) != f.same(x):
			c.Others = append(c.Others, in)
		}
	}
	if len(c.Others) < len(max.Inputs) {
		f.set.crests[v] = c
	}
}

// merge reads the sum of two exponentials below their maximum, each with a factor or without.
func (f *finder) merge(v *graph.Value) {
	n := v.Producer
	if n.OpName() != "Add" && n.OpName() != "Sum" || len(n.Inputs) != 2 || n.In(1) == nil {
		return
	}
	a, c := f.weighed(n.In(0))
	b, d := f.weighed(n.In(1))
	if a != nil && b != nil && a.Max == b.Max && f.facing(a, b) && f.facing(b, a) {
		f.set.merges[v] = &Merge{A: a, B: b, C: c, D: d}
	}
}

// facing tells whether all that one is compared with is the other.
func (f *finder) facing(a, b *Crest) bool {
	return len(a.Others) == 1 && f.same(a.Others[0]) == f.same(b.Input)
}

// weighed reads exp(a - m), or its product with one value.
func (f *finder) weighed(v *graph.Value) (*Crest, *graph.Value) {
	n := f.same(v).Producer
	if c := f.crestBelow(n); c != nil {
		return c, nil
	}
	if n == nil || n.OpName() != "Mul" || n.In(0) == nil || n.In(1) == nil {
		return nil, nil
	}
	for i, in := range n.Inputs {
		if c := f.crestBelow(f.same(in).Producer); c != nil {
			return c, n.In(1 - i)
		}
	}
	return nil, nil
}

// crestBelow returns what a node takes the exponential of, where that is a difference from a maximum.
func (f *finder) crestBelow(n *graph.Node) *Crest {
	if n == nil || n.OpName() != "Exp" || n.In(0) == nil {
		return nil
	}
	return f.set.crests[f.same(n.In(0))]
}

// Crest returns the difference from a maximum of several values that v is, or nil.
func (s *Set) Crest(v *graph.Value) *Crest { return s.crests[v] }

// Merge returns the sum of two exponentials below their maximum that v is, or nil.
func (s *Set) Merge(v *graph.Value) *Merge { return s.merges[v] }
