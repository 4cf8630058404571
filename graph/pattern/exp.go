package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// shift reads x - max(x), the maximum guarded against infinities or not.
func (f *finder) shift(v *graph.Value) {
	x, m, ok := f.difference(v)
	if !ok {
		return
	}
	f.rise(v, x, m)
	f.extreme(v, x, m)
	f.crest(v, x, m)
	r, ok := f.reduction(f.unguarded(m))
	if !ok || r.op != "Max" {
		return
	}
	if r.of == f.same(x) && r.aligned(m) || f.shaped(r.of) == f.shaped(x) && r.trailing(x, m) {
		s := &Shift{Input: x, Max: m, Output: v, All: r.all, Guarded: f.shaped(m) != f.shaped(r.value)}
		if r.of == f.same(x) {
			s.Axes = r.axes
		} else if rank := len(x.Type.Shape); rank > 0 && r.count == count(x.Type.Shape, []int{rank - 1}, false) {
			s.Axes = []int{rank - 1} // trailing elements, as many as the last axis has
		}
		f.set.Shifts = append(f.set.Shifts, s)
		f.set.shifts[v] = s
	}
}

// rise reads x - min(x) and max(x) - x.
func (f *finder) rise(v, a, b *graph.Value) {
	if r, ok := f.reductionOf(b, a); ok && r.op == "Min" && r.aligned(b) {
		f.set.rises[v] = a
	}
	if r, ok := f.reductionOf(a, b); ok && r.op == "Max" && r.aligned(a) {
		f.set.rises[v] = b
	}
}

// reductionOf reads v as a reduction of x, in its own shape or in another one.
func (f *finder) reductionOf(v, x *graph.Value) (*reduction, bool) {
	r, ok := f.reduction(v)
	if !ok {
		return nil, false
	}
	return f.restated(r, f.same(x))
}

// extreme reads x - max(x, …) and x - min(x, …) as a - b, or turned round.
func (f *finder) extreme(v, a, b *graph.Value) {
	for i, pair := range [][2]*graph.Value{{a, b}, {b, a}} {
		x, n := f.same(pair[0]), f.same(pair[1]).Producer
		if n == nil || n.OpName() != "Max" && n.OpName() != "Min" || !slices.Equal(v.Type.Shape, x.Type.Shape) || !settled(v.Type.Shape) ||
			!slices.ContainsFunc(n.Inputs, func(in *graph.Value) bool { return in != nil && f.same(in) == x }) {
			continue
		}
		if (i == 0) == (n.Op == "Max") {
			f.set.falls[v] = x
		} else {
			f.set.rises[v] = x
		}
	}
}

// unguarded looks through Where(IsInf(m), 0, m) and its like: log-sum-exp replaces a maximum that
// is not finite.
func (f *finder) unguarded(m *graph.Value) *graph.Value {
	m = f.shaped(m)
	n := m.Producer
	if n == nil || n.Domain != "" || n.In(0) == nil || n.In(1) == nil {
		return m
	}
	switch n.Op {
	case "Add", "Sum":
		if x := f.switched(n.In(0), n.In(1)); x != nil {
			return f.unguarded(x)
		}
	case "Mul":
		if x := f.whereFinite(n); x != nil {
			return f.unguarded(x)
		}
	case "Where":
		if when, ok := f.finiteTest(n.In(0), 6); ok && when {
			return f.unguarded(n.In(1))
		} else if ok && n.In(2) != nil {
			return f.unguarded(n.In(2))
		}
	}
	return m
}

// whereFinite returns m where a product is cond·m and cond is 1 for whatever is finite.
func (f *finder) whereFinite(n *graph.Node) *graph.Value {
	for i, c := range n.Inputs {
		if when, ok := f.finiteTest(c, 6); ok && when && i < 2 {
			return n.In(1 - i)
		}
	}
	return nil
}

// switched reads cond·m + (1-cond)·0, the Where of tf2onnx: it returns m where cond only asks for
// what is finite.
func (f *finder) switched(a, b *graph.Value) *graph.Value {
	for range 2 {
		x, zero := f.same(a).Producer, f.same(b).Producer
		a, b = b, a
		if x == nil || zero == nil || x.Op != "Mul" || zero.Op != "Mul" || !f.timesZero(zero) || x.In(0) == nil || x.In(1) == nil {
			continue
		}
		if m := f.whereFinite(x); m != nil {
			return m
		}
	}
	return nil
}

func (f *finder) timesZero(n *graph.Node) bool {
	for _, v := range n.Inputs {
		if c, ok := f.number1(v); ok && c == 0 {
			return true
		}
	}
	return false
}

// finiteTest tells what a condition that only asks for infinities and NaN says of finite numbers.
func (f *finder) finiteTest(v *graph.Value, depth int) (when, ok bool) {
	if v == nil || depth == 0 {
		return false, false
	}
	n := f.same(v).Producer
	if n == nil || n.Domain != "" {
		return false, false
	}
	switch n.Op {
	case "IsInf", "IsNaN":
		return false, true
	case "Not", "Cast":
		when, ok = f.finiteTest(n.In(0), depth-1)
		return when != (n.Op == "Not"), ok
	case "Or", "And":
		a, ok1 := f.finiteTest(n.In(0), depth-1)
		b, ok2 := f.finiteTest(n.In(1), depth-1)
		return n.Op == "Or" && (a || b) || n.Op == "And" && a && b, ok1 && ok2
	case "Equal": // Abs(m) == inf
		return false, f.infinite(n.In(0)) || f.infinite(n.In(1))
	}
	return false, false
}

func (f *finder) infinite(v *graph.Value) bool {
	if v == nil {
		return false
	}
	c, ok := f.number1(f.same(v))
	return ok && (c > 1e300 || c < -1e300)
}

// expSum reads a reduction as a number times a sum of exponentials, and follows it through the logarithm to the
// maximum that is added back.
func (f *finder) expSum(v *graph.Value) {
	r, coef, _, ok := f.average(v)
	if !ok || r.op != "Sum" && r.op != "Mean" || !(coef > 0) || f.set.sums[v] != nil {
		return
	}
	if math.Abs(coef-1) <= 1e-6 {
		coef = 1
	}
	if s := f.expSumOf(r, coef); s != nil {
		s.Sum = v
		f.set.sums[v] = s
		f.logOf(s, v)
	}
}

// logSum reads a ReduceLogSum of exponentials.
func (f *finder) logSum(v *graph.Value) {
	n := v.Producer
	r := &reduction{op: "Sum", of: f.same(n.In(0)), value: v}
	var ok bool
	if r.axes, r.all, ok = Axes(n); !ok {
		return
	}
	r.count = count(n.In(0).Type.Shape, r.axes, r.all)
	if s := f.expSumOf(r, 1); s != nil {
		s.Log = v
		f.set.sums[v] = s
		f.logOf(s, v)
	}
}

// expSumOf describes coef times a sum of exponentials, nil where other numbers are added up. The differences from
// the maximum may have been scaled.
func (f *finder) expSumOf(r *reduction, coef float64) *ExpSum {
	e := f.shaped(r.of).Producer
	if e == nil || e.Op != "Exp" || e.Domain != "" || e.In(0) == nil {
		return nil
	}
	s := &ExpSum{Input: e.In(0), Exp: e.Out(0), Axes: r.axes, Count: r.count, Coef: coef, Scale: 1, sum: r}
	t := f.shiftOf(e.In(0))
	if p := f.product(e.In(0)); t == nil && p.coef > 0 {
		if x, ok := p.single(1); ok {
			t, s.Scale = f.set.shifts[x], p.coef
		}
	}
	if t != nil && t.All == r.all && (t.All || slices.Equal(t.Axes, r.axes)) {
		s.Input, s.Max = t.Input, t.Max
	} else {
		s.Scale = 1
	}
	f.set.ExpSums = append(f.set.ExpSums, s)
	return s
}

// logOf finds Log(sum), and Log(sum) + max, from v on.
func (f *finder) logOf(s *ExpSum, v *graph.Value) {
	for {
		u, ok := soleUse(v)
		if !ok {
			return
		}
		n := u.Node
		switch {
		case n.Op == "Log" && s.Log == nil:
			s.Log = n.Out(0)
			f.set.sums[s.Log] = s
		case (n.Op == "Add" || n.Op == "Sum") && s.Log != nil && s.Max != nil && f.unguarded(f.orNil(n.In(1-u.Index))) == f.unguarded(s.Max):
			if s.Scale != 1 || crosswise(s.sum, v, s.sum, n.In(1-u.Index)) {
				return
			}
			s.Output = n.Out(0)
			f.set.sums[s.Output] = s
			return
		case !passes(n) && !reshapes(n):
			return
		}
		if v = n.Out(0); v == nil {
			return
		}
	}
}

// soleUse returns the reader of a value. With several, the logarithm is preferred.
func soleUse(v *graph.Value) (graph.Use, bool) {
	for _, u := range v.Uses {
		if u.Node.Op == "Log" || u.Node.Op == "Add" || u.Node.Op == "Sum" || len(v.Uses) == 1 {
			return u, len(u.Node.Inputs) <= 2
		}
	}
	return graph.Use{}, false
}

// logSoftmax reads z - log Σ exp z, with a maximum subtracted from z or not.
func (f *finder) logSoftmax(v *graph.Value) {
	if !f.logOfWhole(v) {
		f.logInParts(v)
	}
}

// logOfWhole reads z - log Σ exp z as the difference of two values.
func (f *finder) logOfWhole(v *graph.Value) bool {
	z, l, ok := f.difference(v)
	if !ok {
		return false
	}
	s := &Softmax{Input: z, Output: v, Log: true}
	lv := f.shaped(l)
	switch r, ok := f.reduction(lv); {
	case ok && r.op == "LogSumExp" && r.of == f.same(z) && r.aligned(l):
		s.Axes = r.axes
	case f.set.sums[lv] != nil:
		e := f.set.sums[lv]
		inner := e.Exp.Producer.In(0)
		if e.Coef != 1 || e.Scale != 1 || !(e.Log == lv && f.same(inner) == f.same(z) || e.Output == lv && f.same(e.Input) == f.same(z)) || !e.sum.aligned(l) && !e.sum.trailing(z, l) {
			return false
		}
		s.Exp, s.Sum, s.Max, s.Axes = e.Exp, e.Sum, e.Max, e.Axes
		if t := f.shiftOf(z); t != nil {
			s.Input, s.Shifted = t.Input, e.Max != nil
		}
	default:
		return false
	}
	s.Nodes = f.between(v, s.Input)
	f.addSoftmax(s)
	return true
}

// logInParts reads (x - log Σ exp(x - max)) - max.
func (f *finder) logInParts(v *graph.Value) {
	a, m, ok := f.difference(v)
	if !ok {
		return
	}
	x, l, ok := f.difference(a)
	if !ok {
		return
	}
	e := f.set.sums[f.shaped(l)]
	if e == nil || e.Log != f.shaped(l) || e.Max == nil || e.Coef != 1 || e.Scale != 1 || !e.sum.aligned(l) || f.same(x) != f.same(e.Input) ||
		f.unguarded(m) != f.unguarded(e.Max) || crosswise(e.sum, l, e.sum, m) {
		return
	}
	if r, ok := f.reduction(f.unguarded(m)); !ok || r.op != "Max" || r.of != f.same(x) || !r.aligned(m) {
		return
	}
	s := &Softmax{Input: x, Output: v, Log: true, Exp: e.Exp, Sum: e.Sum, Max: e.Max, Axes: e.Axes}
	s.Nodes = f.between(v, s.Input)
	f.addSoftmax(s)
}

// nativeSoftmax enters the operators.
func (f *finder) nativeSoftmax(n *graph.Node) {
	if n.In(0) == nil || n.Out(0) == nil {
		return
	}
	f.addSoftmax(&Softmax{Node: n, Input: n.In(0), Output: n.Out(0), Log: n.Op == "LogSoftmax", Nodes: []*graph.Node{n}})
}

// expOfLog reads the exponential of a log-softmax as the softmax it is.
func (f *finder) expOfLog(v *graph.Value) {
	l := v.Producer.In(0)
	for f.set.softmax[l] == nil && l.Producer != nil && passes(l.Producer) {
		l = l.Producer.In(0)
	}
	s := f.set.softmax[l]
	if s == nil || !s.Log {
		return
	}
	if x, axis, ok := s.row(); ok && len(v.Type.Shape) == len(x.Type.Shape) {
		f.set.shares[v] = &Shares{Input: x, Output: v, Axis: axis, Shifted: s.Node != nil || s.Shifted}
	}
}
