package rewrite

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
)

// relocate translates the edits to the copy, whose graphs list values and nodes in the same order.
func (w *worker) relocate(m *graph.Model) error {
	r := relocation{map[*graph.Value]*graph.Value{}, map[*graph.Node]*graph.Node{}}
	var copies []*graph.Graph
	for g := range w.m.Graphs() {
		copies = append(copies, g)
	}
	for g := range m.Graphs() {
		for i, v := range g.Values {
			r.values[v] = copies[0].Values[i]
			w.origin[copies[0].Values[i]] = v
		}
		for i, n := range g.Nodes {
			r.nodes[n] = copies[0].Nodes[i]
			if w.plan.Leave != nil && w.plan.Leave(n) {
				w.leave[copies[0].Nodes[i]] = true
			}
		}
		copies = copies[1:]
	}
	for _, e := range w.plan.Edits {
		moved, ok := r.edit(e)
		if !ok {
			return fmt.Errorf("an edit speaks of a value or node of another model")
		}
		w.edits = append(w.edits, moved)
	}
	return nil
}

// relocation maps the values and nodes of a model to those of its copy.
type relocation struct {
	values map[*graph.Value]*graph.Value
	nodes  map[*graph.Node]*graph.Node
}

// edit returns an edit of the copy; ok is false where the model has no such value or node.
func (r relocation) edit(e Edit) (moved Edit, ok bool) {
	switch e := e.(type) {
	case Widen:
		v := r.values[e.Value]
		return Widen{v}, v != nil
	case KeepFP32:
		n := r.nodes[e.Node]
		return KeepFP32{n}, n != nil
	case ToBF16:
		v := r.values[e.Value]
		return ToBF16{v}, v != nil
	case Replace:
		v := r.values[e.Value]
		inputs := make([]*graph.Value, len(e.Inputs))
		for i, in := range e.Inputs {
			inputs[i] = r.values[in]
		}
		return Replace{v, e.Op, inputs, e.Consts, e.Attrs}, v != nil && !slices.Contains(inputs, nil)
	case Rescale:
		p, s := r.nodes[e.Product], r.nodes[e.Scale]
		return Rescale{p, s, e.Power}, p != nil && s != nil
	case RescaleSquare:
		n := r.nodes[e.Square]
		return RescaleSquare{n, e.Power}, n != nil
	case Rebalance:
		a, b := r.nodes[e.First], r.nodes[e.Second]
		return Rebalance{a, b, e.Power}, a != nil && b != nil
	case Unquantize:
		v := r.values[e.Value]
		return Unquantize{v}, v != nil
	case Quantize:
		n := r.nodes[e.Node]
		return Quantize{n, e.Input, e.Scale}, n != nil
	case Clamp:
		v := r.values[e.Const]
		return Clamp{v, e.Lo, e.Hi}, v != nil
	case SetConst:
		v := r.values[e.Const]
		return SetConst{v, e.From, e.To}, v != nil
	case SetAttr:
		n := r.nodes[e.Node]
		return SetAttr{n, e.Name, e.Value}, n != nil
	}
	return nil, false
}
