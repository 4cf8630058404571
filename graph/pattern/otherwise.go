package pattern

import (
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
)

// otherwise reads reductions that other operators make, of operands whose shape is known: pools over all
// of an image, products and convolutions with one number, an Einsum that drops axes, the largest of one, the
// negative of the least negative, and a reduction in another layout.
func (f *finder) otherwise(r *reduction, n *graph.Node) (*reduction, float64, bool) {
	x, coef := n.In(0), 1.0
	if !settled(x.Type.Shape) || r.value.Index != 0 {
		return nil, 0, false
	}
	switch n.Op {
	case "GlobalAveragePool", "GlobalMaxPool", "AveragePool", "MaxPool":
		r.op, r.axes = pooled(n)
	case "MatMul":
		if coef = f.bySum(r, n); r.op == "" {
			r.op, r.axes, coef = f.bySelf(n)
		}
	case "Gemm":
		coef = f.byGemm(r, n)
	case "Conv":
		coef = f.byKernel(r, n)
	case "Einsum":
		if r.op, r.axes = dropped(n); r.op == "" {
			r.op, r.axes = f.twice(n)
		}
	case "TopK":
		r.op, r.axes = f.first(n)
	case "Neg", "Mul":
		return f.opposite(r)
	case "Max":
		return f.farthest(n, r.value)
	case "Transpose":
		return f.relaid(r, n)
	}
	if r.op == "" || len(r.axes) == 0 {
		return nil, 0, false
	}
	s := r.of.Type.Shape
	r.all = len(r.axes) == len(s)
	r.count = count(s, r.axes, r.all)
	return r, coef, true
}

// pooled reads a pool whose window is the image.
func pooled(n *graph.Node) (op string, axes []int) {
	s, window := n.In(0).Type.Shape, n.Ints("kernel_shape")
	op = "Mean"
	if strings.Contains(n.Op, "Max") {
		op = "Max"
	}
	for i := 2; i < len(s); i++ {
		if !strings.HasPrefix(n.Op, "Global") && (i-2 >= len(window) || !s[i].Known() || window[i-2] != s[i].N) {
			return "", nil
		}
		axes = append(axes, i)
	}
	if !unpadded(n) {
		return "", nil
	}
	return op, axes
}

// bySelf reads the product of rows with themselves as columns.
func (f *finder) bySelf(n *graph.Node) (op string, axes []int, coef float64) {
	a, b := n.In(0), n.In(1)
	if b == nil || !f.alike(a, b) {
		return "", nil, 0
	}
	s, t := a.Type.Shape, b.Type.Shape
	k, one := len(s), graph.Dim{N: 1}
	if k < 2 || len(t) != k || s[k-2] != one || t[k-1] != one {
		return "", nil, 0
	}
	return "SumSquare", []int{k - 1}, 1
}

// twice reads an Einsum of a value with itself, element by element.
func (f *finder) twice(n *graph.Node) (op string, axes []int) {
	terms, out, ok := equation(n)
	if !ok || len(terms) != 2 || terms[0] != terms[1] || f.same(n.In(0)) != f.same(n.In(1)) {
		return "", nil
	}
	return "SumSquare", lost(terms[0], out, len(n.In(0).Type.Shape))
}

// ofItself enters a product of a value with itself that adds up squares.
func (f *finder) ofItself(v *graph.Value) {
	if r, ok := f.reduction(v); ok && r.op == "SumSquare" && r.value == f.same(v) {
		f.set.squareSums[v] = true
	}
}

// dropped reads an Einsum of one operand that sums over some of its axes.
func dropped(n *graph.Node) (op string, axes []int) {
	terms, out, ok := equation(n)
	if !ok || len(terms) != 1 {
		return "", nil
	}
	return "Sum", lost(terms[0], out, len(n.In(0).Type.Shape))
}

// lost lists the axes of an operand that an output does not have, where it keeps the others in their order.
func lost(in, out string, rank int) (axes []int) {
	if strings.ContainsAny(in, ",.") || len(in) != rank {
		return nil
	}
	left := ""
	for i, l := range in {
		if strings.Count(in, string(l)) > 1 {
			return nil
		}
		if strings.ContainsRune(out, l) {
			left += string(l)
		} else {
			axes = append(axes, i)
		}
	}
	if left != out {
		return nil
	}
	return axes
}

// first reads the largest, or the least, of a sorted axis.
func (f *finder) first(n *graph.Node) (op string, axes []int) {
	axis, rank := n.Int("axis", -1), int64(len(n.In(0).Type.Shape))
	if axis < 0 {
		axis += rank
	}
	k := n.Int("k", 0)
	if n.In(1) != nil {
		c, _ := f.number1(f.same(n.In(1)))
		k = int64(c)
	}
	if k != 1 || axis < 0 || axis >= rank {
		return "", nil
	}
	if n.Int("largest", 1) == 0 {
		return "Min", []int{int(axis)}
	}
	return "Max", []int{int(axis)}
}

// opposite reads -min(-x) as max(x).
func (f *finder) opposite(r *reduction) (*reduction, float64, bool) {
	x := f.negated(r.value)
	if x == nil {
		return nil, 0, false
	}
	q, ok := f.reduction(x)
	if !ok || q.op != "Max" && q.op != "Min" {
		return nil, 0, false
	}
	of := f.negated(q.of)
	if of == nil {
		return nil, 0, false
	}
	w := *q
	w.op, w.of = map[string]string{"Max": "Min", "Min": "Max"}[q.op], f.same(of)
	if f.shaped(x) == f.same(x) {
		w.value = r.value
	}
	return &w, 1, true
}

// farthest reads max(max(x), -min(x)) and max(|max(x)|, |min(x)|) as the largest magnitude.
func (f *finder) farthest(n *graph.Node, v *graph.Value) (*reduction, float64, bool) {
	if len(n.Inputs) != 2 || n.In(1) == nil {
		return nil, 0, false
	}
	a, b := f.end(n.In(0)), f.end(n.In(1))
	if a == nil || b == nil || a.op == b.op || a.of != b.of || !a.over(b) || !slices.Equal(n.In(0).Type.Shape, n.In(1).Type.Shape) {
		return nil, 0, false
	}
	w := *a
	w.op, w.value = "AbsMax", v
	return &w, 1, true
}

// end reads a value as the largest or the least of a row, the sign of the least turned round, or both
// without their sign.
func (f *finder) end(v *graph.Value) *reduction {
	v = f.shaped(v)
	x := f.abs(v)
	if x == nil {
		x = f.negated(v)
	}
	if x == nil {
		r, ok := f.reduction(v)
		if ok && r.op == "Max" {
			return r
		}
		return nil
	}
	r, ok := f.reduction(x)
	if ok && (r.op == "Min" || r.op == "Max" && f.abs(v) != nil) {
		return r
	}
	return nil
}

// relaid reads a reduction of a transposed value, which is transposed back.
func (f *finder) relaid(r *reduction, n *graph.Node) (*reduction, float64, bool) {
	back := permutation(n)
	inner := f.same(n.In(0))
	q, coef, ok := f.scaled(inner)
	if !ok || back == nil || q.value != inner || q.all {
		return nil, 0, false
	}
	w := *q
	if of := beside(q.of, back, n.Graph); of != nil && len(q.of.Type.Shape) == len(back) {
		w.of, w.value, w.axes = f.same(of), r.value, nil
		for i, a := range back {
			if slices.Contains(q.axes, int(a)) {
				w.axes = append(w.axes, i)
			}
		}
		return &w, coef, settled(w.of.Type.Shape)
	}
	t := q.of.Producer
	if t == nil || t.In(0) == nil {
		return nil, 0, false
	}
	there := permutation(t)
	if there == nil || len(there) != len(back) || !slices.IsSorted(composed(there, back)) {
		return nil, 0, false
	}
	w.of, w.value, w.axes = f.same(t.In(0)), r.value, nil
	for _, a := range q.axes {
		w.axes = append(w.axes, int(there[a]))
	}
	slices.Sort(w.axes)
	return &w, coef, settled(w.of.Type.Shape)
}

// beside returns x in another layout, where the model has it: optimisers move a transposition behind the
// reduction, but not behind what else reads x. It is one that a graph sees: another branch of an If may have its own.
func beside(x *graph.Value, perm []int64, seen *graph.Graph) *graph.Value {
	for g := seen; g != nil; g = g.Outer() {
		for _, u := range x.Uses {
			if u.Node.Graph == g && u.Node.In(0) == x && slices.Equal(permutation(u.Node), perm) {
				return u.Node.Out(0)
			}
		}
	}
	return nil
}

// inside1 takes the number out of a sum of c·x, and returns it.
func (f *finder) inside1(r *reduction) float64 {
	if r.op != "Sum" && r.op != "Mean" {
		return 1
	}
	coef := 1.0
	for range maxDepth {
		x, c := f.multiple(r.of)
		if x == nil {
			break
		}
		r.of, coef = x, coef*c
	}
	return coef
}

// multiple reads v as a number times x of the same shape.
func (f *finder) multiple(v *graph.Value) (x *graph.Value, coef float64) {
	if x = f.negated(v); x != nil {
		return f.same(x), -1
	}
	n := v.Producer
	if n == nil || v.Const != nil || len(n.Inputs) != 2 || n.In(0) == nil || n.In(1) == nil || !v.Type.Elem.IsFloat() {
		return nil, 1
	}
	x, by := n.In(0), n.In(1)
	_, constant := f.number1(f.same(x))
	if n.OpName() == "Mul" && constant {
		x, by = by, x
	}
	c, ok := f.number1(f.same(by))
	switch {
	case !ok || c == 0 || !settled(v.Type.Shape) || !slices.Equal(x.Type.Shape, v.Type.Shape):
		return nil, 1
	case n.OpName() == "Mul":
		return f.same(x), c
	case n.OpName() == "Div":
		return f.same(x), 1 / c
	}
	return nil, 1
}

// averageAll is average for sums of sums, and means of means, over one axis after another.
func (f *finder) averageAll(v *graph.Value) (r *reduction, coef float64, mean, ok bool) {
	r, coef, mean, ok = f.average(v)
	for range maxDepth {
		if !ok || r.op != "Mean" && r.op != "Sum" {
			break
		}
		q, c, _, inner := f.average(r.of)
		if !inner || q.op != r.op || q.value != r.of || q.all || r.all || c == 0 || len(q.of.Type.Shape) != len(r.of.Type.Shape) || !settled(q.of.Type.Shape) {
			break
		}
		w := *r
		w.of, w.count = q.of, r.count*q.count
		w.axes = append(slices.Clone(r.axes), q.axes...)
		slices.Sort(w.axes)
		if len(slices.Compact(slices.Clone(w.axes))) != len(w.axes) {
			break
		}
		w.all = len(w.axes) == len(w.of.Type.Shape)
		r, coef = &w, coef*c
		mean = near(coef*float64(r.count), 1)
	}
	return r, coef, mean, ok
}
