package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// named tells whether a dimension has a name that the file gave it, or that follows from such names.
func named(d graph.Dim) bool { return d.Sym != "" && !madeUp.MatchString(d.Sym) }

// better returns the dimension that says more of two that are the same.
func better(a, b graph.Dim) graph.Dim {
	switch {
	case a.Known() || !b.Known() && (named(a) || !named(b) && a.Sym != ""):
		return a
	}
	return b
}

// unify returns the dimension that both a and b are; it fails where they are different numbers.
func (c *ctx) unify(a, b graph.Dim) (graph.Dim, error) {
	if a.Known() && b.Known() && a != b {
		return a, c.errorf("sizes %d and %d should be the same", a.N, b.N)
	}
	return better(a, b), nil
}

// broadcast returns the shape that two shapes broadcast to, nil where one is unknown.
func (c *ctx) broadcast(a, b graph.Shape) (graph.Shape, error) {
	if a == nil || b == nil {
		return nil, nil
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	skip := len(a) - len(b)
	for i, d := range b {
		e, ok := c.broadcastDim(a[skip+i], d)
		if !ok {
			return nil, c.errorf("shapes %s and %s do not broadcast", a, b)
		}
		out[skip+i] = e
	}
	return out, nil
}

// broadcastDim combines two sizes that are equal, or of which one is 1.
func (w *walk) broadcastDim(a, b graph.Dim) (graph.Dim, bool) {
	switch {
	case a == b || b == graph.Dim{N: 1}:
		return a, true
	case a == graph.Dim{N: 1}:
		return b, true
	case a.Known() && b.Known():
		return a, false
	case a.Known() && a.N != 0:
		return a, true
	case b.Known() && b.N != 0:
		return b, true
	}
	p, ok := w.num(a).poly()
	q, both := w.num(b).poly()
	if !ok || !both {
		return w.fresh(), true
	}
	if q.String() < p.String() {
		p, q = q, p
	}
	return w.dim(polyNum(w.part("broadcast", p, q))), true
}

// broadcastAll broadcasts all inputs from one on; inputs left out do not count.
func (c *ctx) broadcastAll(from int) (graph.Shape, error) {
	s := graph.Shape{}
	for i := from; i < len(c.n.Inputs); i++ {
		if !c.has(i) {
			continue
		}
		var err error
		if s, err = c.broadcast(s, c.shape(i)); err != nil || s == nil {
			return nil, err
		}
	}
	return s, nil
}

// product multiplies sizes.
func (w *walk) product(s graph.Shape) num {
	x := intNum(1)
	for _, d := range s {
		x = mulNum(x, w.num(d))
	}
	return x
}

// join returns what holds for both of two types: of branches, or of a loop's passes.
func (w *walk) join(a, b graph.Type) graph.Type {
	if a.Kind != b.Kind {
		return graph.Type{}
	}
	if a.Elem != b.Elem {
		a.Elem = graph.Undefined
	}
	a.Shape = w.joinShape(a.Shape, b.Shape)
	if a.Of != nil && b.Of != nil {
		of := w.join(*a.Of, *b.Of)
		a.Of = &of
	}
	return a
}

func (w *walk) joinShape(a, b graph.Shape) graph.Shape {
	if a == nil || b == nil || len(a) != len(b) {
		return nil
	}
	out := slices.Clone(a)
	for i := range out {
		if a[i] != b[i] {
			out[i] = w.fresh()
		}
	}
	return out
}

// reorder returns s with its dimensions in the order of perm.
func reorder(s graph.Shape, perm []int64) graph.Shape {
	out := make(graph.Shape, len(perm))
	for i, p := range perm {
		out[i] = s[p]
	}
	return out
}

// concatShapes joins lists of dimensions. The result is never nil: that would be an unknown rank.
func concatShapes(parts ...graph.Shape) graph.Shape {
	out := graph.Shape{}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}
