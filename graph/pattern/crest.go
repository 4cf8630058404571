package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// Crest is a - max(a, b, …), element by element: never above zero, and zero wherever a is the largest.
type Crest struct {
	Input  *graph.Value   // a
	Others []*graph.Value // b, …
	Max    *graph.Value
	Output *graph.Value
}

// Merge is c·exp(a - m) + d·exp(b - m) + … for m = max(a, b, …), as sums of exponentials are joined that
// were taken apart: one of the exponentials is 1. A nil factor is 1.
type Merge struct {
	Of []*Crest       // a - m, b - m, …
	By []*graph.Value // c, d, …
}

// inputs lists what is compared.
func (m *Merge) inputs() (list []*graph.Value) {
	for _, c := range m.Of {
		list = append(list, c.Input)
	}
	return list
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

// merge reads a sum of exponentials below their maximum, each with a factor or without.
func (f *finder) merge(v *graph.Value) {
	if op := v.Producer.OpName(); op != "Add" && op != "Sum" {
		return
	}
	list, constant := f.terms(v)
	m := &Merge{}
	for _, t := range list {
		c, by := f.weighed(t.value)
		if c == nil || t.sign < 0 {
			return
		}
		m.Of, m.By = append(m.Of, c), append(m.By, by)
	}
	if len(list) > 1 && len(list) <= maxParts && constant >= 0 && f.facing(m.Of) {
		f.set.merges[v] = m
	}
}

// facing tells whether all that is compared with each other are the inputs of some differences from one maximum.
func (f *finder) facing(of []*Crest) bool {
	for _, c := range of {
		if c.Max != of[0].Max {
			return false
		}
		for _, o := range c.Others {
			if !slices.ContainsFunc(of, func(d *Crest) bool { return f.same(d.Input) == f.same(o) }) {
				return false
			}
		}
	}
	return true
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

// Merge returns the sum of exponentials below their maximum that v is, or nil.
func (s *Set) Merge(v *graph.Value) *Merge { return s.merges[v] }
