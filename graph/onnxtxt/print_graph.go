package onnxtxt

import "github.com/amplint/amplint/graph"

// view is what is written of a graph: all of it, or a part that stands as a graph of its own.
type view struct {
	name            string
	inputs, outputs []declared
	inits           []*graph.Value
	sparse          []*graph.SparseInit
	infos           []declared
	nodes           []*graph.Node
}

type declared struct {
	name string
	typ  graph.Type
}

func wholeGraph(g *graph.Graph, opt PrintOptions) view {
	v := view{name: g.Name, inits: g.Inits(), sparse: g.Sparse(), nodes: g.Nodes}
	for _, x := range g.Inputs {
		v.inputs = append(v.inputs, declared{x.Name, x.Type})
	}
	for i, x := range g.Outputs {
		v.outputs = append(v.outputs, outputOf(g, i, x))
	}
	known := map[string]bool{}
	for _, vi := range g.ValueInfos() {
		v.infos = append(v.infos, declared{vi.Name, vi.Type})
		known[vi.Name] = true
	}
	if opt.Types {
		v.addTypes(g.Values, known)
	}
	return v
}

// outputOf declares an output as what it is in this graph. The type of a value that a branch only
// passes on belongs to the graph outside.
func outputOf(g *graph.Graph, i int, x *graph.Value) declared {
	infos := g.OutputInfos()
	switch {
	case x == nil:
		return declared{}
	case x.Graph != g && i < len(infos):
		return declared{x.Name, infos[i].Type}
	}
	return declared{x.Name, x.Type}
}

// addTypes declares what nodes define, apart from outputs, which have their type already.
func (v *view) addTypes(values []*graph.Value, known map[string]bool) {
	for _, x := range values {
		if _, ok := typeText(x.Type); ok && x.Producer != nil && !x.Output && !known[x.Name] {
			v.infos = append(v.infos, declared{x.Name, x.Type})
		}
	}
}

// graph writes a graph; in is the indentation of the line it begins in.
func (p *printer) graph(g view, in string) {
	p.s(graphID(g.name), " ")
	p.typed(g.inputs)
	p.s(" => ")
	p.typed(g.outputs)
	p.declarations(g, in)
	p.nodes(g.nodes, in)
	if in == "" {
		p.s("\n")
	}
}

func (p *printer) typed(list []declared) {
	p.list(len(list), "(", ", ", ")", func(i int) { p.declared(list[i]) })
}

func (p *printer) declared(d declared) {
	if t, ok := typeText(d.typ); ok {
		p.s(t, " ")
	}
	p.s(name(d.name))
}

func (p *printer) values(list []*graph.Value) {
	p.list(len(list), "(", ", ", ")", func(i int) { p.s(valueName(list[i])) })
}

// declarations writes the initializers and types, one in a line.
func (p *printer) declarations(g view, in string) {
	n, k := len(g.inits), len(g.sparse)
	if n+k+len(g.infos) == 0 {
		p.s(" ")
		return
	}
	p.list(n+k+len(g.infos), "\n"+in+"<\n", ",\n", "\n"+in+">\n"+in, func(i int) {
		p.s(in, "  ")
		switch {
		case i < n:
			p.initializer(g.inits[i])
		case i < n+k:
			p.sparse(g.sparse[i-n], g.sparse[i-n].Values.Name)
		default:
			p.declared(g.infos[i-n-k])
		}
	})
}

func (p *printer) initializer(v *graph.Value) {
	p.tensorHead(v.Init, v.Name)
	p.s(" = ")
	p.tensorData(v.Init)
}

func (p *printer) nodes(list []*graph.Node, in string) {
	p.s("{\n")
	for _, n := range list {
		p.s(in, "  ")
		p.node(n, in+"  ")
		p.s("\n")
	}
	p.s(in, "}")
}

// node writes a node. Attributes stand before the inputs unless they hold graphs, which fill
// lines of their own.
func (p *printer) node(n *graph.Node, in string) {
	if n.Name != "" {
		p.s("[", name(n.Name), "] ")
	}
	p.list(len(n.Outputs), "", ", ", "", func(i int) { p.s(valueName(n.Outputs[i])) })
	p.s(" = ", operator(n))
	graphs := hasGraphs(n)
	if !graphs {
		p.attrs(n, " <", ", ", ">", in)
	}
	p.s(" ")
	p.values(n.Inputs)
	if graphs {
		p.attrs(n, " <\n"+in+"  ", ",\n"+in+"  ", "\n"+in+">", in+"  ")
	}
}

func (p *printer) attrs(n *graph.Node, open, sep, end, in string) {
	if len(n.Attrs) > 0 {
		p.list(len(n.Attrs), open, sep, end, func(i int) { p.attr(n.Attrs[i], in) })
	}
}

func hasGraphs(n *graph.Node) bool {
	for _, a := range n.Attrs {
		if a.Graph != nil || len(a.Graphs) > 0 {
			return true
		}
	}
	return false
}
