// Package diff compares the structure of two models: nodes, types, constants, inputs and outputs.
package diff

import (
	"strconv"

	"github.com/amplint/amplint/graph"
)

// Change tells on which side something stands.
type Change uint8

// The changes. The zero value is none.
const (
	_ Change = iota
	Added
	Removed
	Changed
)

// String returns the change as reports have it.
func (c Change) String() string { return [...]string{"", "added", "removed", "changed"}[c] }

// Node is a node that only one model has, or that both have and that differs.
type Node struct {
	Change  Change
	Key, Op string   // of the second model where it has the node
	Details []string // of a changed node: what differs
}

// Type is something whose type or version differs: a value, an input, an output, an opset. Before or
// After is empty where only one model has it.
type Type struct{ Name, Before, After string }

// Const is a constant of the file that differs: an initializer, or what a Constant node makes.
type Const struct {
	Change        Change
	Name          string
	Before, After string // types
	// Differing counts the elements that are another number, Lost those of them that became 0 or are
	// not finite any more. Largest is the largest difference of finite elements.
	Differing, Lost int64
	Largest         float64
	Elements        int64
}

// Result is how two models differ. Nodes and values of functions are those of their instances.
type Result struct {
	Opsets          []Type
	Inputs, Outputs []Type
	Nodes           []Node
	Types           []Type // of values that both models have
	Consts          []Const
	// CastsBefore and CastsAfter count the Cast nodes.
	CastsBefore, CastsAfter int
}

// Same tells whether nothing differs.
func (r *Result) Same() bool {
	return len(r.Opsets)+len(r.Inputs)+len(r.Outputs)+len(r.Nodes)+len(r.Types)+len(r.Consts) == 0
}

// Models compares two models whose types have been inferred. Nodes go by their keys; a nameless node
// whose first output was renamed, as happens where a cast takes its name, is found again.
func Models(a, b *graph.Model) (*Result, error) {
	r := &Result{CastsBefore: casts(a), CastsAfter: casts(b)}
	r.Opsets = types(opsets(a), opsets(b))
	r.Inputs = types(ends(a.Graph.Inputs), ends(b.Graph.Inputs))
	r.Outputs = types(ends(a.Graph.Outputs), ends(b.Graph.Outputs))
	r.nodes(pairs(a, b))
	r.values(a, b)
	return r, r.consts(a, b)
}

func casts(m *graph.Model) (count int) {
	for n := range m.Nodes() {
		if n.OpName() == "Cast" {
			count++
		}
	}
	return count
}

// list is an ordered map from names to types.
type list struct {
	names []string
	types map[string]string
}

func (l *list) add(name, typ string) {
	if l.types == nil {
		l.types = map[string]string{}
	}
	if _, twice := l.types[name]; !twice {
		l.names = append(l.names, name)
		l.types[name] = typ
	}
}

func opsets(m *graph.Model) (l list) {
	l.add("ir_version", strconv.FormatInt(m.IRVersion, 10))
	for _, o := range m.Opsets {
		name := o.Domain
		if name == "" {
			name = "ai.onnx"
		}
		l.add(name, strconv.FormatInt(o.Version, 10))
	}
	return l
}

func ends(values []*graph.Value) (l list) {
	for _, v := range values {
		l.add(v.Name, v.Type.String())
	}
	return l
}

// types lists what two lists have differently, in the order of the first, then of the second.
func types(a, b list) (found []Type) {
	for _, name := range a.names {
		if a.types[name] != b.types[name] {
			found = append(found, Type{name, a.types[name], b.types[name]})
		}
	}
	for _, name := range b.names {
		if _, both := a.types[name]; !both {
			found = append(found, Type{name, "", b.types[name]})
		}
	}
	return found
}

// values compares the element types of the values of one name that nodes make.
func (r *Result) values(a, b *graph.Model) {
	x, y := made(a), made(b)
	for _, t := range types(x, y) {
		if t.Before != "" && t.After != "" {
			r.Types = append(r.Types, t)
		}
	}
}

func made(m *graph.Model) (l list) {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if v.Producer != nil && !isConstant(v.Producer) {
				l.add(v.Key(), elem(v.Type))
			}
		}
	}
	return l
}

// elem names the element type of a value; shapes may be known better on one side.
func elem(t graph.Type) string {
	if t.Kind == graph.KindTensor {
		return t.Elem.String()
	}
	return t.String()
}
