package graph

import (
	"iter"
	"strconv"
	"strings"
)

// Entry is a key and a value of metadata_props or external_data.
type Entry struct{ Key, Value string }

// Opset is one entry of opset_import. The domain "ai.onnx" is read as "".
type Opset struct {
	Domain  string
	Version int64
}

// Model is an ONNX model: its main graph, its model-local functions and where it came from.
type Model struct {
	Path      string // the file it was read from, "" where there is none
	Dir       string // the folder external data lies in
	IRVersion int64
	Producer  string
	Version   string // of the producer
	Domain    string // namespace the model's author claims
	// ModelVersion is what the author counts as the model's version.
	ModelVersion int64
	Opsets       []Opset
	Meta         []Entry
	Graph        *Graph
	Functions    []*Function
	Notes        []string // what reading had to put right, such as unsorted nodes

	src     *Source
	close   func() error
	names   map[string]bool // in use, see Unique
	numbers map[string]int  // the last that Unique appended to a base
}

// Opset returns the version of a domain that the model imports, 0 where it does not.
func (m *Model) Opset(domain string) int64 {
	return opsetOf(m.Opsets, domain)
}

func opsetOf(list []Opset, domain string) int64 {
	if domain == "ai.onnx" {
		domain = ""
	}
	for _, o := range list {
		if o.Domain == domain {
			return o.Version
		}
	}
	return 0
}

// Close releases the model's file. Tensors that were not read before cannot be read afterwards.
func (m *Model) Close() error {
	if m.close == nil {
		return nil
	}
	return m.close()
}

// Graphs yields the main graph and, depth first in node order, every graph below it: branches and
// bodies of nodes and the instances of functions at their call sites.
func (m *Model) Graphs() iter.Seq[*Graph] {
	return func(yield func(*Graph) bool) { m.Graph.walk(yield) }
}

func (g *Graph) walk(yield func(*Graph) bool) bool {
	if !yield(g) {
		return false
	}
	for _, n := range g.Nodes {
		for _, s := range n.Subgraphs() {
			if !s.walk(yield) {
				return false
			}
		}
	}
	return true
}

// Nodes yields every node of [Model.Graphs].
func (m *Model) Nodes() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		for g := range m.Graphs() {
			for _, n := range g.Nodes {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// Function is a model-local function as the file holds it: a template. Its calls are instantiated
// as [Node.Call]; analysis looks at the instances, never at the template.
type Function struct {
	Domain, Name, Overload string
	Opsets                 []Opset
	Attrs                  []string // attribute parameters without a default
	Defaults               []*Attr  // attribute parameters with one
	Body                   *Graph

	proto *Graph // the body before linking, which instances are copied from
	at    Span
}

// GraphKind tells where a graph stands.
type GraphKind uint8

// The kinds of graphs.
const (
	MainGraph    GraphKind = iota
	SubGraph               // a graph attribute of a node: branch or body
	CallGraph              // the instance of a function at a call site; it has no place in the file
	FunctionBody           // the template in a Function
)

// Graph is one scope: nodes in topological order and the values they define. Nodes of a SubGraph
// also see the values of the graphs around it.
type Graph struct {
	Kind    GraphKind
	Name    string
	Doc     string
	Meta    []Entry
	Nodes   []*Node
	Inputs  []*Value
	Outputs []*Value
	Values  []*Value // every value defined in this scope, in order of definition
	Model   *Model
	Owner   *Node  // the node that holds this graph, nil for the main graph and templates
	Attr    string // the attribute of Owner that holds it ("" for calls)

	at                Span
	inits             []*Value      // in the order of the file
	sparse            []*SparseInit // sparse_initializer entries
	infos             []*ValueInfo  // value_info entries of the file
	inInfos, outInfos []*ValueInfo  // parallel to Inputs and Outputs
	byName            map[string]*Value
	absent            map[string]struct{} // inputs of a function that its call leaves out
	opsets            []Opset             // of the function for CallGraph and FunctionBody, nil: the model's
	fileOrder, order  []*Node             // the nodes as the file has them and as they were sorted, where that differs
	edited            bool                // an instance of a function was changed
}

// Outer returns the graph around this one, nil for the main graph and function templates.
func (g *Graph) Outer() *Graph {
	if g.Owner == nil {
		return nil
	}
	return g.Owner.Graph
}

// Opset returns the version of a domain in force in this graph. Functions import their own.
func (g *Graph) Opset(domain string) int64 {
	for s := g; s != nil; s = s.Outer() {
		if s.opsets != nil {
			return opsetOf(s.opsets, domain)
		}
	}
	return g.Model.Opset(domain)
}

// Path returns the keys of the nodes and attributes around this graph, outermost first, empty for
// the main graph: {"loop", "body"}, or {"call"} inside a function.
func (g *Graph) Path() []string {
	if g.Owner == nil {
		return nil
	}
	p := append(g.Owner.Graph.Path(), g.Owner.LocalKey())
	if g.Attr != "" {
		p = append(p, g.Attr)
	}
	return p
}

// Lookup finds a value by name in this scope only.
func (g *Graph) Lookup(name string) *Value { return g.byName[name] }

// Find finds a value by name in this scope or, for subgraphs, in the scopes around it.
func (g *Graph) Find(name string) *Value {
	for s := g; s != nil; s = s.Outer() {
		if v := s.byName[name]; v != nil {
			return v
		}
		if s.Kind == CallGraph {
			break // a function sees its own names only
		}
	}
	return nil
}

// Inits returns the values that initializers define, in the order of the file.
func (g *Graph) Inits() []*Value { return g.inits }

// Use is one place where a value is read.
type Use struct {
	Node  *Node
	Index int // input position
}

// Value is an edge of the graph: what a node, an input or an initializer defines.
type Value struct {
	Name     string
	Graph    *Graph
	Producer *Node // nil for inputs and initializers
	Index    int   // output position at the producer
	Uses     []Use // readers in this scope and in those below, in graph order
	Init     *Tensor
	Sparse   *SparseInit // the sparse initializer that defines it
	// Const is the value where it is the same in every run: an initializer that is no input, the
	// output of a Constant node, or what folding computed. Type inference sets the last two.
	Const *Tensor
	// Type is what the file declares, refined by inference.
	Type   Type
	Input  bool // of its graph
	Output bool // of its graph

	infos []*ValueInfo // the entries of input, output and value_info that name it
}

// Key returns the value's name with the path of its scope, as in "loop/body/x".
func (v *Value) Key() string {
	return strings.Join(append(v.Graph.Path(), v.Name), "/")
}

// ValueInfo is a declared type: an entry of a graph's input, output or value_info.
type ValueInfo struct {
	Name string
	Type Type
	Doc  string
	Meta []Entry

	at Span
}

// Node is one operation.
type Node struct {
	Name, Op, Domain, Overload, Doc string
	Inputs                          []*Value // nil where an optional input is left out
	Outputs                         []*Value // nil where an optional output is left out
	Attrs                           []*Attr
	Meta                            []Entry
	Graph                           *Graph
	// Call is the instance of the model-local function that this node calls, nil for operators.
	Call *Graph
	// Origin is the node of the function template that this node is an instance of.
	Origin *Node
	Index  int // position in Graph.Nodes

	at                Span
	inNames, outNames []string // as the file has them, until linked
	removed           bool     // from its graph, see Graph.Remove
}

// LocalKey returns the node's name, or "#" and its first output where it has none.
func (n *Node) LocalKey() string {
	if n.Name != "" {
		return n.Name
	}
	for _, o := range n.Outputs {
		if o != nil {
			return "#" + o.Name
		}
	}
	return "#" + strconv.Itoa(n.Index)
}

// Key returns the node's place: outer/attribute/inner in subgraphs, caller/inner in functions.
func (n *Node) Key() string {
	return strings.Join(append(n.Graph.Path(), n.LocalKey()), "/")
}

// OpName returns the operator with its domain, as in "com.microsoft.Gelu"; the standard's own
// operators stand without one.
func (n *Node) OpName() string { return OpName(n.Domain, n.Op) }

// OpName joins a domain and an operator as the operator tables key them.
func OpName(domain, op string) string {
	if domain == "" || domain == "ai.onnx" {
		return op
	}
	return domain + "." + op
}

// Version returns the opset version in force for the node's domain.
func (n *Node) Version() int64 { return n.Graph.Opset(n.Domain) }

// In returns input i, nil where it is left out.
func (n *Node) In(i int) *Value {
	if i < len(n.Inputs) {
		return n.Inputs[i]
	}
	return nil
}

// Out returns output i, nil where it is left out.
func (n *Node) Out(i int) *Value {
	if i < len(n.Outputs) {
		return n.Outputs[i]
	}
	return nil
}

// Subgraphs returns the graphs below the node: its graph attributes in their order, or the
// instance of the function it calls.
func (n *Node) Subgraphs() []*Graph {
	if n.Call != nil {
		return []*Graph{n.Call}
	}
	var list []*Graph
	for _, a := range n.Attrs {
		if a.Graph != nil {
			list = append(list, a.Graph)
		}
		list = append(list, a.Graphs...)
	}
	return list
}
