package rangeprop

import (
	"maps"
	"slices"
	"sync"

	"github.com/amplint/amplint/graph"
)

// op is an entry of the operator table: a transfer function and how exact the operator is.
type op struct {
	f transfer
	// ulps is the error of an element in units of the last place of its type, on top of the final
	// rounding; exact operators hand numbers on as they are.
	ulps  float64
	exact bool
	// bounded operators have a range whatever their input: what they give does not rest on it.
	bounded bool
	// limit is what no kernel leaves, whatever its error; the zero value is no limit.
	limit Range
}

// transfer bounds the outputs of a node: facts in, bounds out. What it leaves out, or nil, may be
// anything.
type transfer func(c *call) []*Val

// exact is an operator that computes no new numbers: movement, comparison, selection.
func exact(f func(c *call) *Val) op { return op{f: single(f), exact: true} }

// rounded is an operator whose elements are the correctly rounded real results.
func rounded(f func(c *call) *Val) op { return op{f: single(f)} }

// approx is an operator that kernels compute to a few units in the last place.
func approx(f func(c *call) *Val) op { return op{f: single(f), ulps: 4} }

// squash is approx with a bounded result.
func squash(f func(c *call) *Val) op { return op{f: single(f), ulps: 4, bounded: true} }

// within is squash with ends that no kernel leaves.
func within(lo, hi float64, f func(c *call) *Val) op {
	return op{f: single(f), ulps: 4, bounded: true, limit: Range{lo, hi}}
}

// choice is exact with a bounded result, such as a condition or an index.
func choice(f func(c *call) *Val) op { return op{f: single(f), exact: true, bounded: true} }

func single(f func(c *call) *Val) transfer {
	return func(c *call) []*Val { return []*Val{f(c)} }
}

// families lists the tables of the operator families.
func families() []map[string]op {
	return []map[string]op{elementwiseOps(), mathOps(), logicOps(), reduceOps(), movementOps(), shapeOps(), matmulOps(), convOps(),
		normalizeOps(), softmaxOps(), attentionOps(), poolOps(), quantizeOps(), recurrentOps(), controlOps(), sequenceOps(), randomOps(),
		signalOps(), lossOps(), imageOps(), mlOps(), trainingOps(), gradientOps()}
}

// boundsOnly are operators that the evaluator does not have: nothing holds their bounds against it.
// They are few and say little; package infer has the types of these, and no more, as well.
func boundsOnly() map[string]op {
	return map[string]op{
		"ai.onnx.preview.training.Gradient": {f: anyOfAll}, "com.microsoft.CropAndResize": exact(croppedOp), "com.microsoft.GemmFastGelu": rounded(gemmFastGeluOp),
		"com.microsoft.DecoderMaskedMultiHeadAttention": {f: anyOfAll}, "com.microsoft.PackedMultiHeadAttention": {f: packedOp, ulps: 8},
		"com.microsoft.DequantizeBFP": rounded(anyOf), "com.microsoft.QuantizeBFP": rounded(anyOf),
		"com.microsoft.Rfft": approx(fftOp), "com.microsoft.Irfft": approx(fftOp), "com.microsoft.MaxpoolWithMask": exact(maskedPoolOp),
		"com.microsoft.MatMulInteger16": rounded(typeRange), "com.microsoft.MatMulFpQ4": rounded(anyOf), "com.microsoft.MatMulBnb4": rounded(anyOf),
	}
}

// anyOfAll lets every output be anything.
func anyOfAll(c *call) []*Val {
	outs := make([]*Val, len(c.n.Outputs))
	for i := range outs {
		outs[i] = anyOf(c)
	}
	return outs
}

// tried returns the operators whose bounds can be held against the evaluator.
func tried() map[string]op {
	table := make(map[string]op, 400)
	for _, family := range families() {
		maps.Copy(table, family)
	}
	return table
}

// operators returns the table of all operators. It is built once and never changed.
var operators = sync.OnceValue(func() map[string]op {
	table := tried()
	maps.Copy(table, boundsOnly())
	return table
})

// Keys returns the operators that have a transfer function which the evaluator can try, sorted, as
// [graph.OpName] writes them.
func Keys() []string { return slices.Sorted(maps.Keys(tried())) }

// BoundsOnly returns the other operators that have a transfer function.
func BoundsOnly() []string { return slices.Sorted(maps.Keys(boundsOnly())) }

// call is a node being bounded.
type call struct {
	p  *pass
	n  *graph.Node
	in []*Val // nil where left out

	digest     *digest     // of the constant factor, nil where there is none
	recurrence *recurrence // of a recurrent layer, nil until its estimate is asked for
}

// has tells whether an input is given.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i] != nil }

// x returns an input; one that is left out although the operator needs it may be anything.
func (c *call) x(i int) *Val {
	if c.has(i) {
		return c.in[i]
	}
	return c.anything()
}

// anything is the result of which nothing is known, resting on what the inputs rest on.
func (c *call) anything() *Val {
	v := anything(nil)
	v.basis = Constant
	c.restAll(v)
	if v.basis == Unknown && v.why == nil {
		v.why = c.n.Out(0)
	}
	return v
}

// restAll lets a result rest on every input.
func (c *call) restAll(v *Val) {
	for _, in := range c.in {
		if in != nil {
			v.rest(in)
		}
	}
}

// within returns one bound for all elements of a result that rests on all inputs and may be NaN
// where one of them may.
func (c *call) within(r Range) *Val {
	v := scalar(r)
	for _, in := range c.in {
		if in != nil {
			v.rest(in)
			v.nan = v.nan || in.nan
		}
	}
	return v
}

// shape returns the shape of an input, nil where its rank is unknown.
func (c *call) shape(i int) graph.Shape {
	if v := c.n.In(i); v != nil {
		return v.Type.Shape
	}
	return nil
}

// rank returns the number of dimensions of an input, -1 where unknown.
func (c *call) rank(i int) int {
	if s := c.shape(i); s != nil {
		return len(s)
	}
	return -1
}

// elem returns the element type of an output.
func (c *call) elem(i int) graph.ElemType {
	if v := c.n.Out(i); v != nil {
		return v.Type.Elem
	}
	return graph.Undefined
}

// axis reads an axis attribute, counted from the front; ok is false where the rank is unknown or
// the axis outside of it.
func (c *call) axis(name string, def int64, rank int) (int, bool) {
	a := c.n.Int(name, def)
	if a < 0 {
		a += int64(rank)
	}
	return int(a), rank > 0 && a >= 0 && a < int64(rank)
}

// ints returns the elements of a constant integer input.
func (c *call) ints(i int) ([]int64, bool) {
	v := c.n.In(i)
	if v == nil || v.Const == nil || v.Const.Len() > 1<<16 || v.Const.Elem == graph.String {
		return nil, false
	}
	x, err := v.Const.Int64s()
	return x, err == nil
}

// number returns the value of an input of one element that is the same in every run.
func (c *call) number(i int) (float64, bool) {
	if !c.has(i) {
		return 0, false
	}
	h := c.in[i].Hull()
	return h.Lo, h.Lo == h.Hi && c.in[i].basis == Constant && !c.in[i].nan
}

// dim returns the bounds of dimension d of input i: at least lo, and at most hi, -1 where unknown.
func (c *call) dim(i, d int) (lo, hi int64) {
	s := c.shape(i)
	if d < 0 || d >= len(s) {
		return 0, -1
	}
	if s[d].Known() {
		return s[d].N, s[d].N
	}
	if c.p.info == nil {
		return 0, -1
	}
	return c.p.info.Bounds(s[d])
}

// full returns an input with its dimensions filled up to its rank, so that axes can be addressed.
// ok is false where the rank is unknown.
func (c *call) full(i int) (v *Val, ok bool) {
	rank := c.rank(i)
	v = c.x(i)
	if rank < 0 || len(v.dims) > rank {
		return v, false
	}
	if len(v.dims) < rank {
		w := v.clone()
		w.dims = pad(v.dims, rank)
		v = w
	}
	return v, true
}
