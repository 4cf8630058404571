package graph

import "slices"

// Clone returns a deep copy that shares only what is never changed: the source and the tensors.
// The copy reads through the original's file and is of no use once that is closed.
func (m *Model) Clone() *Model {
	c := &copier{values: map[*Value]*Value{}, nodes: map[*Node]*Node{}, infos: map[*ValueInfo]*ValueInfo{}}
	k := *m
	k.close, k.names, k.numbers = nil, nil, nil
	k.Opsets, k.Meta, k.Notes = slices.Clone(m.Opsets), slices.Clone(m.Meta), slices.Clone(m.Notes)
	c.model, k.Functions = &k, nil
	for _, f := range m.Functions {
		f2 := *f
		f2.Opsets, f2.Attrs = slices.Clone(f.Opsets), slices.Clone(f.Attrs)
		f2.Defaults = c.attrs(f.Defaults, nil)
		f2.Body = c.graph(f.Body, nil)
		k.Functions = append(k.Functions, &f2)
	}
	k.Graph = c.graph(m.Graph, nil)
	c.finish()
	return &k
}

// copier maps the objects of a model to those of its copy.
type copier struct {
	model  *Model
	values map[*Value]*Value
	nodes  map[*Node]*Node
	infos  map[*ValueInfo]*ValueInfo
}

// finish sets what can only be set when everything is copied.
func (c *copier) finish() {
	for old, v := range c.values {
		v.Producer = c.nodes[old.Producer]
		v.Uses = make([]Use, 0, len(old.Uses))
		for _, u := range old.Uses {
			if n := c.nodes[u.Node]; n != nil {
				v.Uses = append(v.Uses, Use{n, u.Index})
			}
		}
	}
	for old, n := range c.nodes {
		n.Origin = c.nodes[old.Origin]
	}
}

func (c *copier) graph(g *Graph, owner *Node) *Graph {
	k := *g
	k.Model, k.Owner = c.model, owner
	k.Meta = slices.Clone(g.Meta)
	k.infos, k.inInfos, k.outInfos = c.declarations(g.infos), c.declarations(g.inInfos), c.declarations(g.outInfos)
	k.byName = make(map[string]*Value, len(g.byName))
	k.Values = make([]*Value, 0, len(g.Values))
	for _, v := range g.Values {
		k.Values = append(k.Values, c.value(v, &k))
	}
	for name, v := range g.byName {
		k.byName[name] = c.value(v, &k)
	}
	k.inits, k.Inputs = c.list(g.inits), c.list(g.Inputs)
	k.sparse = slices.Clone(g.sparse)
	k.Nodes = make([]*Node, len(g.Nodes))
	for i, n := range g.Nodes {
		k.Nodes[i] = c.node(n, &k)
	}
	k.Outputs = c.list(g.Outputs)
	k.fileOrder, k.order = c.order(g.fileOrder), c.order(g.order)
	return &k
}

func (c *copier) value(v *Value, g *Graph) *Value {
	if k := c.values[v]; k != nil {
		return k
	}
	k := *v
	k.Graph, k.infos = g, c.declarations(v.infos)
	c.values[v] = &k
	return &k
}

func (c *copier) list(values []*Value) []*Value {
	k := make([]*Value, len(values))
	for i, v := range values {
		if v != nil {
			k[i] = c.values[v]
		}
	}
	return k
}

func (c *copier) node(n *Node, g *Graph) *Node {
	k := *n
	c.nodes[n] = &k
	k.Graph, k.Inputs, k.Outputs, k.Meta = g, c.list(n.Inputs), c.list(n.Outputs), slices.Clone(n.Meta)
	k.Attrs = c.attrs(n.Attrs, &k)
	if n.Call != nil {
		k.Call = c.graph(n.Call, &k)
	}
	return &k
}

func (c *copier) attrs(list []*Attr, owner *Node) []*Attr {
	var out []*Attr
	for _, a := range list {
		k := *a
		k.Floats, k.Ints, k.Strings = slices.Clone(a.Floats), slices.Clone(a.Ints), slices.Clone(a.Strings)
		k.Tensors, k.Types = slices.Clone(a.Tensors), slices.Clone(a.Types)
		if a.Graph != nil {
			k.Graph = c.graph(a.Graph, owner)
		}
		k.Graphs = nil
		for _, g := range a.Graphs {
			k.Graphs = append(k.Graphs, c.graph(g, owner))
		}
		out = append(out, &k)
	}
	return out
}

// declarations copies each declaration once, as values and graphs both refer to it.
func (c *copier) declarations(list []*ValueInfo) []*ValueInfo {
	var out []*ValueInfo
	for _, vi := range list {
		k := c.infos[vi]
		if k == nil {
			k = new(ValueInfo)
			*k = *vi
			k.Meta = slices.Clone(vi.Meta)
			c.infos[vi] = k
		}
		out = append(out, k)
	}
	return out
}

func (c *copier) order(nodes []*Node) []*Node {
	k := make([]*Node, 0, len(nodes))
	for _, n := range nodes {
		k = append(k, c.nodes[n]) // nil for one that was removed: the order no longer counts then
	}
	return k
}
