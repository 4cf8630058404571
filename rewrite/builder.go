package rewrite

import (
	"github.com/amplint/amplint/graph"
)

// builder finds the groups of a model and who reads what.
type builder struct {
	plan   *Plan
	m      *graph.Model
	low    graph.ElemType
	opaque map[*graph.Node]bool // calls that keep the types of their inputs and outputs

	groups []*group
	reads  []*read
	maker  map[*graph.Value]*group  // of every value with a format, except constants
	byNode map[*graph.Node][]*group // the groups of a node
	uses   map[*graph.Value][]*read // the readers of a value, in graph order
	unsafe func(*graph.Value) bool  // see Plan.Unsafe, nil for none
	notes  []string                 // edits that had no effect
	order  []*graph.Value           // the keys of uses and maker, in graph order
	alias  map[*graph.Value]*graph.Value
	// foreign16 tells that all the model's 16-bit floats are of another type than the target.
	foreign16 bool
	bf16      bool // the edit at hand is content with BF16
	eager     bool // every node that computes is to be low, whatever casts it takes
}

func newBuilder(p *Plan, m *graph.Model, opaque map[*graph.Node]bool) *builder {
	low := graph.ElemOf(p.Target)
	b := &builder{plan: p, m: m, low: low, opaque: opaque, maker: map[*graph.Value]*group{}, byNode: map[*graph.Node][]*group{},
		uses: map[*graph.Value][]*read{}, alias: map[*graph.Value]*graph.Value{}}
	b.foreign16 = p.Strategy == Mixed && low != graph.Float && !holds(m, low)
	b.border()
	b.graph(m.Graph)
	for i, out := range m.Graph.Outputs {
		b.output(out, i)
	}
	b.joinContainers()
	b.index()
	return b
}

// border makes the groups of the model's inputs.
func (b *builder) border() {
	for _, v := range b.m.Graph.Inputs {
		if e := b.elem(v); e != graph.Undefined && !b.constant(v) {
			b.define(v, b.borderGroup(v, e))
		}
	}
}

func (b *builder) output(v *graph.Value, i int) {
	if e := b.elem(v); e != graph.Undefined {
		b.read(v, place{graph: b.m.Graph, index: i}, b.borderGroup(v, e))
	}
}

func (b *builder) borderGroup(v *graph.Value, e graph.ElemType) *group {
	g := b.newGroup(nil, e, move)
	g.flow = true
	if b.plan.keeps(v) {
		g.keep("an input or output keeps its type")
	}
	return g
}

// graph makes the groups of the nodes of a graph and of those below it.
func (b *builder) graph(g *graph.Graph) {
	for _, v := range g.Values {
		if v.Sparse != nil && b.elem(v) != graph.Undefined && b.maker[v] == nil {
			s := b.newGroup(nil, b.elem(v), move)
			s.keep("sparse initializers keep their type")
			b.define(v, s)
		}
	}
	for _, n := range g.Nodes {
		b.node(n)
	}
}

func (b *builder) node(n *graph.Node) {
	switch {
	case n.Call != nil && b.opaque[n]:
		b.closed(n)
	case n.Call != nil:
		b.call(n)
	case len(n.Subgraphs()) > 0:
		b.control(n)
		for _, s := range n.Subgraphs() {
			b.graph(s)
		}
	default:
		b.ports(n)
	}
}

// closed keeps the types at a call whose body is not looked into.
func (b *builder) closed(n *graph.Node) {
	const why = "the function it belongs to does not change"
	for i, v := range n.Inputs {
		if e := b.elem(v); e != graph.Undefined {
			g := b.newGroup(n, e, compute)
			g.keep(why)
			b.read(v, place{node: n, index: i}, g)
		}
	}
	for _, v := range n.Outputs {
		if e := b.elem(v); e != graph.Undefined {
			g := b.newGroup(n, e, compute)
			g.keep(why)
			b.define(v, g)
		}
	}
}

// call looks through a call: a value inside stands for the one that is passed.
func (b *builder) call(n *graph.Node) {
	params := n.Call.Inputs
	for _, v := range n.Inputs {
		if v != nil && len(params) > 0 {
			b.alias[params[0]] = b.canon(v)
			params = params[1:]
		}
	}
	b.graph(n.Call)
	for i, out := range n.Outputs {
		if out != nil && i < len(n.Call.Outputs) && n.Call.Outputs[i] != nil {
			b.alias[out] = b.canon(n.Call.Outputs[i])
		}
	}
}

// canon returns the value that v stands for.
func (b *builder) canon(v *graph.Value) *graph.Value {
	if a := b.alias[v]; a != nil {
		return a
	}
	return v
}

func (b *builder) newGroup(n *graph.Node, e graph.ElemType, r role) *group {
	g := &group{node: n, orig: e, role: r}
	b.groups = append(b.groups, g)
	if n != nil {
		b.byNode[n] = append(b.byNode[n], g)
	}
	return g
}

func (b *builder) define(v *graph.Value, g *group) {
	if b.constant(v) {
		return
	}
	g.defs = append(g.defs, v)
	b.maker[v] = g
}

func (b *builder) read(v *graph.Value, at place, g *group) {
	r := &read{v: b.canon(v), at: at, g: g}
	g.reads = append(g.reads, r)
	b.reads = append(b.reads, r)
}

// elem returns the type of a value if it is one that can change format, Undefined else.
func (b *builder) elem(v *graph.Value) graph.ElemType {
	if v == nil {
		return graph.Undefined
	}
	e := elemOf(v.Type)
	switch e {
	case graph.Float, graph.Float16, graph.BFloat16:
		return e
	case graph.Double:
		if b.plan.NarrowDouble {
			return e
		}
	case graph.Float8E4M3FN, graph.Float8E4M3FNUZ, graph.Float8E5M2, graph.Float8E5M2FNUZ:
		if b.low == graph.Float {
			return e
		}
	}
	return graph.Undefined
}

// other returns what a value of type e becomes when its format changes.
func (b *builder) other(e graph.ElemType) graph.ElemType {
	if isWide(e) {
		return b.low
	}
	return graph.Float
}

// constant tells whether the file holds the value: it can be stored in any format, even in two.
func (b *builder) constant(v *graph.Value) bool {
	if v.Producer != nil {
		return v.Producer.Op == "Constant" && v.Producer.Domain == "" && v.Const != nil && v.Producer.Attr("sparse_value") == nil
	}
	return v.Init != nil && (!v.Input || b.listed(v.Graph))
}

// listed tells whether a graph lists its initializers as inputs because its exporter does so with
// all of them (before IR version 4 it had to), and not in order that they may be replaced.
func (b *builder) listed(g *graph.Graph) bool {
	if b.m.IRVersion < 4 {
		return true
	}
	inputs := 0
	for _, v := range g.Inits() {
		if v.Input {
			inputs++
		}
	}
	return 2*inputs > len(g.Inits())
}

// joinContainers makes the maker and the readers of a sequence or optional one group: there is no
// cast for containers.
func (b *builder) joinContainers() {
	for _, r := range b.reads {
		if r.v.Type.Kind == graph.KindTensor {
			continue
		}
		if g := b.maker[r.v]; g != nil {
			g.join(r.g)
		}
	}
}

// index sorts the readers by value.
func (b *builder) index() {
	seen := map[*graph.Value]bool{}
	note := func(v *graph.Value) {
		if !seen[v] {
			seen[v] = true
			b.order = append(b.order, v)
		}
	}
	for _, g := range b.groups {
		for _, v := range g.defs {
			if g.parent == nil {
				note(v)
			}
		}
	}
	for _, r := range b.reads {
		r.g = r.g.root()
		b.uses[r.v] = append(b.uses[r.v], r)
		note(r.v)
	}
}

// makerOf returns the group that makes a value, nil for constants.
func (b *builder) makerOf(v *graph.Value) *group {
	if g := b.maker[b.canon(v)]; g != nil {
		return g.root()
	}
	return nil
}
