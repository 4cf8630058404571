package rewrite

import (
	"fmt"

	"github.com/amplint/amplint/graph"
)

// pin carries out what the target, the strategy and the edits ask of the groups.
func (b *builder) pin(edits []Edit) {
	for _, g := range b.groups {
		switch {
		case g.parent != nil || g.idle():
		case b.low == graph.Float && !isWide(g.orig):
			if g.role >= compute { // what only moves elements may stay between kept inputs and outputs
				g.widen("the target is fp32")
			}
		case isWide(g.orig) && (b.plan.Strategy == Repair || b.low == graph.Float):
			g.widen("it is fp32 already")
		}
	}
	b.pinSizes()
	for _, e := range edits {
		switch e := e.(type) {
		case Widen:
			b.widenValue(e)
		case KeepFP32:
			b.keepNode(e.Node)
		case Quantize:
			b.notes = append(b.notes, fmt.Sprintf("no effect: %s: the target is %s", e.Describe(), b.plan.Target))
		}
	}
	for _, e := range edits { // last, as what is FP32 already stays it
		if x, ok := e.(ToBF16); ok && b.elem(x.Value) != graph.Undefined {
			b.bf16 = true
			b.spread([]*graph.Value{b.canon(x.Value)}, fmt.Sprintf("an edit holds %q in bf16", x.Value.Name))
			b.bf16 = false
		}
	}
}

// ask asks for what the edit at hand wants of a group.
func (b *builder) ask(g *group, why string) {
	if b.bf16 {
		if g = g.root(); g.orig != graph.BFloat16 || b.retypes(g.orig) { // else it is so already
			g.toBF16(why)
		}
		return
	}
	g.widen(why)
}

// leave keeps the types of nodes and of all in their branches, bodies and functions.
func (b *builder) leave(nodes map[*graph.Node]bool) {
	if len(nodes) == 0 {
		return
	}
	for n, groups := range b.byNode {
		for at := n; at != nil; at = at.Graph.Owner {
			if !nodes[at] {
				continue
			}
			for _, g := range groups {
				g.keep("it is to be left as it is")
			}
			break
		}
	}
}

// keepNode pins a node and what is in its branches, bodies or function.
func (b *builder) keepNode(n *graph.Node) {
	var made []*graph.Value
	for _, g := range b.byNode[n] {
		if g = g.root(); !g.idle() {
			g.widen("an edit keeps the node in fp32")
			made = append(made, b.lost(g)...)
		}
	}
	b.spread(made, "an edit keeps its maker in fp32")
	for _, s := range n.Subgraphs() {
		for _, k := range s.Nodes {
			b.keepNode(k)
		}
	}
}

// lost returns the values that a wide group makes and that the low format cannot hold.
func (b *builder) lost(g *group) (list []*graph.Value) {
	if b.unsafe == nil {
		return nil
	}
	for _, v := range g.defs {
		if b.unsafe(v) {
			list = append(list, v)
		}
	}
	return list
}

// widenValue pins the maker and the readers of a value.
func (b *builder) widenValue(e Widen) {
	if b.elem(e.Value) == graph.Undefined {
		b.notes = append(b.notes, fmt.Sprintf("no effect: %s: its type is %s", e.Describe(), e.Value.Type))
		return
	}
	if b.castOut(b.canon(e.Value)) {
		b.notes = append(b.notes, fmt.Sprintf("no effect: %s: it is cast for a result of the model, which keeps its type", e.Describe()))
		return
	}
	b.spread([]*graph.Value{b.canon(e.Value)}, fmt.Sprintf("an edit holds %q in fp32", e.Value.Name))
}

// castOut tells whether a value is made by a cast, and read as a result of the model that keeps its
// type alone: in FP32 it would be cast all the same, one node later.
func (b *builder) castOut(v *graph.Value) bool {
	if v.Producer == nil || !isCast(v.Producer) || len(b.uses[v]) == 0 {
		return false
	}
	for _, r := range b.uses[v] {
		if r.g.node != nil || !r.g.stay || isWide(r.g.orig) {
			return false
		}
	}
	return true
}

// spread pins makers and readers of values, and so on wherever a reader hands the same numbers on
// or makes others that the low format cannot hold.
func (b *builder) spread(todo []*graph.Value, why string) {
	seen := map[*graph.Value]bool{}
	for len(todo) > 0 {
		v := todo[0]
		todo = todo[1:]
		if seen[v] {
			continue
		}
		seen[v] = true
		if g := b.makerOf(v); g != nil {
			b.ask(g, why)
		}
		for _, r := range b.uses[v] {
			todo = append(todo, b.handOn(r, why)...)
		}
	}
}

// handOn pins one reader of a widened value and returns the values to widen with it.
func (b *builder) handOn(r *read, why string) []*graph.Value {
	if n := r.at.node; n != nil && independentOps[n.Op] {
		return b.castOf(n, r)
	}
	if !r.g.idle() {
		b.ask(r.g, why)
	}
	if r.g.role != move || r.g.node == nil {
		return b.lost(r.g)
	}
	return r.g.defs
}

// castOf returns the float result of a cast of the value: casts take any format, but what they
// make of a value too large for the low format must be wide like it. A cast to an 8-bit float is
// a quantisation and meant.
func (b *builder) castOf(n *graph.Node, r *read) []*graph.Value {
	out := n.Out(0)
	if (n.Op != "Cast" && n.Op != "CastLike") || r.at.index != 0 || out == nil || b.makerOf(out) == nil {
		return nil
	}
	if e := b.elem(out); e.Bits() < 16 {
		return nil
	}
	return []*graph.Value{out}
}

// pinSizes keeps arithmetic on shapes in FP32: exporters compute the sizes of Resize, Slice and
// Range in float, where one step of FP16 above 2048 already is a wrong size. It costs nothing.
func (b *builder) pinSizes() {
	if b.plan.Strategy == Repair {
		return
	}
	var nodes []*graph.Node
	fromShape := map[*graph.Value]bool{}
	for n := range b.m.Nodes() {
		if n.Call == nil && len(n.Subgraphs()) == 0 && b.shapeOnly(n, fromShape) {
			nodes = append(nodes, n)
			for _, out := range n.Outputs {
				fromShape[out] = true
			}
		}
	}
	index := map[*graph.Node]bool{}
	for i := len(nodes) - 1; i >= 0; i-- {
		if n := nodes[i]; b.feedsIndex(n, index) {
			index[n] = true
			for _, g := range b.byNode[n] {
				g.widen("it computes a size")
			}
		}
	}
}

// shapeOnly tells whether everything the node computes on comes from shapes and constants.
func (b *builder) shapeOnly(n *graph.Node, fromShape map[*graph.Value]bool) bool {
	if n.Op == "Shape" || n.Op == "Size" {
		return true
	}
	some := false
	for _, v := range n.Inputs {
		if v == nil || b.constant(v) {
			continue
		}
		if !fromShape[b.canon(v)] {
			return false
		}
		some = true
	}
	return some
}

// feedsIndex tells whether a float result of the node becomes an integer, or an operand that the
// standard wants in FP32, with nothing but shape arithmetic between.
func (b *builder) feedsIndex(n *graph.Node, index map[*graph.Node]bool) bool {
	for _, out := range n.Outputs {
		if b.elem(out) == graph.Undefined {
			continue
		}
		for _, r := range b.uses[out] {
			next := r.at.node
			if next == nil {
				continue
			}
			if index[next] || r.g.stay || next.Op == "Cast" && b.elem(next.Out(0)) == graph.Undefined {
				return true
			}
		}
	}
	return false
}
