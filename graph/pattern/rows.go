package pattern

import (
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
)

// origins tells for each dimension of a shape that the results of a reduction were given which axis of its operand
// it stems from; -1 for those of length 1. ok is false where that cannot be told.
func (r *reduction) origins(s graph.Shape) (from []int, ok bool) {
	x := r.operand()
	if !settled(x) || !settled(s) {
		return nil, false
	}
	if slices.Equal(x, s) { // one result for each element, or none was reduced
		for i := range x {
			from = append(from, i)
		}
		return from, true
	}
	kept := slices.DeleteFunc(long(x), r.reduces)
	return matched(s, x, kept)
}

// operand is the shape of what is reduced, which may be a smaller value that was expanded.
func (r *reduction) operand() graph.Shape {
	if n := r.value.Producer; n != nil && n.Domain == "" && strings.HasPrefix(n.Op, "Reduce") && n.In(0) != nil {
		return n.In(0).Type.Shape
	}
	return r.of.Type.Shape
}

// reduces tells whether a reduction runs over an axis.
func (r *reduction) reduces(axis int) bool { return r.all || slices.Contains(r.axes, axis) }

// long lists the axes of a shape whose length is not 1.
func long(s graph.Shape) (axes []int) {
	for i, d := range s {
		if d != (graph.Dim{N: 1}) {
			axes = append(axes, i)
		}
	}
	return axes
}

// matched gives the dimensions of a shape that are longer than 1 the axes of another in their order.
func matched(s, x graph.Shape, axes []int) (from []int, ok bool) {
	for _, d := range s {
		switch {
		case d == (graph.Dim{N: 1}):
			from = append(from, -1)
		case len(axes) > 0 && x[axes[0]] == d:
			from, axes = append(from, axes[0]), axes[1:]
		default:
			return nil, false
		}
	}
	return from, len(axes) == 0
}

// crossed tells whether two values, whose dimensions stem from the same axes, meet in others when the one is
// broadcast to the other: without keepdims the sums of a batch would meet the rows of another dimension. An axis
// is free where it does no harm that only one of them has it.
func crossed(a, b []int, free func(axis int) bool) bool {
	for i := range max(len(a), len(b)) {
		x, y := -1, -1
		if i < len(a) {
			x = a[len(a)-1-i]
		}
		if i < len(b) {
			y = b[len(b)-1-i]
		}
		if x != y && !(x < 0 && free(y)) && !(y < 0 && free(x)) {
			return true
		}
	}
	return false
}

// crosswise tells whether two values that are reductions of equal shapes over the same axes, their shapes changed
// or not, meet in others of their rows.
func crosswise(r *reduction, a *graph.Value, q *reduction, b *graph.Value) bool {
	x, ok := r.origins(a.Type.Shape)
	y, ok2 := q.origins(b.Type.Shape)
	return ok && ok2 && crossed(x, y, r.reduces)
}

// crosses tells whether the sums of a product, num, meet the sums of its weights, den, of other rows. as is what
// stands in the product for the weights.
func (r *reduction) crosses(num *graph.Value, of *reduction, as, den *graph.Value) bool {
	a, ok := r.origins(num.Type.Shape)
	b, ok2 := of.origins(den.Type.Shape)
	off := len(r.operand()) - len(as.Type.Shape)
	untold := of.shorter(num, den) && len(r.operand()) == len(of.operand())
	if ok && !ok2 && settled(of.operand()) && settled(den.Type.Shape) { // copied along an axis that is none of its own
		return true
	}
	if !ok || !ok2 || off < 0 {
		return untold
	}
	for i, axis := range b {
		if axis >= 0 {
			if b[i], ok = place(axis, of.operand(), as.Type.Shape); !ok {
				return untold
			}
			b[i] += off
		}
	}
	return crossed(a, b, func(axis int) bool { return r.reduces(axis) || !slices.Contains(b, axis) })
}

// shorter tells whether one of two values of equally many dimensions has lost some that it does not have in front:
// all that is to be told of the rows of sizes without a name.
func (r *reduction) shorter(a, b *graph.Value) bool {
	front := !slices.ContainsFunc(r.axes, func(axis int) bool { return axis >= len(r.axes) })
	return !front && a.Type.Shape != nil && b.Type.Shape != nil && len(a.Type.Shape) != len(b.Type.Shape)
}

// place finds an axis of a shape in another one that it was changed to or broadcast to.
func place(axis int, from, to graph.Shape) (int, bool) {
	if list, ok := matched(to, from, long(from)); ok {
		i := slices.Index(list, axis)
		return i, i >= 0
	}
	off := len(to) - len(from)
	for i := range from {
		one := graph.Dim{N: 1}
		if i+off >= 0 && from[i] != to[i+off] && from[i] != one && to[i+off] != one {
			return 0, false
		}
	}
	return axis + off, axis+off >= 0
}
