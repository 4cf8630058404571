package analyze

import (
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

// sources returns the values that a value may be, where a scope ends or begins: the results of the
// branches of an If, of the body of a loop or of a function for what the node makes of them; the
// arguments of a call for an input of a function, and for an input of a body what goes into it first
// and what each round hands to the next. It is nil inside of a scope.
func (a *analysis) sources(v *graph.Value) []*graph.Value {
	if v.Producer != nil {
		return a.leaving(v.Producer, v.Index)
	}
	if n := v.Graph.Owner; n != nil {
		if i := slices.Index(v.Graph.Inputs, v); i >= 0 {
			return entering(n, v.Graph, i)
		}
	}
	return nil
}

// leaving returns what output i of a node that runs graphs may be.
func (a *analysis) leaving(n *graph.Node, i int) []*graph.Value {
	var list []*graph.Value
	add := func(g *graph.Graph, i int) {
		if g != nil && i < len(g.Outputs) && g.Outputs[i] != nil {
			list = append(list, g.Outputs[i])
		}
	}
	switch {
	case n.Call == nil && n.Op == "If" && n.In(0) != nil:
		h := a.ranges.Val(n.In(0)).Hull()
		if h.Hi > 0 {
			add(n.Body("then_branch"), i)
		}
		if h.Lo <= 0 {
			add(n.Body("else_branch"), i)
		}
	case n.Call == nil && n.Op == "Loop":
		add(n.Body("body"), i+1) // behind whether it goes on
		if v := n.In(i + 2); v != nil {
			list = append(list, v) // of no round
		}
	default:
		for _, g := range n.Subgraphs() {
			add(g, i)
		}
	}
	return list
}

// entering returns what input i of a graph may be.
func entering(n *graph.Node, g *graph.Graph, i int) []*graph.Value {
	var list []*graph.Value
	add := func(v *graph.Value) {
		if v != nil {
			list = append(list, v)
		}
	}
	switch {
	case n.Call != nil:
		add(walk.Argument(g.Inputs[i]))
	case n.Op == "Loop" && i < 2:
	case n.Op == "Loop":
		add(n.In(i))
		if i-1 < len(g.Outputs) {
			add(g.Outputs[i-1])
		}
	case n.Op == "Scan":
		add(n.In(i + max(len(n.Inputs)-len(g.Inputs), 0))) // once there was an input for the lengths before
		if i < len(g.Inputs)-int(n.Int("num_scan_inputs", 0)) && i < len(g.Outputs) {
			add(g.Outputs[i])
		}
	default:
		add(n.In(i))
	}
	return list
}
