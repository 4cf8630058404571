package refeval

import "github.com/amplint/amplint/graph"

func setOf(values []*graph.Value) map[*graph.Value]bool {
	set := map[*graph.Value]bool{}
	for _, v := range values {
		set[v] = true
	}
	return set
}

// coneOf returns the nodes of a main graph that values are computed from, nil for no values.
func coneOf(main *graph.Graph, goal []*graph.Value) map[*graph.Node]bool {
	if len(goal) == 0 {
		return nil
	}
	cone := map[*graph.Node]bool{}
	var queue []*graph.Node
	add := func(n *graph.Node) {
		if n != nil && n.Graph == main && !cone[n] {
			cone[n] = true
			queue = append(queue, n)
		}
	}
	for _, v := range goal {
		add(around(v, main))
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		n.Reads(main, func(v *graph.Value) { add(v.Producer) })
	}
	return cone
}

// around returns the node of a graph that makes a value, or that holds the graph which does.
func around(v *graph.Value, main *graph.Graph) *graph.Node {
	if v.Graph == main {
		return v.Producer
	}
	for g := v.Graph; g != nil && g.Owner != nil; g = g.Owner.Graph {
		if g.Owner.Graph == main {
			return g.Owner
		}
	}
	return nil
}

// skips tells whether a node of the main graph lies outside of the cone.
func (p *planner) skips(n *graph.Node) bool {
	return p.cone != nil && n.Graph == p.r.model.Graph && !p.cone[n]
}

// inputs returns what a graph is given: its inputs and, of the main graph, the free initializers.
func (p *planner) inputs(g *graph.Graph) []*graph.Value {
	if g != p.r.model.Graph || len(p.r.opt.Free) == 0 {
		return g.Inputs
	}
	list := append([]*graph.Value{}, g.Inputs...)
	for _, v := range p.r.opt.Free {
		if v.Graph == g && !v.Input {
			list = append(list, v)
		}
	}
	return list
}

// fixed tells whether the model itself says what a value is, in every run.
func (p *planner) fixed(v *graph.Value) bool { return isConstant(v) && !p.free[v] }
