package pattern

import "github.com/amplint/amplint/graph"

// truth returns the condition or the whole number that a value counts, its type and shape aside, nil where it
// is none.
func (f *finder) truth(v *graph.Value) *graph.Value {
	for {
		v = f.shaped(v)
		n := v.Producer
		if n == nil || n.OpName() != "Cast" || n.In(0) == nil || !widens(n.In(0).Type.Elem, v.Type.Elem) {
			break
		}
		v = n.In(0)
	}
	if v.Type.Elem.IsFloat() {
		return nil
	}
	return v
}

// widens tells whether a cast from one type to another keeps the whole numbers that masks are made of.
func widens(from, to graph.ElemType) bool {
	return from == graph.Bool || from.IsInt() && (to == graph.Float || to == graph.Double || to == graph.Int64)
}

// selected reads Where(mask, x, 0) as mask·x for the mask that is counted, whichever type it has.
func (f *finder) selected(n *graph.Node, w *graph.Value) (*graph.Value, []*graph.Value, bool) {
	if n.In(0) == nil || n.In(1) == nil || n.In(2) == nil {
		return nil, nil, false
	}
	cond, turned := f.unturned(n.In(0))
	counted, back := f.unturned(w)
	x, other, ok := f.picked(n)
	return x, []*graph.Value{f.untyped(w)}, ok && other == (turned != back) && cond == counted
}

// picked reads Where(m, x, 0) or, turned, Where(m, 0, x).
func (f *finder) picked(n *graph.Node) (x *graph.Value, turned, ok bool) {
	for i := range 2 {
		if c, ok := f.number1(f.same(n.In(2 - i))); ok && c == 0 {
			return f.same(n.In(1 + i)), i == 1, true
		}
	}
	return nil, false, false
}

// unturned returns what a mask is made of, its type and shape aside, and whether it is the contrary of it.
func (f *finder) unturned(v *graph.Value) (of *graph.Value, turned bool) {
	for {
		v = f.untyped(v)
		k := v.Producer
		if k == nil || k.In(0) == nil || k.Domain != "" {
			return v, turned
		}
		masked := k.Op == "Equal" && f.isNumber(k.In(1), 0) && !k.In(0).Type.Elem.IsFloat() // a mask that is 0
		if k.Op != "Not" && !masked {
			return v, turned
		}
		v, turned = k.In(0), !turned
	}
}

// untyped looks through casts and changes of shape.
func (f *finder) untyped(v *graph.Value) *graph.Value {
	for {
		v = f.shaped(v)
		n := v.Producer
		if n == nil || n.Op != "Cast" || n.Domain != "" || n.In(0) == nil {
			return v
		}
		v = n.In(0)
	}
}
