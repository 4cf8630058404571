package rewrite

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
)

// control makes the groups of a node with subgraphs: what is passed from outside to a body, from
// one turn to the next and from a branch to the outside has one type all the way.
func (b *builder) control(n *graph.Node) {
	switch {
	case n.Domain != "":
		b.foreign(n)
	case n.Op == "If":
		b.branches(n)
	case n.Op == "Loop":
		b.loop(n)
	case n.Op == "Scan":
		b.scan(n)
	case n.Op == "SequenceMap":
		b.sequenceMap(n)
	default:
		b.foreign(n)
	}
}

// tie is a group in the making: values it defines and places that read.
type tie struct {
	b    *builder
	n    *graph.Node
	g    *group
	keep string
}

func (b *builder) tie(n *graph.Node) *tie { return &tie{b: b, n: n} }

// group returns the group for a value of the tie, nil where the value has no format to choose.
func (t *tie) group(v *graph.Value) *group {
	e := t.b.elem(v)
	if e == graph.Undefined {
		if v != nil && v.Type.Kind == graph.KindUnknown {
			t.stay("a type is unknown")
		}
		return nil
	}
	if t.g == nil {
		t.g = t.b.newGroup(t.n, e, move)
		t.g.flow = true
		if t.keep == "" {
			t.keep = t.b.refused(t.n, e)
		}
		if t.keep != "" {
			t.g.keep(t.keep)
		}
	}
	if t.g.orig != e {
		t.stay("branches or turns have different types")
	}
	return t.g
}

func (t *tie) stay(why string) {
	t.keep = why
	if t.g != nil {
		t.g.keep(why)
	}
}

func (t *tie) define(v *graph.Value) *tie {
	if g := t.group(v); g != nil {
		t.b.define(v, g)
	}
	return t
}

func (t *tie) input(i int) *tie {
	v := t.n.In(i)
	if g := t.group(v); g != nil {
		t.b.read(v, place{node: t.n, index: i}, g)
	}
	return t
}

func (t *tie) result(s *graph.Graph, i int) *tie {
	if s == nil || i >= len(s.Outputs) {
		return t
	}
	if g := t.group(s.Outputs[i]); g != nil {
		t.b.read(s.Outputs[i], place{graph: s, index: i}, g)
	}
	return t
}

// refused says why a control-flow node cannot pass the other type of e on, "" where it can.
func (b *builder) refused(n *graph.Node, e graph.ElemType) string {
	op, ok := schema.Lookup(n.Domain, n.Op, n.Version())
	if !ok || len(op.Outputs) == 0 {
		return "the operator is unknown"
	}
	other := b.other(e)
	if b.retypes(e) {
		other = b.low
	}
	if !op.Outputs[0].AllowsElem(int32(other)) {
		return fmt.Sprintf("%s cannot pass %s on in opset %d", n.Op, other, n.Version())
	}
	return ""
}

func (b *builder) branches(n *graph.Node) {
	for i, out := range n.Outputs {
		t := b.tie(n).define(out)
		for _, s := range n.Subgraphs() {
			t.result(s, i)
		}
	}
}

func (b *builder) loop(n *graph.Node) {
	body := n.Body("body")
	if body == nil || len(body.Inputs) < 2 {
		b.foreign(n)
		return
	}
	carried := len(body.Inputs) - 2
	for i := range carried {
		b.tie(n).define(body.Inputs[2+i]).define(n.Out(i)).input(2+i).result(body, 1+i)
	}
	for i := carried; i < len(body.Outputs)-1; i++ {
		b.tie(n).define(n.Out(i)).result(body, 1+i)
	}
}

func (b *builder) scan(n *graph.Node) {
	body := n.Body("body")
	scanned := int(n.Int("num_scan_inputs", 0))
	if body == nil || scanned < 0 || scanned > len(body.Inputs) {
		b.foreign(n)
		return
	}
	states, first := len(body.Inputs)-scanned, 0
	if n.Version() < 9 {
		first = 1 // sequence_lens
	}
	for i := range states {
		b.tie(n).define(body.Inputs[i]).define(n.Out(i)).input(first+i).result(body, i)
	}
	for i := states; i < len(body.Inputs); i++ {
		b.tie(n).define(body.Inputs[i]).input(first + i)
	}
	for i := states; i < len(body.Outputs); i++ {
		b.tie(n).define(n.Out(i)).result(body, i)
	}
}

func (b *builder) sequenceMap(n *graph.Node) {
	body := n.Body("body")
	if body == nil {
		b.foreign(n)
		return
	}
	for i, in := range body.Inputs {
		b.tie(n).define(in).input(i)
	}
	for i := range body.Outputs {
		b.tie(n).define(n.Out(i)).result(body, i)
	}
}

// foreign handles bodies of operators whose wiring is not known: what goes in and out of them
// keeps its type.
func (b *builder) foreign(n *graph.Node) {
	for _, s := range n.Subgraphs() {
		for _, in := range s.Inputs {
			t := b.tie(n)
			t.stay("a body of " + n.OpName() + " has it as its input")
			t.define(in)
		}
		for i := range s.Outputs {
			t := b.tie(n)
			t.stay("a body of " + n.OpName() + " returns it")
			t.result(s, i)
		}
	}
	b.ports(n)
}
