package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// reduction is a value read as a reduction of another over axes.
type reduction struct {
	op    string // Sum, Mean, Max, AbsMax, SumSquare, L1, L2, …
	of    *graph.Value
	axes  []int // of the operand, sorted; nil with all set
	all   bool
	count int64 // elements reduced together, 0 where not known
	value *graph.Value
}

// reduction reads a value, its shape aside, as a reduction.
func (f *finder) reduction(v *graph.Value) (*reduction, bool) {
	r, coef, ok := f.scaled(v)
	return r, ok && coef == 1
}

// scaled reads a value, its shape aside, as a number times a reduction.
func (f *finder) scaled(v *graph.Value) (*reduction, float64, bool) {
	v = f.shaped(v)
	n := v.Producer
	if n == nil || v.Const != nil || n.In(0) == nil || n.Domain != "" || empty(n.In(0).Type.Shape) {
		return nil, 0, false
	}
	x := n.In(0)
	r := &reduction{of: f.same(x), value: v}
	switch n.Op {
	case "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceLogSumExp":
		r.op = n.Op[len("Reduce"):]
		var ok bool
		if r.axes, r.all, ok = Axes(n); !ok || !x.Type.Elem.IsFloat() && truncates(r.op) {
			return nil, 0, false
		}
	default:
		return f.otherwise(r, n)
	}
	r.count = count(x.Type.Shape, r.axes, r.all)
	return r, 1, true
}

// empty tells whether a tensor holds nothing: a sum of that is 0, whatever else is known of what is added up.
func empty(s graph.Shape) bool { return slices.Contains(s, graph.Dim{}) }

// truncates tells whether a reduction of whole numbers cuts off what is no whole number.
func truncates(op string) bool { return op == "Mean" || op == "L2" || op == "LogSumExp" }

// Axes returns the axes of a Reduce node, counted from the front where the rank is known; all is
// set where it reduces over every axis. ok is false where they are not known.
func Axes(n *graph.Node) (axes []int, all, ok bool) {
	if n.In(0) == nil {
		return nil, false, false
	}
	list := n.Ints("axes")
	if v := n.In(1); v != nil {
		if v.Const == nil {
			return nil, false, false
		}
		var err error
		if list, err = v.Const.Int64s(); err != nil {
			return nil, false, false
		}
	}
	if len(list) == 0 {
		none := n.Int("noop_with_empty_axes", 0) != 0
		return nil, !none, true
	}
	rank := len(n.In(0).Type.Shape)
	for _, a := range list {
		if a < 0 && n.In(0).Type.Shape != nil {
			a += int64(rank)
		}
		axes = append(axes, int(a))
	}
	slices.Sort(axes)
	return axes, len(axes) == rank && rank > 0, true
}

// count multiplies the dimensions along the axes, 0 where one is not known.
func count(s graph.Shape, axes []int, all bool) int64 {
	if s == nil {
		return 0
	}
	n := int64(1)
	for i, d := range s {
		if !all && !slices.Contains(axes, i) && !slices.Contains(axes, i-len(s)) {
			continue
		}
		if !d.Known() {
			return 0
		}
		n *= d.N
	}
	return n
}

// terms is how many elements, each counted as often as it is, c times the sum adds up; 0 where not known.
func (r *reduction) terms(c float64) float64 {
	if r.op == "Max" || r.op == "AbsMax" || r.op == "Mean" && c == 1 {
		return 1
	}
	return c * float64(r.count)
}

// over tells whether two reductions run over the same axes of equally shaped operands.
func (r *reduction) over(q *reduction) bool {
	if r.all || q.all {
		return r.all == q.all
	}
	return slices.Equal(r.axes, q.axes)
}

// aligned tells whether v, the reduction with its shape changed or not, meets each element of its
// operand with the reduction over that element's own row. x - mean(x) over the rows of a square
// matrix without keepdims would subtract the wrong means.
func (r *reduction) aligned(v *graph.Value) bool {
	if r.all {
		return true
	}
	x, s := r.of.Type.Shape, v.Type.Shape
	if x == nil || s == nil {
		n := r.value.Producer
		kept := n.Int("keepdims", 1) != 0 || n.Op == "GlobalAveragePool" || n.Op == "GlobalMaxPool"
		return kept && (v.Producer == nil || !reshapes(v.Producer))
	}
	off := len(x) - len(s)
	if off < 0 {
		return false
	}
	ones, full := true, off == 0
	for i, d := range x {
		one := i < off || s[i-off] == graph.Dim{N: 1}
		same := i >= off && s[i-off] == d
		switch reduced := slices.Contains(r.axes, i); {
		case reduced:
			ones, full = ones && one, full && same
		case !same && !(i < off && d == graph.Dim{N: 1}):
			return false
		}
	}
	return ones || full
}

// reshapes tells whether a node changes only the shape of its input.
func reshapes(n *graph.Node) bool {
	switch n.OpName() {
	case "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Expand":
		return true
	}
	return false
}

// trailing tells whether the reduction runs over the last elements of its operand in memory, n of
// them, so that changing the operand's shape in front of it does not matter.
func (r *reduction) trailing(x *graph.Value, v *graph.Value) bool {
	s, m := x.Type.Shape, v.Type.Shape
	if s == nil || m == nil || len(m) > len(s) || r.count == 0 || !r.suffix() {
		return false
	}
	n, last := int64(1), true
	for i := len(s) - 1; i >= 0; i-- {
		one := i < len(s)-len(m) || m[i-len(s)+len(m)] == graph.Dim{N: 1}
		if last && one && s[i].Known() && n*s[i].N <= r.count {
			n *= s[i].N
			continue
		}
		last = false
		if i < len(s)-len(m) && s[i] != (graph.Dim{N: 1}) || i >= len(s)-len(m) && m[i-len(s)+len(m)] != s[i] {
			return false
		}
	}
	return n == r.count
}

// suffix tells whether the reduced axes are the last ones, those of length 1 aside.
func (r *reduction) suffix() bool {
	s := r.of.Type.Shape
	inside := true
	for i := len(s) - 1; i >= 0; i-- {
		reduced := r.all || slices.Contains(r.axes, i)
		if !reduced && s[i] != (graph.Dim{N: 1}) {
			inside = false
		}
		if reduced && !inside && s[i] != (graph.Dim{N: 1}) {
			return false
		}
	}
	return true
}

// average reads a value as coef times the sum over a reduction. mean is set where that is the
// arithmetic mean; its coef is 0 where the number of elements is not known.
func (f *finder) average(v *graph.Value) (r *reduction, coef float64, mean, ok bool) {
	coef = 1
	for range maxDepth {
		v = f.shaped(v)
		p := f.product(v)
		base, ok := p.single(1)
		if !ok {
			return f.squaredLength(v, p, coef)
		}
		coef *= p.coef
		if base == v {
			break
		}
		v = base
	}
	r, by, ok := f.scaled(v)
	if !ok {
		return nil, 0, false, false
	}
	coef *= by * f.inside1(r)
	if r.op == "Mean" {
		if mean = coef == 1; r.count == 0 {
			return r, 0, mean, true
		}
		return r, coef / float64(r.count), mean, true
	}
	return r, coef, near(coef*float64(r.count), 1), true
}

// squaredLength reads v, p in other words, as a multiple of the squared length of a row, which adds up squares.
// In 16 bits the square of a length that is not 0 may be.
func (f *finder) squaredLength(v *graph.Value, p *product, coef float64) (*reduction, float64, bool, bool) {
	base, ok := p.single(2)
	if !ok || v.Type.Elem.Bits() < 32 {
		return nil, 0, false, false
	}
	r, ok := f.reduction(base)
	if !ok || r.op != "L2" || r.value.Type.Elem.Bits() < 32 {
		return nil, 0, false, false
	}
	w := *r
	w.op, coef = "SumSquare", coef*p.coef
	return &w, coef, near(coef*float64(w.count), 1), true
}

// near allows for a coefficient that was rounded to FP16 in the file.
func near(a, b float64) bool { return a > b*(1-1e-3) && a < b*(1+1e-3) }
