package rewrite

import "github.com/amplint/amplint/graph"

// place is where a value is read: an input of a node, or an output of a graph where node is nil.
type place struct {
	node  *graph.Node
	graph *graph.Graph
	index int
}

// scope returns the graph the place stands in.
func (p place) scope() *graph.Graph {
	if p.node != nil {
		return p.node.Graph
	}
	return p.graph
}

// read is one reader of a float value.
type read struct {
	v  *graph.Value
	at place
	g  *group
}

// group is a set of places that must have one element type: what a type variable of a node ties
// together, or what control flow passes on. It is the unit that is low or wide.
type group struct {
	parent *group
	node   *graph.Node // the node it belongs to, nil at the border of the model
	orig   graph.ElemType
	defs   []*graph.Value
	reads  []*read

	stay     bool   // the type cannot change: the standard, an unknown operator, a kept input
	wantWide bool   // an edit or the target asks for FP32
	wantBF16 bool   // the edits that ask for it are content with BF16
	asBF16   bool   // the result: wide, and that is BF16
	why      string // of stay or wantWide
	role     role
	flow     bool // control flow: its readers keep their place in the group whatever happens
	wide     bool // the result
	id       int
}

func (g *group) root() *group {
	for g.parent != nil {
		if g.parent.parent != nil {
			g.parent = g.parent.parent
		}
		g = g.parent
	}
	return g
}

// join makes two groups one. Groups of different types cannot change together.
func (g *group) join(h *group) {
	a, b := g.root(), h.root()
	if a == b {
		return
	}
	if a.orig != b.orig {
		a.keep("its parts have different types")
	}
	if b.stay {
		a.keep(b.why)
	}
	if b.wantWide {
		bf16 := b.wantBF16 && (a.wantBF16 || !a.wantWide)
		a.widen(b.why)
		a.wantBF16 = bf16
	}
	b.parent = a
	a.flow = a.flow || b.flow
	a.role = max(a.role, b.role)
	a.defs = append(a.defs, b.defs...)
	a.reads = append(a.reads, b.reads...)
}

func (g *group) keep(why string) {
	if g = g.root(); !g.stay {
		g.stay, g.why = true, why
	}
}

// widen asks for FP32 and tells whether that was news.
func (g *group) widen(why string) bool {
	g = g.root()
	g.wantBF16 = false
	if g.wantWide {
		return false
	}
	g.wantWide = true
	if !g.stay {
		g.why = why
	}
	return true
}

// toBF16 asks for BF16, where nothing asks for FP32.
func (g *group) toBF16(why string) {
	if g = g.root(); !g.wantWide {
		g.widen(why)
		g.wantBF16 = true
	}
}

// idle tells whether nothing depends on the group's type: one reader that takes any float, such as
// the input of Shape or Cast.
func (g *group) idle() bool {
	return len(g.reads) <= 1 && len(g.defs) == 0 && !g.stay && !g.wantWide && !g.flow
}

// elemOf returns the element type of a tensor or of the tensors in a sequence or optional.
func elemOf(t graph.Type) graph.ElemType {
	for t.Of != nil && (t.Kind == graph.KindSequence || t.Kind == graph.KindOptional) {
		t = *t.Of
	}
	if t.Kind == graph.KindTensor {
		return t.Elem
	}
	return graph.Undefined
}

// withElem returns the type with another element type inside.
func withElem(t graph.Type, e graph.ElemType) graph.Type {
	if t.Of != nil {
		of := withElem(*t.Of, e)
		t.Of = &of
		return t
	}
	t.Elem = e
	return t
}

// isWide tells whether the type is one that islands are computed in.
func isWide(e graph.ElemType) bool { return e == graph.Float || e == graph.Double }
