package graph

// The functions below build a model by names, as a text has them. [Model.Link] turns the names
// into edges; before it, the graph has nodes but no values.

// NewModel makes a model with an empty main graph.
func NewModel(ir int64, opsets ...Opset) *Model {
	m := &Model{IRVersion: ir, Opsets: opsets}
	m.Graph = m.NewGraph("")
	m.Graph.Kind = MainGraph
	return m
}

// NewGraph makes an empty graph for an attribute of a node.
func (m *Model) NewGraph(name string) *Graph {
	return &Graph{Kind: SubGraph, Name: name, Model: m, byName: map[string]*Value{}}
}

// AddFunction adds a model-local function with an empty body; attrs are its attribute parameters
// without a default.
func (m *Model) AddFunction(domain, name string, in, out, attrs []string, defaults []*Attr, opsets []Opset) *Function {
	g := m.NewGraph(name)
	g.Kind, g.opsets, g.inInfos, g.outInfos = FunctionBody, opsets, named(in), named(out)
	f := &Function{Domain: domain, Name: name, Opsets: opsets, Attrs: attrs, Defaults: defaults, Body: g}
	m.Functions = append(m.Functions, f)
	return f
}

// AddNodeNamed appends a node by the names of its inputs and outputs, "" for those left out.
func (g *Graph) AddNodeNamed(op, domain, name string, in, out []string, attrs ...*Attr) *Node {
	if domain == "ai.onnx" {
		domain = ""
	}
	n := &Node{Op: op, Domain: domain, Name: name, Graph: g, Index: len(g.Nodes), inNames: in, outNames: out, Attrs: attrs}
	g.Nodes = append(g.Nodes, n)
	return n
}

// DeclareInput appends an input of the graph.
func (g *Graph) DeclareInput(name string, t Type) *ValueInfo {
	g.inInfos = append(g.inInfos, &ValueInfo{Name: name, Type: t})
	return g.inInfos[len(g.inInfos)-1]
}

// DeclareOutput appends an output of the graph.
func (g *Graph) DeclareOutput(name string, t Type) *ValueInfo {
	g.outInfos = append(g.outInfos, &ValueInfo{Name: name, Type: t})
	return g.outInfos[len(g.outInfos)-1]
}

// DeclareValue appends an entry of value_info.
func (g *Graph) DeclareValue(name string, t Type) *ValueInfo {
	g.infos = append(g.infos, &ValueInfo{Name: name, Type: t})
	return g.infos[len(g.infos)-1]
}

// AddInitTensor appends an initializer, named as the tensor is.
func (g *Graph) AddInitTensor(t *Tensor) {
	if t.model == nil {
		t.model = g.Model
	}
	g.inits = append(g.inits, &Value{Name: t.Name, Graph: g, Init: t, Type: t.Type()})
}

// Link turns the names of a model built by hand into edges, sorts its nodes and instantiates its
// functions, as reading a file does. It is called once.
func (m *Model) Link() error { return m.link() }

// InputInfos returns the declarations of the graph's inputs.
func (g *Graph) InputInfos() []*ValueInfo { return g.inInfos }

// OutputInfos returns the declarations of the graph's outputs.
func (g *Graph) OutputInfos() []*ValueInfo { return g.outInfos }

// ValueInfos returns the entries of the graph's value_info.
func (g *Graph) ValueInfos() []*ValueInfo { return g.infos }

// Sparse returns the sparse initializers in the order of the file.
func (g *Graph) Sparse() []*SparseInit { return g.sparse }
