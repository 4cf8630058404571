package analyze

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
)

// replaced puts the operator of the standard in the place of a softmax, log-sum-exp or normalisation
// that is spelled out around a place.
func (c *chooser) replaced(p rules.Place) rewrite.Edit {
	if m := c.patterns.NormOf(p.Node); m != nil {
		return normNode(m)
	}
	if e := logSoftmax(p.Node); e != nil {
		return e
	}
	for _, s := range c.patterns.Softmaxes {
		if s.Node == nil && (s.Output == p.Value || slices.Contains(s.Nodes, p.Node)) {
			return softmaxNode(s)
		}
	}
	for _, s := range c.patterns.ExpSums {
		if s.Max == nil && s.Log != nil && s.Coef == 1 && (s.Exp == p.Value || s.Sum == p.Value || s.Log == p.Value) {
			return logSumExpNode(s)
		}
	}
	return nil
}

func attrInt(name string, x int64) *graph.Attr {
	return &graph.Attr{Name: name, Type: graph.AttrInt, I: x}
}

// logSoftmax is for the logarithm of a Softmax.
func logSoftmax(n *graph.Node) rewrite.Edit {
	if n.OpName() != "Log" || n.In(0) == nil || n.In(0).Producer == nil || n.In(0).Producer.OpName() != "Softmax" {
		return nil
	}
	s := n.In(0).Producer
	e := rewrite.Replace{Value: n.Out(0), Op: "LogSoftmax", Inputs: []*graph.Value{s.In(0)}}
	if a := s.Attr("axis"); a != nil {
		e.Attrs = []*graph.Attr{a}
	}
	return e
}

// lastOf tells whether the axes are the last one of a value.
func lastOf(axes []int, v *graph.Value) bool {
	return v != nil && v.Type.Shape != nil && len(axes) == 1 && axes[0] == len(v.Type.Shape)-1
}

func softmaxNode(s *pattern.Softmax) rewrite.Edit {
	if s.Output.Producer == nil || !sameForm(s.Input, s.Output) || len(s.Axes) != 1 || s.Output.Producer.Version() < 13 && !lastOf(s.Axes, s.Input) {
		return nil
	}
	op := "Softmax"
	if s.Log {
		op = "LogSoftmax"
	}
	return rewrite.Replace{Value: s.Output, Op: op, Inputs: []*graph.Value{s.Input}, Attrs: []*graph.Attr{attrInt("axis", int64(s.Axes[0]))}}
}

// sameForm tells whether two values have one type and one shape: patterns look through casts, and through what
// changes the shape on the way.
func sameForm(a, b *graph.Value) bool {
	return a != nil && b != nil && a.Type.Elem == b.Type.Elem && sameShape(a.Type.Shape, b.Type.Shape)
}

func sameShape(a, b graph.Shape) bool {
	return a != nil && b != nil && slices.EqualFunc(a, b, func(x, y graph.Dim) bool { return x == y && (x.Known() || x.Sym != "") })
}

// logSumExpNode is for the logarithm of a sum that a node takes of the exponentials as they are.
func logSumExpNode(s *pattern.ExpSum) rewrite.Edit {
	n, sum := s.Log.Producer, s.Sum
	if sum == nil {
		sum = s.Log
	}
	if n == nil || sum.Producer == nil || len(s.Axes) == 0 || !sameForm(s.Input, sum.Producer.In(0)) || s.Input.Type.Elem != s.Log.Type.Elem {
		return nil
	}
	if op := sum.Producer.OpName(); op != "ReduceSum" && op != "ReduceLogSum" {
		return nil
	}
	var keep int64
	switch {
	case sameShape(s.Log.Type.Shape, without(s.Input.Type.Shape, s.Axes, true)):
		keep = 1
	case !sameShape(s.Log.Type.Shape, without(s.Input.Type.Shape, s.Axes, false)):
		return nil
	}
	axes := make([]int64, len(s.Axes))
	for i, a := range s.Axes {
		axes[i] = int64(a)
	}
	e := rewrite.Replace{Value: s.Log, Op: "ReduceLogSumExp", Inputs: []*graph.Value{s.Input}, Attrs: []*graph.Attr{attrInt("keepdims", keep)}}
	if n.Version() >= 18 {
		e.Consts = []*graph.Tensor{graph.IntTensor("", []int64{int64(len(axes))}, axes...)}
	} else {
		e.Attrs = append(e.Attrs, &graph.Attr{Name: "axes", Type: graph.AttrInts, Ints: axes})
	}
	return e
}

// without returns the shape of what is summed up along axes, which are kept as 1 or left out.
func without(s graph.Shape, axes []int, keep bool) graph.Shape {
	out := graph.Shape{}
	for i, d := range s {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, d)
		case keep:
			out = append(out, graph.Dim{N: 1})
		}
	}
	return out
}

// normNode makes a LayerNormalization (opset 17) or RMSNormalization (opset 23) of a normalisation
// over the last axis, with constants as its scale and bias.
func normNode(m *pattern.Norm) rewrite.Edit {
	n := m.Output.Producer
	least, op, bound := int64(17), "LayerNormalization", math.Sqrt(float64(m.Count-1))
	if m.Kind == pattern.RMSNorm {
		least, op, bound = 23, "RMSNormalization", math.Sqrt(float64(m.Count))
	}
	switch {
	case n == nil || n.Version() < least || m.Kind == pattern.L2Norm || !lastOf(m.Axes, m.Input) || m.Count < 2:
		return nil
	case m.EpsMax || m.EpsOnRoot || m.Offset != 0 || len(m.Scales)+len(m.Biases) > 0:
		return nil
	case !sameForm(m.Input, m.Output), math.Abs(m.Bound-bound) > 1e-9*bound: // not the plain mean of squares
		return nil
	}
	out, scale := absorbed(m.Output, "Mul", m.Count)
	out, bias := absorbed(out, "Add", m.Count)
	e := rewrite.Replace{Value: out, Op: op, Inputs: []*graph.Value{m.Input}, Consts: []*graph.Tensor{perElement(scale, m.Coef, m)},
		Attrs: []*graph.Attr{attrInt("axis", -1), {Name: "epsilon", Type: graph.AttrFloat, F: float32(m.EpsValue)}}}
	switch {
	case bias != nil && op == "RMSNormalization":
		e.Value = bias.value
	case bias != nil:
		e.Consts = append(e.Consts, perElement(bias, 1, m))
	}
	return e
}

// operand is the constant that a node combines a value with.
type operand struct {
	value *graph.Value // before the node
	list  []float64
}

// absorbed looks through a product or sum with a constant of count elements, or one, that is the only
// reader of a value. It returns the value itself and nil where there is none.
func absorbed(v *graph.Value, op string, count int64) (*graph.Value, *operand) {
	if len(v.Uses) != 1 || slices.Contains(v.Graph.Outputs, v) {
		return v, nil
	}
	n := v.Uses[0].Node
	if n.OpName() != op || len(n.Inputs) != 2 || n.Graph != v.Graph {
		return v, nil
	}
	k := n.In(1 - v.Uses[0].Index)
	if k == nil || k.Const == nil || k.Const.Len() != count && k.Const.Len() != 1 || len(k.Const.Dims) > len(v.Type.Shape) {
		return v, nil
	}
	if d := k.Const.Dims; k.Const.Len() > 1 && d[len(d)-1] != count {
		return v, nil
	}
	list, err := k.Const.Float64s()
	if err != nil {
		return v, nil
	}
	return n.Out(0), &operand{v, list}
}

// perElement returns the constant with a number for each element that is normalised together, times a
// factor: the factor alone where there is no constant.
func perElement(o *operand, factor float64, m *pattern.Norm) *graph.Tensor {
	x := make([]float32, m.Count)
	for i := range x {
		if x[i] = float32(factor); o != nil {
			x[i] = float32(factor * o.list[i%len(o.list)])
		}
	}
	t := graph.FloatTensor("", []int64{m.Count}, x...)
	if m.Input.Type.Elem != graph.Float {
		t = t.Converted(m.Input.Type.Elem, false)
	}
	return t
}
