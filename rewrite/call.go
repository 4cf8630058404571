package rewrite

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// calls returns the outermost calls whose bodies would have to change, in graph order. A function
// has no types: what only computes in another format inside stays a call.
func (w *worker) calls(ch *changes) []*graph.Node {
	found := map[*graph.Node]bool{}
	for _, g := range ch.touched() {
		note(found, g)
	}
	for _, e := range w.edits {
		note(found, scopeOf(e))
	}
	var list []*graph.Node
	for n := range w.m.Nodes() {
		if found[n] && !w.opaque[n] {
			list = append(list, n)
		}
	}
	return list
}

// note marks the outermost call around a graph.
func note(found map[*graph.Node]bool, g *graph.Graph) {
	var call *graph.Node
	for ; g != nil; g = g.Outer() {
		if g.Kind == graph.CallGraph {
			call = g.Owner
		}
	}
	if call != nil {
		found[call] = true
	}
}

// inline replaces a call by its body; where that is impossible the call keeps its types.
func (w *worker) inline(n *graph.Node) {
	key := n.Key()
	for i, e := range w.edits {
		switch e := e.(type) {
		case Widen:
			w.edits[i] = Widen{lift(e.Value, n)}
		case ToBF16:
			w.edits[i] = ToBF16{lift(e.Value, n)}
		case Unquantize:
			w.edits[i] = Unquantize{lift(e.Value, n)}
		case Clamp:
			w.edits[i] = Clamp{lift(e.Const, n), e.Lo, e.Hi}
		case SetConst:
			w.edits[i] = SetConst{lift(e.Const, n), e.From, e.To}
		case KeepFP32:
			if e.Node == n {
				for _, k := range n.Call.Nodes {
					w.edits = append(w.edits, KeepFP32{k})
				}
			}
		}
	}
	if w.leave[n] {
		for _, k := range n.Call.Nodes {
			w.leave[k] = true
		}
	}
	if err := w.m.Inline(n); err != nil {
		w.opaque[n] = true
		w.sum.note("call %q keeps its types: %v", key, err)
		return
	}
	w.sum.Inlined = append(w.sum.Inlined, key)
}

// lift returns the value of the call that an input or output of its instance becomes.
func lift(v *graph.Value, call *graph.Node) *graph.Value {
	if v.Graph != call.Call {
		return v
	}
	if i := slices.Index(call.Call.Outputs, v); i >= 0 && call.Out(i) != nil && v.Producer != nil {
		return call.Out(i)
	}
	params := call.Call.Inputs
	for _, arg := range call.Inputs {
		if arg == nil || len(params) == 0 {
			continue
		}
		if params[0] == v {
			return arg
		}
		params = params[1:]
	}
	return v
}
