package graph

import "slices"

// touch notes an edit inside the instance of a function: an instance has no place in the file.
func (g *Graph) touch() {
	for s := g; s != nil; s = s.Outer() {
		if s.Kind == CallGraph {
			s.edited = true
		}
	}
}

// InsertBefore inserts nodes before ref, at the end where ref is nil.
func (g *Graph) InsertBefore(ref *Node, n ...*Node) {
	at := len(g.Nodes)
	if ref != nil {
		at = ref.Index
	}
	g.insert(at, n)
}

// InsertAfter inserts nodes after ref, at the beginning where ref is nil.
func (g *Graph) InsertAfter(ref *Node, n ...*Node) {
	at := 0
	if ref != nil {
		at = ref.Index + 1
	}
	g.insert(at, n)
}

func (g *Graph) insert(at int, nodes []*Node) {
	g.touch()
	g.Nodes = slices.Insert(g.Nodes, at, nodes...)
	g.reindex(at)
	for _, n := range nodes {
		if n.removed {
			n.removed = false
			n.attach()
		}
	}
}

func (g *Graph) reindex(from int) {
	for i := from; i < len(g.Nodes); i++ {
		g.Nodes[i].Index = i
	}
}

// Remove takes a node out of the graph, with its outputs and their declarations. Readers of the
// outputs must have been turned to other values before. The node may be inserted again.
func (g *Graph) Remove(n *Node) {
	g.touch()
	at := n.Index
	g.Nodes = slices.Delete(g.Nodes, at, at+1)
	g.reindex(at)
	n.Index, n.removed = -1, true
	n.within(func(m *Node) {
		for i, v := range m.Inputs {
			if v != nil {
				v.dropUse(Use{m, i})
			}
		}
	})
	for _, v := range n.Outputs {
		if v != nil {
			g.leave(v)
		}
	}
}

// attach undoes what Remove did to the edges. Inputs that were set in between are uses already.
func (n *Node) attach() {
	n.within(func(m *Node) {
		for i, v := range m.Inputs {
			if v != nil && !slices.Contains(v.Uses, Use{m, i}) {
				v.Uses = append(v.Uses, Use{m, i})
			}
		}
	})
	for _, v := range n.Outputs {
		if v == nil {
			continue
		}
		n.Graph.enter(v)
		for _, vi := range v.infos {
			if !slices.Contains(n.Graph.outInfos, vi) {
				n.Graph.infos = append(n.Graph.infos, vi)
			}
		}
	}
}

// enter adds a value to its scope.
func (g *Graph) enter(v *Value) {
	g.Model.take(v.Name)
	g.byName[v.Name] = v
	g.Values = append(g.Values, v)
}

// leave takes a value out of its scope.
func (g *Graph) leave(v *Value) {
	if g.byName[v.Name] == v {
		delete(g.byName, v.Name)
	}
	if i := slices.Index(g.Values, v); i >= 0 {
		g.Values = slices.Delete(g.Values, i, i+1)
	}
	if len(v.infos) > 0 {
		g.infos = slices.DeleteFunc(g.infos, func(vi *ValueInfo) bool { return slices.Contains(v.infos, vi) })
	}
}

// AddInit adds an initializer, named as the tensor is.
func (g *Graph) AddInit(t *Tensor) *Value {
	v := g.NewValue(t.Name, t.Type())
	v.SetInit(t)
	return v
}

// RemoveInit removes an initializer. A value that is an input of the graph as well stays one.
func (g *Graph) RemoveInit(v *Value) {
	g.touch()
	g.inits = slices.DeleteFunc(g.inits, func(o *Value) bool { return o == v })
	g.sparse = slices.DeleteFunc(g.sparse, func(s *SparseInit) bool { return s == v.Sparse })
	v.Init, v.Sparse, v.Const = nil, nil, nil
	if !v.Input {
		g.leave(v)
	}
}

// AddInput appends an input of the graph.
func (g *Graph) AddInput(name string, t Type) *Value {
	g.touch()
	v := g.NewValue(name, t)
	v.Input, v.infos = true, []*ValueInfo{{Name: name, Type: t}}
	g.Inputs, g.inInfos = append(g.Inputs, v), append(g.inInfos, v.infos[0])
	return v
}

// AddOutput appends an output of the graph, of the type that the value has.
func (g *Graph) AddOutput(v *Value) {
	g.Outputs, g.outInfos = append(g.Outputs, nil), append(g.outInfos, &ValueInfo{})
	g.SetOutput(len(g.Outputs)-1, v)
}

// SetOutput makes v output i of the graph. The declaration of the output takes v's name, and its
// type where it is known; else v gets the declared one.
func (g *Graph) SetOutput(i int, v *Value) {
	g.touch()
	info, old := g.outInfos[i], g.Outputs[i]
	g.Outputs[i] = v
	if old != nil {
		old.infos = slices.DeleteFunc(old.infos, func(vi *ValueInfo) bool { return vi == info })
		if old.Graph == g {
			old.Output = slices.Contains(g.Outputs, old)
		}
	}
	if info.Name = v.Name; v.Graph == g {
		v.Output, v.infos = true, append(v.infos, info)
	}
	if v.Type.Kind != KindUnknown {
		info.Type = v.Type
	} else {
		v.Type = info.Type
	}
}
