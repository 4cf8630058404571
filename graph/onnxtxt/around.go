package onnxtxt

import (
	"io"

	"github.com/amplint/amplint/graph"
)

// PrintAround writes a node and the nodes up to depth edges before and after it as a model of its
// own, to be pasted into a report. What the part reads from outside becomes an input; its range,
// where one is known, stands in the metadata. Constants of more than MaxElements elements (0: of
// any length stay) become inputs too, since their range says more to an analysis than elements that
// are gone.
func PrintAround(w io.Writer, n *graph.Node, depth int, opt PrintOptions) error {
	c := newCut(n, around(n, depth), opt)
	p := newPrinter(w, opt)
	m := n.Graph.Model
	head := *m
	head.Producer, head.Version, head.Domain, head.ModelVersion = "", "", "", 0
	p.modelHeader(&head, c.opsets(m), c.meta)
	p.graph(c.view, "")
	for _, f := range c.functions(m) {
		p.function(f)
	}
	return p.close()
}

// around returns the nodes of n's graph within depth edges up or down, in graph order.
func around(n *graph.Node, depth int) []*graph.Node {
	in := map[*graph.Node]bool{n: true}
	for _, step := range []func(*graph.Node, func(*graph.Node)){before, after} {
		level := []*graph.Node{n}
		for range depth {
			var next []*graph.Node
			for _, m := range level {
				step(m, func(k *graph.Node) {
					if !in[k] {
						in[k] = true
						next = append(next, k)
					}
				})
			}
			level = next
		}
	}
	var list []*graph.Node
	for _, m := range n.Graph.Nodes {
		if in[m] {
			list = append(list, m)
		}
	}
	return list
}

// before visits the nodes that a node reads from, those its subgraphs read from included.
func before(n *graph.Node, visit func(*graph.Node)) {
	reads(n, func(v *graph.Value) {
		if v.Graph == n.Graph && v.Producer != nil {
			visit(v.Producer)
		}
	})
}

// after visits the nodes of the same graph that read from a node, themselves or in a subgraph.
func after(n *graph.Node, visit func(*graph.Node)) {
	for _, v := range n.Outputs {
		if v == nil {
			continue
		}
		for _, u := range v.Uses {
			if k := lift(u.Node, n.Graph); k != nil {
				visit(k)
			}
		}
	}
}

// lift returns the node of graph g that is n or holds n in a subgraph.
func lift(n *graph.Node, g *graph.Graph) *graph.Node {
	for n != nil && n.Graph != g {
		n = n.Graph.Owner
	}
	return n
}

// reads visits the values a node reads that are defined outside it.
func reads(n *graph.Node, visit func(*graph.Value)) {
	for _, v := range n.Inputs {
		if v != nil {
			visit(v)
		}
	}
	if n.Call != nil {
		return // a function sees its inputs only
	}
	for _, s := range n.Subgraphs() {
		captures(s, func(v *graph.Value) {
			if lift(v.Graph.Owner, n.Graph) != n {
				visit(v)
			}
		})
	}
}

// captures visits what the nodes of a graph and its outputs read.
func captures(s *graph.Graph, visit func(*graph.Value)) {
	for _, m := range s.Nodes {
		reads(m, visit)
	}
	for _, v := range s.Outputs {
		if v != nil {
			visit(v)
		}
	}
}
