package graph

// cloneNames copies a graph that is not linked yet. Tensors are shared. Attributes that refer to
// a parameter of the function take its argument; without one they are left out, so that the
// operator's own default holds.
func (g *Graph) cloneNames(args map[string]*Attr) *Graph {
	c := &Graph{Kind: g.Kind, Name: g.Name, Doc: g.Doc, Model: g.Model, Meta: g.Meta, inInfos: cloneInfos(g.inInfos),
		outInfos: cloneInfos(g.outInfos), infos: cloneInfos(g.infos), sparse: g.sparse, opsets: g.opsets,
		byName: map[string]*Value{}, at: g.at}
	for _, v := range g.inits {
		c.inits = append(c.inits, &Value{Name: v.Name, Graph: c, Init: v.Init, Type: v.Type})
	}
	for _, n := range g.Nodes {
		origin := n
		if n.Origin != nil {
			origin = n.Origin
		}
		k := &Node{Name: n.Name, Op: n.Op, Domain: n.Domain, Overload: n.Overload, Doc: n.Doc, Meta: n.Meta,
			Graph: c, Origin: origin, Index: n.Index, inNames: n.inNames, outNames: n.outNames, at: n.at}
		for _, a := range n.Attrs {
			if b := a.clone(args); b != nil {
				k.Attrs = append(k.Attrs, b)
			}
		}
		c.Nodes = append(c.Nodes, k)
	}
	return c
}

// cloneInfos copies declarations: each instance has its own, to be renamed when it is inlined.
func cloneInfos(list []*ValueInfo) []*ValueInfo {
	c := make([]*ValueInfo, len(list))
	for i, vi := range list {
		k := *vi
		c[i] = &k
	}
	return c
}

// clone copies an attribute for an instance; args nil keeps references as they are.
func (a *Attr) clone(args map[string]*Attr) *Attr {
	b := *a
	if a.Ref != "" && args != nil {
		arg := args[a.Ref]
		if arg == nil {
			return nil
		}
		b = *arg
		b.Name, b.Ref = a.Name, ""
		return &b
	}
	if a.Graph != nil {
		b.Graph = a.Graph.cloneNames(args)
	}
	b.Graphs = nil
	for _, g := range a.Graphs {
		b.Graphs = append(b.Graphs, g.cloneNames(args))
	}
	return &b
}

// arguments returns the values of a function's attribute parameters at a call.
func (f *Function) arguments(n *Node) map[string]*Attr {
	args := map[string]*Attr{}
	for _, a := range f.Defaults {
		args[a.Name] = a
	}
	for _, a := range n.Attrs {
		args[a.Name] = a
	}
	return args
}

// absentInputs returns the inputs of the function that the call leaves out.
func (f *Function) absentInputs(n *Node) map[string]struct{} {
	absent := map[string]struct{}{}
	for i, vi := range f.Body.inInfos {
		if n.In(i) == nil {
			absent[vi.Name] = struct{}{}
		}
	}
	return absent
}
