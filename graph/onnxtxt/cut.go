package onnxtxt

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
)

// cut is a part of a graph that becomes a graph of its own.
type cut struct {
	view
	opt  PrintOptions
	meta []graph.Entry
	seen map[*graph.Value]bool
}

// newCut cuts out nodes of the graph of n, which is one of them.
func newCut(n *graph.Node, nodes []*graph.Node, opt PrintOptions) *cut {
	c := &cut{opt: opt, seen: map[*graph.Value]bool{}}
	c.name = n.Graph.Name
	inside := map[*graph.Node]bool{}
	for _, k := range nodes {
		if k == n || !isConstant(k) {
			inside[k] = true
			c.nodes = append(c.nodes, k)
		}
	}
	for _, n := range c.nodes {
		reads(n, func(v *graph.Value) {
			if v.Producer == nil || !inside[v.Producer] {
				c.outside(v)
			}
		})
		for _, v := range n.Outputs {
			if v != nil {
				c.output(v, inside)
			}
		}
	}
	return c
}

// isConstant tells whether a node only makes constants, which come as initializers or inputs.
func isConstant(n *graph.Node) bool {
	return n.Op == "Constant" && n.Domain == "" && n.Out(0) != nil && n.Outputs[0].Const != nil
}

// outside takes in a value that is read and not made inside.
func (c *cut) outside(v *graph.Value) {
	if c.seen[v] {
		return
	}
	c.seen[v] = true
	t := v.Const
	if t == nil && v.Sparse != nil {
		c.sparse = append(c.sparse, v.Sparse)
		return
	}
	if t != nil && (c.opt.MaxElements == 0 || t.Len() <= c.opt.MaxElements) && t.External == nil {
		c.inits = append(c.inits, &graph.Value{Name: v.Name, Init: t})
		return
	}
	c.inputs = append(c.inputs, declared{v.Name, v.Type})
	c.addRange(v)
}

// rangeKey begins the metadata keys that declare the range of an input.
const rangeKey = "amplint.range."

// addRange notes the range of an input in the metadata that an analysis reads. What the model
// itself declares counts first.
func (c *cut) addRange(v *graph.Value) {
	if v.Graph.Kind == graph.MainGraph {
		for _, e := range v.Graph.Model.Meta {
			if e.Key == rangeKey+v.Name {
				c.meta = append(c.meta, e)
				return
			}
		}
	}
	var lo, hi float64
	ok := false
	if v.Const != nil {
		lo, hi, ok = extremes(v.Const)
	} else if c.opt.Range != nil {
		lo, hi, ok = c.opt.Range(v)
	}
	if ok {
		c.meta = append(c.meta, graph.Entry{Key: rangeKey + v.Name,
			Value: fmt.Sprintf("[%s,%s]", numberText(lo, 64), numberText(hi, 64))})
	}
}

// output makes a value an output where something outside reads it, or nothing does.
func (c *cut) output(v *graph.Value, inside map[*graph.Node]bool) {
	out := v.Output || len(v.Uses) == 0
	for _, u := range v.Uses {
		out = out || !inside[lift(u.Node, v.Graph)]
	}
	if out {
		c.outputs = append(c.outputs, declared{v.Name, v.Type})
		return
	}
	if _, ok := typeText(v.Type); ok {
		c.infos = append(c.infos, declared{v.Name, v.Type})
	}
}

// opsets returns the imports in force at the nodes, which functions have of their own.
func (c *cut) opsets(m *graph.Model) []graph.Opset {
	list := slices.Clone(m.Opsets)
	for _, n := range c.nodes {
		at := slices.IndexFunc(list, func(o graph.Opset) bool { return o.Domain == n.Domain })
		switch {
		case n.Version() == 0:
		case at < 0:
			list = append(list, graph.Opset{Domain: n.Domain, Version: n.Version()})
		default:
			list[at].Version = n.Version()
		}
	}
	return list
}

// functions returns the functions that the nodes call, and those that these call.
func (c *cut) functions(m *graph.Model) (list []*graph.Function) {
	called := map[*graph.Function]bool{}
	var note func(nodes []*graph.Node)
	note = func(nodes []*graph.Node) {
		for _, n := range nodes {
			f := functionOf(m, n)
			if f != nil && !called[f] {
				called[f] = true
				note(f.Body.Nodes)
			}
			if f == nil {
				for _, s := range n.Subgraphs() {
					note(s.Nodes)
				}
			}
		}
	}
	note(c.nodes)
	for _, f := range m.Functions {
		if called[f] {
			list = append(list, f)
		}
	}
	return list
}

func functionOf(m *graph.Model, n *graph.Node) *graph.Function {
	for _, f := range m.Functions {
		domain := f.Domain
		if domain == "ai.onnx" {
			domain = ""
		}
		if domain == n.Domain && f.Name == n.Op && f.Overload == n.Overload {
			return f
		}
	}
	return nil
}
