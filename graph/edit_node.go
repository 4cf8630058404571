package graph

import "slices"

// Edits keep the edges right: producers, uses, scopes and the nodes' positions. What else they
// leave as it is, bytes of the file included, is written back untouched.

// NewNode makes a node of the graph that is not inserted yet; see [Graph.InsertBefore]. Its
// outputs are values of the graph from the moment they are added.
func (g *Graph) NewNode(op, domain, name string) *Node {
	if domain == "ai.onnx" {
		domain = ""
	}
	g.Model.take(name)
	return &Node{Op: op, Domain: domain, Name: name, Graph: g, Index: -1}
}

// AddInput appends an input, nil for one that is left out.
func (n *Node) AddInput(v *Value) { n.SetInput(len(n.Inputs), v) }

// AddOutput appends an output of a name that no other value of the scope has (see [Model.Unique]).
// An empty name leaves the output out and returns nil.
func (n *Node) AddOutput(name string, t Type) *Value {
	var v *Value
	if name != "" {
		v = n.Graph.NewValue(name, t)
	}
	n.SetOutput(len(n.Outputs), v)
	return v
}

// NewValue makes a value of the graph that nothing defines yet, for [Node.SetOutput].
func (g *Graph) NewValue(name string, t Type) *Value {
	v := &Value{Name: name, Graph: g, Type: t}
	g.enter(v)
	return v
}

// SetInput makes v input i, nil to leave it out.
func (n *Node) SetInput(i int, v *Value) {
	n.Graph.touch()
	for len(n.Inputs) <= i {
		n.Inputs = append(n.Inputs, nil)
	}
	if old := n.Inputs[i]; old != nil {
		old.dropUse(Use{n, i})
	}
	if n.Inputs[i] = v; v != nil {
		v.Uses = append(v.Uses, Use{n, i})
	}
}

// SetOutput makes v, a value of the node's graph, output i; nil leaves it out. The value that was
// there stays in the graph, without a producer until another node takes it.
func (n *Node) SetOutput(i int, v *Value) {
	n.Graph.touch()
	for len(n.Outputs) <= i {
		n.Outputs = append(n.Outputs, nil)
	}
	if old := n.Outputs[i]; old != nil && old.Producer == n && old.Index == i {
		old.Producer, old.Index, old.Const = nil, 0, nil
	}
	if n.Outputs[i] = v; v == nil {
		return
	}
	if p := v.Producer; p != nil && p.Out(v.Index) == v && (p != n || v.Index != i) {
		p.Outputs[v.Index] = nil
	}
	v.Producer, v.Index = n, i
}

// TrimInputs drops left-out inputs from the end of the list.
func (n *Node) TrimInputs() {
	for len(n.Inputs) > 0 && n.Inputs[len(n.Inputs)-1] == nil {
		n.Inputs = n.Inputs[:len(n.Inputs)-1]
	}
}

// SetAttr sets an attribute, in the place of the one of its name where there is one.
func (n *Node) SetAttr(a *Attr) {
	n.Graph.touch()
	for _, g := range a.graphs() {
		g.Owner, g.Attr = n, a.Name
	}
	for i, old := range n.Attrs {
		if old.Name == a.Name {
			n.Attrs[i] = a
			return
		}
	}
	n.Attrs = append(n.Attrs, a)
}

// RemoveAttr removes the attribute of the name.
func (n *Node) RemoveAttr(name string) {
	n.Graph.touch()
	n.Attrs = slices.DeleteFunc(n.Attrs, func(a *Attr) bool { return a.Name == name })
}

// graphs returns the graphs of an attribute.
func (a *Attr) graphs() []*Graph {
	if a.Graph != nil {
		return append([]*Graph{a.Graph}, a.Graphs...)
	}
	return a.Graphs
}

// within yields the node and the nodes of its branches and bodies; instances of functions, which
// see none of the values around them, are left out.
func (n *Node) within(yield func(*Node)) {
	yield(n)
	for _, a := range n.Attrs {
		for _, g := range a.graphs() {
			for _, m := range g.Nodes {
				m.within(yield)
			}
		}
	}
}
