package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// difference returns a and b where v is a - b, also as a + (-b) or -(b - a).
func (f *finder) difference(v *graph.Value) (a, b *graph.Value, ok bool) {
	return f.differ(f.same(v), maxDepth)
}

func (f *finder) differ(v *graph.Value, depth int) (a, b *graph.Value, ok bool) {
	n := v.Producer
	if n == nil || v.Const != nil || depth == 0 || n.In(0) == nil {
		return nil, nil, false
	}
	if x := f.negated(v); x != nil {
		b, a, ok = f.differ(f.same(x), depth-1)
		return a, b, ok
	}
	if len(n.Inputs) != 2 || n.In(1) == nil {
		return nil, nil, false
	}
	switch n.OpName() {
	case "Sub":
		return n.In(0), n.In(1), true
	case "Add", "Sum":
		for i, in := range n.Inputs {
			if x := f.negated(in); x != nil {
				return n.In(1 - i), x, true
			}
		}
	}
	return nil, nil, false
}

// negated returns x where v is -x, x · -1, x / -1 or 0 - x of the same shape.
func (f *finder) negated(v *graph.Value) *graph.Value {
	v = f.same(v)
	n := v.Producer
	if n == nil || v.Const != nil || n.In(0) == nil {
		return nil
	}
	if n.OpName() == "Neg" {
		return n.In(0)
	}
	if len(n.Inputs) != 2 || n.In(1) == nil || !v.Type.Elem.IsFloat() {
		return nil
	}
	x, by, want := n.In(0), n.In(1), -1.0
	switch n.OpName() {
	case "Mul":
		if f.isNumber(x, want) {
			x, by = by, x
		}
	case "Div":
	case "Sub":
		x, by, want = by, x, 0
	default:
		return nil
	}
	if !f.isNumber(by, want) || !settled(v.Type.Shape) || !slices.Equal(x.Type.Shape, v.Type.Shape) {
		return nil
	}
	return x
}

func (f *finder) isNumber(v *graph.Value, want float64) bool {
	c, ok := f.number1(f.same(v))
	return ok && c == want
}

// quotient returns a and b where v is a / b, also as a times the reciprocal of b.
func (f *finder) quotient(v *graph.Value) (a, b *graph.Value, ok bool) {
	n := v.Producer
	if n == nil || v.Const != nil || len(n.Inputs) != 2 || n.In(0) == nil || n.In(1) == nil || !v.Type.Elem.IsFloat() {
		return nil, nil, false
	}
	switch n.OpName() {
	case "Div":
		return n.In(0), n.In(1), true
	case "Mul":
		for i, in := range n.Inputs {
			if x := f.inverted(in); x != nil {
				return n.In(1 - i), x, true
			}
		}
	}
	return nil, nil, false
}

// inverted returns x where v is 1 / x.
func (f *finder) inverted(v *graph.Value) *graph.Value {
	v = f.same(v)
	n := v.Producer
	if n == nil || v.Const != nil || n.In(0) == nil {
		return nil
	}
	switch n.OpName() {
	case "Reciprocal":
		return n.In(0)
	case "Div":
		if n.In(1) != nil && f.isNumber(n.In(0), 1) {
			return n.In(1)
		}
	case "Pow":
		if n.In(1) != nil && f.isNumber(n.In(1), -1) {
			return n.In(0)
		}
	}
	return nil
}

// Returned returns a value above v that changes of shape, or transpositions, lead back to: it has the same
// elements of the same type at the same places. It is nil where there is none.
func Returned(v *graph.Value) *graph.Value { return returned(v, unchanged) }

// returned is Returned where between the changes there may be nodes that pass.
func returned(v *graph.Value, passes func(*graph.Node) bool) *graph.Value {
	n := v.Producer
	if n == nil || n.In(0) == nil {
		return nil
	}
	switch n.OpName() {
	case "Reshape", "Squeeze", "Unsqueeze", "Flatten":
		return reshapedBack(v, passes)
	case "Transpose":
		return transposedBack(v, passes)
	case "Expand", "Tile":
		if x := n.In(0); settled(v.Type.Shape) && slices.Equal(x.Type.Shape, v.Type.Shape) {
			return x
		}
	}
	return nil
}

// Bare looks through nodes that change neither a number nor its type or place. What is known of a value is not
// known of one that is rounded to another type.
func Bare(v *graph.Value) *graph.Value {
	for v != nil && v.Producer != nil && v.Const == nil && v.Producer.In(0) != nil {
		in := v.Producer.In(0)
		if !unchanged(v.Producer) {
			in = Returned(v)
		}
		if in == nil {
			break
		}
		v = in
	}
	return v
}

func reshapedBack(v *graph.Value, passes func(*graph.Node) bool) *graph.Value {
	u := v
	for range maxDepth {
		n := u.Producer
		if n == nil || n.In(0) == nil || !passes(n) && (!reshapes(n) || n.Op == "Expand") {
			return nil
		}
		if u = n.In(0); settled(u.Type.Shape) && slices.Equal(u.Type.Shape, v.Type.Shape) {
			return u
		}
	}
	return nil
}

func transposedBack(v *graph.Value, passes func(*graph.Node) bool) *graph.Value {
	u, perm := v, []int64(nil)
	for range maxDepth {
		n := u.Producer
		if n == nil || n.In(0) == nil {
			return nil
		}
		if !passes(n) {
			p := permutation(n)
			if p == nil {
				return nil
			}
			if perm == nil {
				perm = p
			} else {
				perm = composed(p, perm)
			}
		}
		if u = n.In(0); perm != nil && slices.IsSorted(perm) {
			return u
		}
	}
	return nil
}

// permutation returns the order of the axes of a Transpose, nil where it is not known or there is none.
func permutation(n *graph.Node) []int64 {
	rank := len(n.In(0).Type.Shape)
	if n.OpName() != "Transpose" || rank == 0 {
		return nil
	}
	p := n.Ints("perm")
	if p == nil {
		for i := range rank {
			p = append(p, int64(rank-1-i))
		}
	}
	if len(p) != rank || slices.Min(p) < 0 || slices.Max(p) >= int64(rank) {
		return nil
	}
	return p
}

// composed is the order of the axes after one transposition and then another.
func composed(first, then []int64) []int64 {
	out := make([]int64, len(then))
	for i, a := range then {
		out[i] = first[a]
	}
	return out
}

// repeatsOnes tells whether a Tile repeats axes of length 1 alone, as Expand does.
func repeatsOnes(n *graph.Node) bool {
	x, v := n.In(0).Type.Shape, n.Out(0).Type.Shape
	if !settled(x) || len(x) != len(v) {
		return false
	}
	for i, d := range x {
		if d != v[i] && d != (graph.Dim{N: 1}) {
			return false
		}
	}
	return true
}
