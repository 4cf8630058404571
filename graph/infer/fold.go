package infer

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// folder computes output 0, or all outputs, from the elements of the inputs (nil where one is left out). It
// returns nil where it cannot. Inputs and outputs have known shapes.
type folder func(c *ctx, in []*data) []*data

// fold computes the outputs' elements where the inputs' are known.
func (c *ctx) fold() {
	if len(c.out) == 0 || c.data[0] != nil || !c.small() {
		return
	}
	if f := c.folders[c.n.OpName()]; f != nil {
		if in, ok := c.inputData(); ok {
			c.take(f(c, in))
		}
	}
	if d := c.data[0]; d == nil || d.known() && d.tensor("") == nil {
		c.evaluate()
	}
}

// small tells whether the first output's size is known and may be folded.
func (c *ctx) small() bool {
	if c.out[0].Kind != graph.KindTensor {
		return false
	}
	n, ok := elements(c.out[0].Shape)
	return ok && n <= c.allowance()
}

// allowance is the number of elements that one value may still have. When the budget is used up small ones, which
// shapes are made of, still fold.
func (w *walk) allowance() int64 {
	if w.budget > 0 {
		return w.opt.MaxFold
	}
	return min(w.opt.MaxFold, 256)
}

// elements returns the number of elements of a known shape.
func elements(s graph.Shape) (int64, bool) {
	dims, ok := s.Ints()
	if !ok {
		return 0, false
	}
	n := int64(1)
	for _, d := range dims {
		if n, ok = mulOK(n, d); !ok {
			return 0, false
		}
	}
	return n, true
}

// inputData reads the inputs; it is false where one is unknown. An integer vector as short as a shape counts as
// known beside others that are: what the chain does with its known elements still folds.
func (c *ctx) inputData() ([]*data, bool) {
	most := c.opt.MaxFold
	if c.opt.Eval != nil || c.out[0].Elem.IsFloat() {
		most = maxSmall // more are weights, not shapes
	}
	in := make([]*data, len(c.n.Inputs))
	some := false
	for i, v := range c.n.Inputs { // before anything is read
		if v == nil || c.walk.small[v] != nil || v.Const != nil && v.Const.Len() <= most {
			some = some || v != nil
			continue
		}
		if in[i] = c.open(v); in[i] == nil {
			return nil, false
		}
	}
	for i, v := range c.n.Inputs {
		if v == nil || in[i] != nil {
			continue
		}
		if in[i] = c.dataOf(v, most); in[i] == nil {
			return nil, false
		}
	}
	return in, some && len(in) > 0 && in[0] != nil
}

// maxOpen is the length of the longest shape met.
const maxOpen = 32

// open returns unknown elements for an integer scalar or vector of known length.
func (c *ctx) open(v *graph.Value) *data {
	n, ok := elements(v.Type.Shape)
	if !ok || n > maxOpen || len(v.Type.Shape) > 1 || v.Type.Elem != graph.Int64 && v.Type.Elem != graph.Int32 {
		return nil
	}
	dims, _ := v.Type.Shape.Ints()
	return &data{elem: v.Type.Elem, dims: dims, at: make([]num, n)}
}

// take keeps folded outputs that agree with their inferred types.
func (c *ctx) take(out []*data) {
	for i, d := range out {
		if d == nil || i >= len(c.out) {
			continue
		}
		dims, ok := c.out[i].Shape.Ints()
		if !ok || !equalDims(dims, d.dims) {
			continue
		}
		d.elem, d.dims = c.out[i].Elem, dims
		useful := false
		for j := range d.at {
			d.at[j] = fit(d.elem, d.at[j])
			useful = useful || d.at[j].k != numUnknown
		}
		if !useful && d.len() > 0 {
			continue
		}
		c.budget -= d.len()
		c.data[i] = d
	}
}

func equalDims(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// fit brings a result into the range of its type as a processor does: floats round, integers wrap. Symbolic
// integers are sizes and fit.
func fit(e graph.ElemType, x num) num {
	switch {
	case e == graph.Float && x.k == numFloat:
		return floatNum(float64(float32(x.f)))
	case e != graph.Float && e != graph.Double && e.IsFloat() && x.k == numFloat:
		return x
	case x.k != numInt:
		return x
	}
	switch e {
	case graph.Int32:
		return intNum(int64(int32(x.i)))
	case graph.Int16:
		return intNum(int64(int16(x.i)))
	case graph.Int8:
		return intNum(int64(int8(x.i)))
	case graph.Uint32:
		return intNum(int64(uint32(x.i)))
	case graph.Uint16:
		return intNum(int64(uint16(x.i)))
	case graph.Uint8:
		return intNum(int64(uint8(x.i)))
	case graph.Int4:
		return intNum(x.i << 60 >> 60)
	case graph.Uint4:
		return intNum(x.i & 15)
	case graph.Int2:
		return intNum(x.i << 62 >> 62)
	case graph.Uint2:
		return intNum(x.i & 3)
	case graph.Float:
		return floatNum(float64(float32(x.i)))
	case graph.Double:
		return floatNum(float64(x.i))
	}
	return x
}

// evaluate computes constant outputs by the evaluator.
func (c *ctx) evaluate() {
	if c.opt.Eval == nil || len(c.n.Subgraphs()) > 0 || neverFolded(c.n) {
		return
	}
	in := make([]*graph.Tensor, len(c.n.Inputs))
	total, some := int64(0), false
	for i, v := range c.n.Inputs {
		if v == nil {
			continue
		}
		if v.Const == nil {
			return
		}
		in[i], some = v.Const, true
		if total += v.Const.Len(); v.Const.Len() > c.opt.MaxFold || total > 4*c.opt.MaxFold {
			return
		}
	}
	if !some || c.work() > maxWork {
		return
	}
	out, err := c.opt.Eval(c.n, in)
	if err != nil {
		return
	}
	c.accept(out)
}

// neverFolded names the operators whose result is not the same in every run, or stands for something else.
func neverFolded(n *graph.Node) bool {
	switch n.OpName() {
	case "Constant", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial",
		"Bernoulli", "Dropout", "com.microsoft.BiasDropout", "com.microsoft.BitmaskDropout",
		"com.microsoft.BitmaskBiasDropout", "com.microsoft.SampleOp", "com.microsoft.EPContext":
		return true
	}
	return false
}

// maxWork bounds the multiplications of one folded node.
const maxWork = 1 << 24

// work estimates the multiplications of a node: what contracts its inputs multiplies their sizes.
func (c *ctx) work() float64 {
	w := 1.0
	switch c.n.Op {
	case "MatMul", "Gemm", "Einsum", "Conv", "ConvTranspose", "FusedMatMul", "MatMulInteger", "QLinearMatMul", "DFT":
		for i := range c.n.Inputs {
			if c.n.Inputs[i] != nil {
				w *= math.Max(1, float64(c.n.Inputs[i].Const.Len()))
			}
		}
		if c.n.Op != "Einsum" {
			w = math.Sqrt(w) * 256
		}
	}
	return w
}

// accept keeps the evaluator's results where they agree with the inferred types.
func (c *ctx) accept(out []*graph.Tensor) {
	for i, t := range out {
		if t == nil || i >= len(c.out) || c.n.Outputs[i] == nil || t.Len() > c.opt.MaxFold {
			continue
		}
		if c.out[i].Elem != graph.Undefined && c.out[i].Elem != t.Elem {
			continue
		}
		if dims, ok := c.out[i].Shape.Ints(); ok && !equalDims(dims, t.Dims) {
			continue
		}
		c.budget -= t.Len()
		c.out[i] = t.Type()
		if c.folded == nil {
			c.folded = make([]*graph.Tensor, len(c.out))
		}
		c.folded[i] = t
	}
}
