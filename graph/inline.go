package graph

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph/schema"
)

// Inline replaces a call of a model-local function by the nodes of its instance. Their names, and
// those of the values between them, get the call's name as a prefix, so that a node keeps its key.
// Functions that nothing calls any more are removed.
func (m *Model) Inline(n *Node) error {
	call := n.Call
	if call == nil {
		return fmt.Errorf("node %q calls no function of the model", n.Key())
	}
	if err := n.Graph.adopt(call); err != nil {
		return n.wrap(err)
	}
	called := m.called()
	prefix := n.LocalKey() + "/"
	m.prefix(call, prefix)
	inner := append(slices.Clone(call.Nodes), n.Graph.bindInstance(n, call)...)
	for _, k := range inner {
		k.Graph = n.Graph
	}
	n.Graph.InsertBefore(n, inner...)
	n.Graph.Remove(n)
	n.Call = nil
	m.dropFunctions(called)
	return nil
}

// adopt makes sure that operators mean in the graph what they mean in the function, which imports
// its own opsets, and imports the domains that only the function uses.
func (g *Graph) adopt(call *Graph) error {
	for _, o := range call.opsets {
		have := g.Opset(o.Domain)
		if have == o.Version {
			continue
		}
		if have == 0 {
			g.Model.SetOpset(o.Domain, o.Version)
			continue
		}
		for _, n := range call.Nodes {
			var op string
			n.within(func(k *Node) {
				if k.Call == nil && k.Domain == o.Domain && !sameOp(k, have, o.Version) {
					op = k.OpName()
				}
			})
			if op != "" {
				return fmt.Errorf("the function imports opset %d of domain %q, the model %d, and %s differs between them",
					o.Version, o.Domain, have, op)
			}
		}
	}
	return nil
}

func sameOp(n *Node, a, b int64) bool {
	x, okX := schema.Lookup(n.Domain, n.Op, a)
	y, okY := schema.Lookup(n.Domain, n.Op, b)
	return okX && okY && x.Since == y.Since
}

// prefix renames every value and node of the instance, and of the graphs below it, as the scopes
// of one model must not define a name twice. The outputs get their names from the call.
func (m *Model) prefix(g *Graph, prefix string) {
	for _, n := range g.Nodes { // before the values, as keys of nodes without a name are made of them
		n.Name = m.Unique(prefix + n.LocalKey())
		for _, a := range n.Attrs {
			for _, s := range a.graphs() {
				m.prefix(s, prefix)
			}
		}
	}
	for _, v := range slices.Clone(g.Values) {
		if !(g.Kind == CallGraph && v.Input) {
			v.Rename(m.Unique(prefix + v.Name))
		}
	}
}

// bindInstance joins the values of an instance with those of its call: readers of an input read
// the call's, and what makes an output makes the call's. Where an output is an input, or a value
// that is an output already, an Identity passes it on; these are returned.
func (g *Graph) bindInstance(n *Node, call *Graph) (ids []*Node) {
	bound := map[*Value]*Value{} // values of the instance by those of the call
	for i, vi := range call.inInfos {
		if v := call.byName[vi.Name]; v != nil && v.Input {
			bound[v] = n.In(i)
			v.ReplaceUses(n.In(i), nil)
			call.replaceOutputs(v, n.In(i))
		}
	}
	outputs := slices.Clone(n.Outputs)
	clear(n.Outputs)
	for i, v := range slices.Clone(call.Outputs) {
		if i >= len(outputs) || outputs[i] == nil || v == nil {
			continue
		}
		if v.Graph == call && v.Producer != nil && bound[v] == nil {
			bound[v] = outputs[i]
			call.bindOutput(v, outputs[i])
			continue
		}
		if bound[v] != nil {
			v = bound[v]
		}
		id := g.NewNode("Identity", "", g.Model.Unique(n.LocalKey()+"/output"))
		id.AddInput(v)
		id.SetOutput(0, outputs[i])
		ids = append(ids, id)
	}
	g.takeValues(call)
	return ids
}

// bindOutput lets the node that makes v make out instead.
func (g *Graph) bindOutput(v, out *Value) {
	v.ReplaceUses(out, nil)
	for _, n := range g.Nodes {
		for _, a := range n.Attrs {
			for _, s := range a.graphs() {
				s.replaceOutputs(v, out)
			}
		}
	}
	g.leave(v)
	out.Producer, out.Index = v.Producer, v.Index
	v.Producer.Outputs[v.Index] = out
	if out.Type.Kind == KindUnknown {
		out.Type = v.Type
	}
	if out.Const == nil {
		out.Const = v.Const
	}
}

// replaceOutputs makes the graphs below that yield v yield out.
func (g *Graph) replaceOutputs(v, out *Value) {
	g.walkBranches(func(s *Graph) {
		for i, o := range s.Outputs {
			if o == v {
				s.Outputs[i] = out
			}
		}
	})
}

// walkBranches calls f with the graph and the graphs in attributes below it.
func (g *Graph) walkBranches(f func(*Graph)) {
	f(g)
	for _, n := range g.Nodes {
		for _, a := range n.Attrs {
			for _, s := range a.graphs() {
				s.walkBranches(f)
			}
		}
	}
}

// takeValues moves the values of an instance, but for its inputs, into the scope of the call.
func (g *Graph) takeValues(call *Graph) {
	for _, v := range call.Values {
		if v.Input {
			continue
		}
		v.Graph, v.Output = g, false
		g.enter(v)
		for _, vi := range v.infos {
			if !slices.Contains(call.outInfos, vi) {
				g.infos = append(g.infos, vi)
			}
		}
	}
}

// called returns the functions that nodes of the main graph reach, directly or by other functions.
func (m *Model) called() map[*Function]bool {
	byKey := map[string]*Function{}
	for _, f := range m.Functions {
		byKey[functionKey(f.Domain, f.Name, f.Overload)] = f
	}
	seen := map[*Function]bool{}
	var visit func(g *Graph)
	visit = func(g *Graph) {
		g.walkBranches(func(s *Graph) {
			for _, n := range s.Nodes {
				if f := byKey[functionKey(n.Domain, n.Op, n.Overload)]; f != nil && !seen[f] {
					seen[f] = true
					visit(f.Body)
				}
			}
		})
	}
	visit(m.Graph)
	return seen
}

// dropFunctions removes the functions that were called before and are no longer.
func (m *Model) dropFunctions(before map[*Function]bool) {
	now := m.called()
	m.Functions = slices.DeleteFunc(m.Functions, func(f *Function) bool { return before[f] && !now[f] })
}
