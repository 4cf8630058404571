package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// stretch is a part of a value: its elements from..to along one axis.
type stretch struct {
	of       *graph.Value
	axis     int
	from, to int64
}

// stretch reads an output of a Split, a Slice of one axis in steps of 1, or a Gather of one element.
func (f *finder) stretch(v *graph.Value) (s stretch, ok bool) {
	n := v.Producer
	if n == nil || v.Const != nil || n.In(0) == nil || n.Domain != "" {
		return s, false
	}
	x := n.In(0).Type.Shape
	axis := n.Int("axis", 0)
	switch n.Op {
	case "Split":
		s.from, s.to, ok = splitOf(n, v)
	case "Slice":
		s.from, s.to, axis, ok = slicedOf(n)
	case "Gather":
		at := fewInts(n.In(1))
		if ok = len(at) == 1 && len(v.Type.Shape) <= len(x); ok {
			s.from, s.to = at[0], at[0]+1
		}
	}
	axis = fromFront(axis, x)
	if !ok || axis < 0 || axis >= int64(len(x)) || !x[axis].Known() {
		return s, false
	}
	s.of, s.axis = f.same(n.In(0)), int(axis)
	size := x[axis].N
	for _, at := range []*int64{&s.from, &s.to} {
		if *at < 0 {
			*at += size
		}
		*at = min(max(*at, 0), size)
	}
	if n.Op == "Gather" {
		s.to = s.from + 1
	}
	return s, s.from < s.to && s.to <= size
}

// fromFront counts an axis of a shape from the front.
func fromFront(axis int64, s graph.Shape) int64 {
	if axis < 0 {
		axis += int64(len(s))
	}
	return axis
}

// splitOf returns where an output of a Split begins and ends.
func splitOf(n *graph.Node, v *graph.Value) (from, to int64, ok bool) {
	axis := n.Int("axis", 0)
	for _, o := range n.Outputs[:v.Index+1] {
		if o == nil {
			return 0, 0, false
		}
		at := fromFront(axis, o.Type.Shape)
		if at < 0 || at >= int64(len(o.Type.Shape)) || !o.Type.Shape[at].Known() {
			return 0, 0, false
		}
		from, to = to, to+o.Type.Shape[at].N
	}
	return from, to, true
}

// slicedOf returns where a Slice of one axis in steps of 1 begins and ends, as the node counts them.
func slicedOf(n *graph.Node) (from, to, axis int64, ok bool) {
	starts, ends, axes := n.Ints("starts"), n.Ints("ends"), n.Ints("axes")
	if n.Version() >= 10 {
		starts, ends, axes = fewInts(n.In(1)), fewInts(n.In(2)), fewInts(n.In(3))
		if s := n.In(4); s != nil && !slices.Equal(fewInts(s), []int64{1}) || n.In(3) != nil && axes == nil {
			return 0, 0, 0, false
		}
	}
	if axes == nil {
		axes = []int64{0}
	}
	if len(starts) != 1 || len(ends) != 1 || len(axes) != 1 {
		return 0, 0, 0, false
	}
	return starts[0], ends[0], axes[0], true
}

// joined returns the operand of a Concat that a value cuts out of it again, nil where it cuts out another part.
func (f *finder) joined(v *graph.Value) *graph.Value {
	n := v.Producer
	if n.Op != "Split" && n.Op != "Slice" && n.Op != "Gather" || !settled(v.Type.Shape) {
		return nil
	}
	s, ok := f.stretch(v)
	if !ok || s.of.Producer == nil || s.of.Const != nil || s.of.Producer.OpName() != "Concat" {
		return nil
	}
	at := fromFront(s.of.Producer.Int("axis", 0), s.of.Type.Shape)
	end := int64(0)
	for _, in := range s.of.Producer.Inputs {
		if in == nil || int(at) != s.axis || len(in.Type.Shape) != len(s.of.Type.Shape) || !in.Type.Shape[at].Known() {
			return nil
		}
		if end += in.Type.Shape[at].N; end == s.to && end-in.Type.Shape[at].N == s.from {
			return restored(in, v)
		}
	}
	return nil
}

// restored returns a value that has the shape of another one: itself, or what its axis of length 1 was put into.
func restored(x, as *graph.Value) *graph.Value {
	if slices.Equal(x.Type.Shape, as.Type.Shape) {
		return x
	}
	if n := x.Producer; n != nil && x.Const == nil && n.In(0) != nil && reshapes(n) && slices.Equal(n.In(0).Type.Shape, as.Type.Shape) {
		return n.In(0)
	}
	return nil
}
