package rewrite

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// changes is what differs between a model and what is planned for it. It is complete before the
// first edit is made, as edits change the types it is computed from.
type changes struct {
	retyped []retype
	casts   []*castPoint
	consts  []*constPoint
	makers  []*graph.Node // nodes whose own attribute says what type they make
	noops   []*graph.Node // casts that change nothing
	spare   int           // of these, how many changed nothing before either
	rewires []rewire

	newElem map[*graph.Value]graph.ElemType // of retyped values
	removed map[*graph.Node]bool            // noops
	yields  map[*graph.Value]bool           // outputs of any graph
}

type retype struct {
	v    *graph.Value
	elem graph.ElemType
}

// castPoint is one cast: the value, the type, and the places that read its result.
type castPoint struct {
	v      *graph.Value
	elem   graph.ElemType
	scope  *graph.Graph // where the cast stands
	places []place
}

// constPoint is a constant that is stored in another type, or in a second one for some readers.
type constPoint struct {
	v      *graph.Value
	elem   graph.ElemType
	copyTo bool // elem is the second type, that of places
	places []place
}

// rewire makes a place read what was cast up for it in the first place.
type rewire struct {
	at place
	v  *graph.Value
}

func (ch *changes) empty() bool {
	return len(ch.retyped)+len(ch.casts)+len(ch.consts)+len(ch.makers)+len(ch.noops)-ch.spare+len(ch.rewires) == 0
}

// touched returns the graphs whose nodes or constants change.
func (ch *changes) touched() []*graph.Graph {
	var list []*graph.Graph
	for _, c := range ch.casts {
		list = append(list, c.scope)
		for _, p := range c.places {
			list = append(list, p.scope())
		}
	}
	for _, c := range ch.consts {
		list = append(list, c.v.Graph)
		for _, p := range c.places {
			list = append(list, p.scope())
		}
	}
	for _, n := range append(ch.makers, ch.noops...) {
		list = append(list, n.Graph)
	}
	for _, r := range ch.rewires {
		list = append(list, r.at.scope())
	}
	for _, r := range ch.retyped {
		if templateType(r.v) {
			list = append(list, r.v.Graph)
		}
	}
	return list
}

// templateType tells whether the value_info of a function declares the type of the value.
func templateType(v *graph.Value) bool {
	if v.Producer == nil || v.Producer.Origin == nil {
		return false
	}
	o := v.Producer.Origin.Out(v.Index)
	return o != nil && o.Declared() && o.Type.Kind != graph.KindUnknown
}

// changes compares what every value is with what it is to be.
func (b *builder) changes() *changes {
	ch := &changes{newElem: map[*graph.Value]graph.ElemType{}, removed: map[*graph.Node]bool{}, yields: outputsOf(b.m)}
	for g := range b.m.Graphs() {
		for _, v := range g.Values {
			if e := b.planned(v); e != b.elem(v) && !b.constant(v) {
				ch.retyped = append(ch.retyped, retype{v, e})
				ch.newElem[v] = e
			}
		}
	}
	b.constants(ch)
	for n := range b.m.Nodes() {
		if n.Call == nil {
			b.own(ch, n)
		}
	}
	b.placeCasts(ch)
	return ch
}

// planned returns the type that a value will have, for constants that of its main form.
func (b *builder) planned(v *graph.Value) graph.ElemType {
	e := b.elem(v)
	v = b.canon(v)
	if e == graph.Undefined {
		return e
	}
	if b.constant(v) {
		return b.forms(v)[0]
	}
	g := b.makerOf(v)
	if g == nil {
		return e
	}
	return b.in(g, e)
}

// in returns the type that a value of type e has in a group.
func (b *builder) in(g *group, e graph.ElemType) graph.ElemType {
	switch {
	case g.stay:
		return e
	case g.asBF16:
		return graph.BFloat16
	case g.wide && isWide(e):
		return e
	case g.wide:
		return graph.Float
	case isWide(e) || b.retypes(e):
		return b.low
	}
	return e
}

// retypes tells whether low values of the type become those of the target: a BF16 model that is to be
// FP16, or the other way round. A model that holds both has each in its place.
func (b *builder) retypes(e graph.ElemType) bool {
	return b.foreign16 && (e == graph.Float16 || e == graph.BFloat16)
}

// holds tells whether a value of the model has the type.
func holds(m *graph.Model, e graph.ElemType) bool {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if elemOf(v.Type) == e {
				return true
			}
		}
	}
	return false
}

// heldIn is planned, but for a constant with several forms it is the low one.
func (b *builder) heldIn(v *graph.Value) graph.ElemType {
	c := b.canon(v)
	if b.elem(c) != graph.Undefined && b.constant(c) {
		for _, e := range b.forms(c) {
			if !isWide(e) {
				return e
			}
		}
	}
	if b.elem(v) == graph.Undefined {
		return elemOf(v.Type)
	}
	return b.planned(v)
}

// forms returns the types that a constant is needed in, the one under its own name first: what it has
// if that is needed.
func (b *builder) forms(v *graph.Value) []graph.ElemType {
	e := b.elem(v)
	var list []graph.ElemType
	for _, r := range b.uses[v] {
		if want := b.in(r.g, e); !r.g.idle() && !slices.Contains(list, want) {
			list = append(list, want)
		}
	}
	if len(list) == 0 {
		return []graph.ElemType{e}
	}
	if i := slices.Index(list, e); i > 0 {
		list[0], list[i] = list[i], list[0]
	}
	return list
}

// constants lists the constants to convert. One that is an input as well has one form only.
func (b *builder) constants(ch *changes) {
	for _, v := range b.order {
		if !b.constant(v) {
			continue
		}
		e := b.elem(v)
		forms := b.forms(v)
		if forms[0] != e {
			ch.consts = append(ch.consts, &constPoint{v: v, elem: forms[0]})
			ch.newElem[v] = forms[0]
		}
		if v.Input {
			continue
		}
		for _, form := range forms[1:] {
			c := &constPoint{v: v, elem: form, copyTo: true}
			for _, r := range b.uses[v] {
				if !r.g.idle() && b.in(r.g, e) == form {
					c.places = append(c.places, r.at)
				}
			}
			ch.consts = append(ch.consts, c)
		}
	}
}

// elemAfter returns the type of a value once the changes are made.
func (b *builder) elemAfter(ch *changes, v *graph.Value) graph.ElemType {
	if v == nil {
		return graph.Undefined
	}
	if e, ok := ch.newElem[v]; ok {
		return e
	}
	if c := b.canon(v); c != v {
		return b.elemAfter(ch, c)
	}
	return elemOf(v.Type)
}

// own finds out whether the node says itself what type it makes, and whether that changes.
func (b *builder) own(ch *changes, n *graph.Node) {
	if b.noop(ch, n) {
		if elemOf(n.In(0).Type) == elemOf(n.Out(0).Type) {
			ch.spare++
		}
		ch.noops = append(ch.noops, n)
		ch.removed[n] = true
		return
	}
	if b.makesType(ch, n) {
		ch.makers = append(ch.makers, n)
	}
}

// noop tells whether a cast changes nothing once the changes are made. One that never did goes as
// well when a model is narrowed, but a function is not taken apart for it.
func (b *builder) noop(ch *changes, n *graph.Node) bool {
	if !isCast(n) || ch.yields[n.Out(0)] {
		return false
	}
	e := b.elemAfter(ch, n.In(0))
	if e == graph.Undefined || e != b.elemAfter(ch, n.Out(0)) {
		return false
	}
	return elemOf(n.In(0).Type) != elemOf(n.Out(0).Type) || b.plan.Strategy == Mixed && !insideCall(n.Graph)
}

func isCast(n *graph.Node) bool {
	return n.Domain == "" && (n.Op == "Cast" || n.Op == "CastLike") && n.In(0) != nil && n.Out(0) != nil
}

// outputsOf returns what the graphs of a model yield, values of the graphs around them included.
func outputsOf(m *graph.Model) map[*graph.Value]bool {
	yields := map[*graph.Value]bool{}
	for g := range m.Graphs() {
		for _, v := range g.Outputs {
			yields[v] = true
		}
	}
	return yields
}
