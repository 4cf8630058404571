package minimize

import "github.com/amplint/amplint/graph"

// withoutNodes leaves out nodes, many that follow one another at once and then fewer, from the end of
// the graph to its beginning, and tells whether some could go.
func (r *reducer) withoutNodes() bool {
	any := false
	for size := max(len(r.best.Graph.Nodes)/2, 1); size > 0; size /= 2 {
		for from := len(r.best.Graph.Nodes) - size; from > -size && r.left > 0; from -= size {
			any = r.without(from, size) || any
		}
	}
	return any
}

// without leaves out nodes from one place on.
func (r *reducer) without(from, size int) bool {
	keep, kept := map[int]bool{}, 0
	for j := range r.best.Graph.Nodes {
		if keep[j] = j < from || j >= from+size; keep[j] {
			kept++
		}
	}
	if kept == 0 || kept == len(keep) {
		return false
	}
	return r.try(cut(r.typed(), keep, r.opt.Ranges))
}

// passing lists the operators that may be bridged: numbers of the same kind go in and come out. To
// bridge others would show another calculation than the model's.
var passing = map[string]bool{"Identity": true, "Cast": true, "Dropout": true, "Relu": true, "LeakyRelu": true, "Clip": true, "Transpose": true, "Reshape": true}

// bridged lets the readers of a node read its first operand instead, where it has the same type.
func (r *reducer) bridged() bool {
	any := false
	for i := len(r.best.Graph.Nodes) - 1; i >= 0 && r.left > 0; i-- {
		if i >= len(r.best.Graph.Nodes) {
			continue
		}
		m := r.typed()
		n := m.Graph.Nodes[i]
		in, out := n.In(0), n.Out(0)
		if !passing[n.Op] || len(n.Outputs) != 1 || in == nil || out == nil || len(out.Uses) == 0 || out.Output || in.Type.String() != out.Type.String() || in.Const != nil {
			continue
		}
		out.ReplaceUses(in, nil)
		keep := map[int]bool{}
		for j := range m.Graph.Nodes {
			keep[j] = j != i
		}
		if r.try(cut(m, keep, r.opt.Ranges)) {
			any = true
		}
	}
	return any
}

// withoutOutputs leaves out outputs that others stand beside.
func (r *reducer) withoutOutputs() bool {
	any := false
	for i := len(r.best.Graph.Outputs) - 1; i >= 0 && r.left > 0; i-- {
		if len(r.best.Graph.Outputs) < 2 || i >= len(r.best.Graph.Outputs) {
			continue
		}
		m := r.best.Clone()
		if len(m.Graph.Outputs[i].Uses) == 0 {
			continue // its node would be of no use
		}
		m.Graph.DropOutput(i)
		if r.try(Reread(m)) {
			any = true
		}
	}
	return any
}

// typed returns the best part with the types of its values.
func (r *reducer) typed() *graph.Model {
	m := r.best.Clone()
	infer(m)
	return m
}
