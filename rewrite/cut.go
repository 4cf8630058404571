package rewrite

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
)

// The costs below are in elements of the tensor in question, times costUnit. Only their order
// matters: a cast on the way to an input or output that keeps its type is nearly free, since it
// must be somewhere, but for a repair, which has none there so far; a cast inside costs its tensor; a cheap node runs wide when that saves two
// casts of its size, not for one; work that low formats are for never does.
const (
	costUnit   = 64
	castCost   = costUnit
	borderCost = 1
	exactCost  = 4 * borderCost // worth the casts at the border of the model, none inside
	wideCost   = costUnit * 3 / 2
	heavyCost  = costUnit << 16
	perCast    = 1024 // what any cast costs beside its elements
	unknownDim = 64   // what a dimension without a number counts as
	maxSize    = 1 << 24
)

// solve decides every group: pinned ones as pinned, the others by a minimum cut. Where that leaves
// wide most of what may be low, as in a small model whose few nodes all stand beside an island, no
// cast is too dear: a plan that narrows nothing is none.
func (b *builder) solve() {
	b.decide()
	if b.plan.Strategy == Mixed && !b.eager && b.mostlyWide() {
		b.eager = true
		b.decide()
	}
}

// mostlyWide tells whether less than 3 in 5 of the nodes that compute and may be low are so.
func (b *builder) mostlyWide() bool {
	free, low := 0, 0
	for _, g := range b.groups {
		if g.parent != nil || g.stay || g.wantWide || g.idle() || !computes(g) {
			continue
		}
		if free++; !g.wide || g.asBF16 {
			low++
		}
	}
	return 5*low < 3*free
}

// computes tells whether a group is a node that makes other floats than it reads.
func computes(g *group) bool {
	return g.node != nil && len(g.defs) > 0 && (g.role > move || g.node.Op == "Neg" || g.node.Op == "Abs" || g.node.Op == "Where")
}

func (b *builder) decide() {
	w := &network{}
	source, sink := w.node(), w.node()
	for _, g := range b.groups {
		if g.parent == nil {
			g.id = w.node()
			b.terminals(w, g, source, sink)
		}
	}
	for _, v := range b.order {
		b.castArcs(w, v)
	}
	wide := w.cut(source, sink)
	for _, g := range b.groups {
		if g.parent == nil {
			g.wide = wide[g.id]
			g.asBF16 = g.wide && g.wantBF16 && !g.stay && b.low == graph.Float16 && g.allowsBF16()
		}
	}
	for b.joinBF16() {
	}
}

// joinBF16 makes groups BF16 that are wide only because that saves casts, and that meet no wide group
// but BF16 ones. It tells whether there were any.
func (b *builder) joinBF16() (some bool) {
	for _, g := range b.groups {
		if g.parent != nil || !g.wide || g.asBF16 || g.wantWide || g.stay || g.idle() || !b.amidBF16(g) || !g.allowsBF16() {
			continue
		}
		g.asBF16, some = true, true
	}
	return some
}

// amidBF16 tells whether a group reads or is read by a BF16 group, and by no other wide one.
func (b *builder) amidBF16(g *group) (some bool) {
	var near []*group
	for _, r := range g.reads {
		near = append(near, b.makerOf(r.v))
	}
	for _, v := range g.defs {
		for _, r := range b.uses[v] {
			near = append(near, r.g)
		}
	}
	for _, n := range near {
		switch {
		case n == nil, n == g, n.idle(), !n.wide:
		case !n.asBF16:
			return false
		default:
			some = true
		}
	}
	return some
}

// allowsBF16 tells whether the operator of a group may have it in BF16.
func (g *group) allowsBF16() bool {
	if g.node == nil {
		return false
	}
	op, ok := schema.Lookup(g.node.Domain, g.node.Op, g.node.Version())
	if !ok || len(op.Outputs) == 0 {
		return false
	}
	for _, r := range g.reads {
		if r.at.node != g.node {
			continue
		}
		if p, ok := op.Input(r.at.index); !ok || !p.AllowsElem(int32(graph.BFloat16)) {
			return false
		}
	}
	return op.Outputs[0].AllowsElem(int32(graph.BFloat16))
}

func (b *builder) terminals(w *network, g *group, source, sink int) {
	switch {
	case g.stay && !isWide(g.orig):
		w.arc(g.id, sink, endless)
	case g.stay, g.wantWide:
		w.arc(source, g.id, endless)
	case b.low == graph.Float, g.node != nil && len(g.defs) == 0 && !g.flow:
		// What makes integers of floats, such as a quantisation or a comparison, has no work to save in the
		// low format, and FP32 where it costs no cast is exact.
		w.arc(source, g.id, 1)
	default:
		w.arc(g.id, sink, b.cost(g))
	}
}

// cost is what it costs to run the group wide.
func (b *builder) cost(g *group) int64 {
	var size int64
	last := true
	for _, v := range g.defs {
		size += sizeOf(v)
		last = last && b.borderOnly(v)
	}
	if last && g.role == compute {
		size *= 2 // there is no island behind it to join
	}
	switch r := g.role; {
	case b.plan.Chosen && g.flow: // nobody chose it, and what it passes on may be either
		return 1
	case b.plan.Chosen && g.node != nil, b.eager && computes(g):
		return max(size, perCast) * heavyCost
	case r == move:
		return 1
	case r == exact:
		return max(size*exactCost, 1)
	case r == heavy:
		return max(size, perCast) * heavyCost
	}
	return max(size*wideCost, 1)
}

// castArcs makes the cut pay one cast where readers of a value differ from its maker.
func (b *builder) castArcs(w *network, v *graph.Value) {
	def := b.makerOf(v)
	if def == nil {
		return
	}
	cost := sizeOf(v) * castCost
	down, up := -1, -1 // stand for "some reader is low" and "some reader is wide"
	for _, r := range b.uses[v] {
		if r.g == def || r.g.idle() {
			continue
		}
		if down < 0 {
			down, up = w.node(), w.node()
			if b.plan.Strategy != Repair && (def.node == nil || b.borderOnly(v)) {
				cost = sizeOf(v) * borderCost
			}
			w.arc(def.id, down, cost)
			w.arc(up, def.id, cost)
		}
		w.arc(down, r.g.id, endless)
		w.arc(r.g.id, up, endless)
	}
}

// borderOnly tells whether all readers of a value are outputs of the model.
func (b *builder) borderOnly(v *graph.Value) bool {
	for _, r := range b.uses[v] {
		if r.g.node != nil {
			return false
		}
	}
	return true
}

// sizeOf estimates the elements of a value, with what a cast costs by itself.
func sizeOf(v *graph.Value) int64 {
	t := v.Type
	for t.Of != nil {
		t = *t.Of
	}
	size := int64(1)
	for _, d := range t.Shape {
		n := int64(unknownDim)
		if d.Known() {
			n = max(d.N, 1)
		}
		if size = size * min(n, maxSize); size > maxSize {
			size = maxSize
		}
	}
	if t.Shape == nil {
		size = unknownDim * unknownDim
	}
	return size + perCast
}
