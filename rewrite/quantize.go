package rewrite

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// Quantize rounds an input of a MatMul, Gemm or convolution to the 8-bit target: a QuantizeLinear and
// a DequantizeLinear stand before the node, or, for a constant, the constant is stored in 8 bits, with
// a scale for each output channel. Scale is the number that becomes 1 and does not count for constants.
type Quantize struct {
	Node  *graph.Node
	Input int
	Scale float64
}

// Describe says what the edit does.
func (e Quantize) Describe() string {
	if e.Scale == 0 {
		return fmt.Sprintf("store input %d of node %q (%s) in 8 bits", e.Input, e.Node.Key(), e.Node.OpName())
	}
	return fmt.Sprintf("round input %d of node %q (%s) to 8 bits with the scale %.5g", e.Input, e.Node.Key(), e.Node.OpName(), e.Scale)
}

// Safe returns false: the numbers are others.
func (e Quantize) Safe() bool { return false }

// quantizeOpset is the first in which QuantizeLinear makes 8-bit floats, and takes FP16, and quantizeIR the
// version of the format that has them.
const (
	quantizeOpset = 19
	quantizeIR    = 9
)

// quantizer carries the Quantize edits out, one pair for all readers of a value.
type quantizer struct {
	*worker
	pairs map[*graph.Value]*graph.Value // results of DequantizeLinear
	zero  *graph.Value
	// unused are constants that now are stored in 8 bits.
	unused []*graph.Value
}

// quantize is Apply for targets of 8 bits.
func (w *worker) quantize(m *graph.Model) (*graph.Model, *Summary, error) {
	if len(w.edits) == 0 {
		return m.Clone(), w.sum, nil
	}
	if err := w.opsetFor8(); err != nil {
		return nil, nil, err
	}
	q := &quantizer{worker: w, pairs: map[*graph.Value]*graph.Value{}}
	for _, e := range w.edits {
		x, ok := e.(Quantize)
		if !ok {
			w.sum.note("no effect: %s: the target is %s", e.Describe(), w.plan.Target)
			continue
		}
		if why := q.input(x); why != "" {
			w.sum.note("no effect: %s: %s", x.Describe(), why)
			continue
		}
		w.sum.Changed = true
	}
	if !w.sum.Changed {
		return m.Clone(), w.sum, nil
	}
	w.yields = outputsOf(w.m)
	for _, v := range q.unused {
		w.drop(v)
	}
	return w.m, w.sum, nil
}

// opsetFor8 raises the opset where 8-bit floats need it.
func (w *worker) opsetFor8() error {
	w.m.IRVersion = max(w.m.IRVersion, quantizeIR)
	return w.opsetOf(quantizeOpset, "has no 8-bit floats")
}

// opsetOf raises the opset to one that the target needs, and says what the one before lacks.
func (w *worker) opsetOf(needed int64, lacks string) error {
	have := w.m.Opset("")
	if have >= needed || have == 0 {
		return nil
	}
	if !w.sameMeaning(have, needed) {
		return fmt.Errorf("%w: %s needs opset %d, and a node of this model of opset %d would mean something else there", ErrUnable, w.plan.Target, needed, have)
	}
	w.m.SetOpset("", needed)
	w.upgradeNodes(have, needed)
	w.sum.note("opset %d instead of %d, which %s", needed, have, lacks)
	return nil
}

// input carries out one edit and says why it could not.
func (q *quantizer) input(e Quantize) (why string) {
	v := e.Node.In(e.Input)
	switch {
	case v == nil || !v.Type.Float() || v.Type.Elem == graph.Double:
		return "there is no such input, or it holds no floats"
	case insideCall(e.Node.Graph):
		return "it is inside a function"
	case v.Producer != nil && v.Producer.OpName() == "DequantizeLinear":
		return "it is quantised already"
	}
	if q.pairs[v] == nil {
		if t := storedTensor(v); t != nil {
			why = q.weights(v, t, channelAxis(e.Node, e.Input, len(t.Dims)))
		} else {
			why = q.pair(v, e.Scale)
		}
	}
	if why == "" {
		e.Node.SetInput(e.Input, q.pairs[v])
	}
	return why
}

// channelAxis returns the axis of the output channels of a constant operand, -1 where one scale has to
// do for all.
func channelAxis(n *graph.Node, input, rank int) int {
	switch {
	case input != 1 || rank < 2:
		return -1
	case n.Op == "Conv":
		return 0
	case n.Op == "ConvTranspose" && n.Int("group", 1) == 1:
		return 1
	case n.Op == "Gemm" && n.Int("transB", 0) != 0:
		return 0
	case n.Op == "Gemm", n.Op == "MatMul" && rank == 2:
		return 1
	}
	return -1
}

// pair inserts the two nodes behind the maker of a value.
func (q *quantizer) pair(v *graph.Value, scale float64) (why string) {
	f, _ := v.Type.Elem.Format()
	if scale = roundedUp(f, scale); !(scale > 0) || math.IsInf(scale, 0) {
		return "the scale is not a positive number"
	}
	g := v.Graph
	s := q.scalar(g, v.Name+"_scale", v.Type.Elem, scale)
	if q.zero == nil {
		t := graph.NewTensor("", graph.ElemOf(q.plan.Target), []int64{}, []byte{0})
		q.zero = q.constant(q.m.Graph, "zero_"+t.Elem.String(), t)
	}
	first := q.node(g, "QuantizeLinear", v, v.Name+"_quantized", graph.TensorOf(graph.ElemOf(q.plan.Target), v.Type.Shape), s, q.zero)
	q.follow(g, v.Producer, first)
	last := q.node(g, "DequantizeLinear", first.Out(0), v.Name+"_dequantized", v.Type, s, q.zero)
	q.follow(g, v.Producer, last)
	q.pairs[v] = last.Out(0)
	return ""
}

func (q *quantizer) node(g *graph.Graph, op string, in *graph.Value, out string, t graph.Type, more ...*graph.Value) *graph.Node {
	name := q.m.Unique(out)
	n := g.NewNode(op, "", q.named(g, "quantize", name))
	for _, v := range append([]*graph.Value{in}, more...) {
		n.AddInput(v)
	}
	n.AddOutput(name, t)
	return n
}

func (q *quantizer) scalar(g *graph.Graph, name string, e graph.ElemType, x float64) *graph.Value {
	return q.constant(g, name, converted(graph.FloatTensor("", []int64{}, float32(x)), e))
}

func (q *quantizer) constant(g *graph.Graph, name string, t *graph.Tensor) *graph.Value {
	v := g.NewValue(q.m.Unique(name), t.Type())
	v.SetInit(t)
	return v
}

// roundedUp returns the least number of a format that is not below x, or thereabouts.
func roundedUp(f numfmt.Format, x float64) float64 {
	if r := f.Round(x); r >= x {
		return r
	}
	return f.Round(x + f.Ulp(x))
}

// weights stores a constant in 8 bits behind a DequantizeLinear. It is read for its scales, and once more when it is
// saved.
func (q *quantizer) weights(v *graph.Value, t *graph.Tensor, axis int) (why string) {
	by := graph.ChannelsOf(t.Dims, axis)
	scales, why := q.scalesOf(t, by)
	if why != "" {
		return why
	}
	g := v.Graph
	dims := []int64{}
	if axis >= 0 {
		dims = []int64{int64(len(scales))}
	}
	s := q.constant(g, v.Name+"_scale", converted(graph.FloatTensor("", dims, scales...), t.Elem))
	w := q.constant(g, v.Name+"_quantized", t.Scaled(graph.ElemOf(q.plan.Target), by, scales))
	last := q.node(g, "DequantizeLinear", w, v.Name+"_dequantized", t.Type(), s)
	if axis >= 0 {
		last.SetAttr(intAttr("axis", int64(axis)))
	}
	q.follow(g, nil, last)
	q.sum.Converted += t.RawLen()
	q.pairs[v] = last.Out(0)
	q.unused = append(q.unused, v)
	return ""
}

// scalesOf returns a scale for each channel: its largest magnitude becomes the largest number of the 8-bit format.
func (q *quantizer) scalesOf(t *graph.Tensor, by graph.Channels) (scales []float32, why string) {
	f, _ := t.Elem.Format()
	scales = make([]float32, by.Len())
	at := int64(0)
	if err := t.Floats(func(x []float32) error {
		by.Largest(scales, at, x)
		at += int64(len(x))
		return nil
	}); err != nil {
		return nil, err.Error()
	}
	for k, most := range scales {
		s := roundedUp(f, float64(most)/q.plan.Target.Max())
		if math.IsInf(s, 0) || math.IsNaN(s) {
			return nil, "it holds numbers that are not finite"
		}
		if scales[k] = float32(s); s == 0 {
			scales[k] = 1
		}
	}
	return scales, ""
}
