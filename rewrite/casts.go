package rewrite

import "github.com/amplint/amplint/graph"

// placeCasts finds the casts: one for all places that read a value in the same other type.
func (b *builder) placeCasts(ch *changes) {
	type key struct {
		v     *graph.Value
		elem  graph.ElemType
		scope *graph.Graph
	}
	points := map[key]*castPoint{}
	for _, r := range b.reads {
		if r.g.idle() || b.constant(r.v) && !r.v.Input {
			continue
		}
		v := ch.source(r.at.value())
		want := b.in(r.g, b.elem(r.v))
		if b.elemAfter(ch, v) == want {
			continue
		}
		if u := b.castFrom(ch, v, want); u != nil && r.at.node != nil {
			ch.rewires = append(ch.rewires, rewire{r.at, u})
			continue
		}
		k := key{v, want, v.Graph}
		if r.at.node == nil && r.at.graph.Owner != nil {
			k.scope = r.at.graph // a branch or body returns values of its own
		}
		if points[k] == nil {
			points[k] = &castPoint{v: v, elem: want, scope: k.scope}
			ch.casts = append(ch.casts, points[k])
		}
		points[k].places = append(points[k].places, r.at)
	}
}

// value returns what the place reads.
func (p place) value() *graph.Value {
	if p.node != nil {
		return p.node.In(p.index)
	}
	return p.graph.Outputs[p.index]
}

// source looks through casts that go away.
func (ch *changes) source(v *graph.Value) *graph.Value {
	for v.Producer != nil && ch.removed[v.Producer] {
		v = v.Producer.In(0)
	}
	return v
}

// castFrom returns the value of type want that v was cast up from, if there is one: up and down
// again gives the same number.
func (b *builder) castFrom(ch *changes, v *graph.Value, want graph.ElemType) *graph.Value {
	n := v.Producer
	if n == nil || !isCast(n) || !isWide(b.elemAfter(ch, v)) || isWide(want) {
		return nil
	}
	if u := ch.source(n.In(0)); b.elemAfter(ch, u) == want {
		return u
	}
	return nil
}

// existing returns the result of a cast of the model itself that does what the point needs and
// stands before all its places.
func (c *castPoint) existing(ch *changes) *graph.Value {
	for _, u := range c.v.Uses {
		n := u.Node
		if !isCast(n) || u.Index != 0 || n.Graph != c.scope || ch.removed[n] || ch.after(n.Out(0)) != c.elem {
			continue
		}
		if c.follows(n) {
			return n.Out(0)
		}
	}
	return nil
}

func (ch *changes) after(v *graph.Value) graph.ElemType {
	if e, ok := ch.newElem[v]; ok {
		return e
	}
	return elemOf(v.Type)
}

// follows tells whether all places of the point come after the node, in its graph or below, and
// none of them is an output of a graph, whose name would have to be another.
func (c *castPoint) follows(n *graph.Node) bool {
	for _, p := range c.places {
		at := p.node
		for at != nil && at.Graph != n.Graph {
			at = at.Graph.Owner
		}
		if at == nil || at.Index <= n.Index {
			return false
		}
	}
	return true
}
