package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// augmented reads linear attention with a column of ones beside the values: P = A·(B·[V 1]), all but
// the last column of P over its last. For A and B not below zero that is a weighted mean of V.
func (f *finder) augmented(v, num, den *graph.Value) {
	if !v.Type.Elem.IsFloat() {
		return
	}
	e := f.stripEps(den)
	p, from, to, ok := f.lastSlice(num)
	q, at, end, ok2 := f.lastSlice(e.of)
	if !ok || !ok2 || e.value < least || p != q || from != 0 || to != -1 || at != -1 || end < 1<<30 {
		return
	}
	var ws []*graph.Value
	x := p
	for x.Producer != nil && multiplies(x.Producer) {
		ws, x = append(ws, f.same(x.Producer.In(0))), f.same(x.Producer.In(1))
	}
	of, ok := f.onesBeside(x)
	if !ok || len(ws) == 0 {
		return
	}
	r := &Ratio{Kind: OfMean, Power: 1, Num: f.same(num), Den: e.of, Denominator: e.shifted, Input: of, Output: v, Weights: ws, Coef: 1,
		EpsValue: e.value, Products: true, Augmented: true, Nodes: f.between(v, of)}
	f.addRatio(r)
}

// multiplies tells whether a node is a matrix product that keeps the columns of its second operand apart.
func multiplies(n *graph.Node) bool {
	if n.In(0) == nil || n.In(1) == nil {
		return false
	}
	switch n.OpName() {
	case "MatMul":
		return true
	case "com.microsoft.FusedMatMul":
		return n.Int("transB", 0) == 0 && n.Int("transBatchB", 0) == 0 && n.Float("alpha", 1) > 0
	}
	return false
}

// lastSlice reads a slice along the last axis alone, in steps of 1.
func (f *finder) lastSlice(v *graph.Value) (of *graph.Value, from, to int64, ok bool) {
	v = f.same(v)
	n := v.Producer
	if n != nil && n.OpName() == "Split" {
		return f.splitOff(n, v.Index)
	}
	if n == nil || n.OpName() != "Slice" || n.In(0) == nil || n.In(0).Type.Shape == nil {
		return nil, 0, 0, false
	}
	starts, ends, axes := n.Ints("starts"), n.Ints("ends"), n.Ints("axes")
	if n.Version() >= 10 {
		starts, ends, axes = fewInts(n.In(1)), fewInts(n.In(2)), fewInts(n.In(3))
		if s := n.In(4); s != nil && !slices.Equal(fewInts(s), []int64{1}) {
			return nil, 0, 0, false
		}
	}
	rank := int64(len(n.In(0).Type.Shape))
	if len(starts) != 1 || len(ends) != 1 || len(axes) != 1 || axes[0] != -1 && axes[0] != rank-1 {
		return nil, 0, 0, false
	}
	return f.same(n.In(0)), starts[0], ends[0], true
}

// splitOff reads a Split of the last element off the last axis as two slices.
func (f *finder) splitOff(n *graph.Node, i int) (of *graph.Value, from, to int64, ok bool) {
	sizes := n.Ints("split")
	if n.Version() >= 13 {
		sizes = fewInts(n.In(1))
	}
	if len(sizes) != 2 || sizes[1] != 1 || n.In(0) == nil {
		return nil, 0, 0, false
	}
	if axis, rank := n.Int("axis", 0), int64(len(n.In(0).Type.Shape)); axis != -1 && axis != rank-1 {
		return nil, 0, 0, false
	}
	if i == 0 {
		return f.same(n.In(0)), 0, -1, true
	}
	return f.same(n.In(0)), -1, math.MaxInt64, true
}

// fewInts returns the elements of a small integer constant, nil for anything else.
func fewInts(v *graph.Value) []int64 {
	if v == nil || v.Const == nil || !v.Const.Elem.IsInt() || v.Const.Len() > 32 {
		return nil
	}
	x, err := v.Const.Int64s()
	if err != nil {
		return nil
	}
	return x
}

// onesBeside reads a Pad by one column of ones behind the last.
func (f *finder) onesBeside(v *graph.Value) (*graph.Value, bool) {
	n := v.Producer
	if n == nil || n.OpName() != "Pad" || n.In(0) == nil || n.Str("mode", "constant") != "constant" || n.In(3) != nil {
		return nil, false
	}
	pads, one := n.Ints("pads"), float64(n.Float("value", 0))
	if n.Version() >= 11 {
		pads = fewInts(n.In(1))
		one, _ = f.number1(f.orNil(n.In(2)))
	}
	if len(pads) == 0 || one != 1 || len(pads) != 2*len(n.In(0).Type.Shape) {
		return nil, false
	}
	for i, p := range pads {
		if last := i == len(pads)-1; last && p != 1 || !last && p != 0 {
			return nil, false
		}
	}
	return f.same(n.In(0)), true
}
