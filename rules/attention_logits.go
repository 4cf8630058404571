package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var attentionLogits = Rule{
	Name:  "attention-logits",
	Title: "attention logits overflow before they are scaled",
	Kind:  Overflow,
	Model: checkAttentionLogits,
}

func checkAttentionLogits(p *Pass) {
	for _, l := range p.Patterns.Logits {
		if e, ok := p.rootOf(l.MatMul.Out(0)); ok && !p.known(l.MatMul, nil) {
			p.overflowAt(l.MatMul, e, true, "the product of queries and keys")
		}
	}
	for n := range p.Model.Nodes() {
		switch n.OpName() {
		case "Attention", "com.microsoft.MultiHeadAttention", "com.microsoft.FusedMatMul":
			q, k := p.reach.Of(n.In(0)), p.reach.Of(n.In(1))
			depth := float64(headSize(n))
			r := reach.Pair(q, k, func(x, y float64) float64 { return depth * x * y }).Throughout()
			if r.Level() >= reach.Uniform {
				reportFusedLogits(p, n, math.Max(math.Abs(r.Lo.At), math.Abs(r.Hi.At))*innerScale(n))
			}
		case "com.microsoft.Attention":
			reportFusedLogits(p, n, p.packedLogits(n))
		}
	}
}

// reportFusedLogits reports operators that multiply before they scale, where their logits come to
// top. What they hold the product in is the kernel's choice.
func reportFusedLogits(p *Pass, n *graph.Node, top float64) {
	f, ok := p.low(n.Out(0))
	if !ok || p.known(n, nil) || top < f.OverflowAt() {
		return
	}
	find := p.at(n, n.Out(0))
	find.Evidence, find.Limit = Kernel, f.Max()
	find.Message = fmt.Sprintf("the logits inside reach %.5g, which is %s in %s (max %.5g), where the kernel does not hold them in fp32",
		top, p.shown(f, top), f, f.Max())
	find.Edits = []rewrite.Edit{rewrite.KeepFP32{Node: n}}
	p.report(find)
}

// headSize is the length of the vectors whose products are the logits.
func headSize(n *graph.Node) int64 {
	axis := int64(-1)
	if n.Op == "FusedMatMul" && n.Int("transA", 0) != 0 {
		axis = -2
	}
	size := max(walk.Dim(n.In(0), axis), 1)
	if heads := max(n.Int("num_heads", 1), n.Int("q_num_heads", 1)); size > heads {
		size /= heads
	}
	return size
}

// innerScale is what the operator multiplies queries and keys with before their product: the
// standard's Attention takes the root of its scale on both sides, others scale afterwards.
func innerScale(n *graph.Node) float64 {
	if n.Domain != "" {
		return 1
	}
	def := 1 / math.Sqrt(float64(headSize(n)))
	if a := n.Attr("scale"); a != nil {
		return float64(a.F)
	}
	return def
}

// packedLogits is how large the logits of an Attention get that projects its input by one constant
// matrix to queries, keys and values: of inputs that agree with a column of the queries.
func (p *Pass) packedLogits(n *graph.Node) float64 {
	x, w := p.reach.Of(n.In(0)), walk.Constant(n.In(1))
	heads := int(n.Int("num_heads", 1))
	if x.Level() < reach.Free || w == nil || len(w.Dims) != 2 || w.Len() > walk.MaxWeights || heads < 1 || len(n.Ints("qkv_hidden_sizes")) > 0 {
		return 0
	}
	data, err := w.Float64s()
	rows, cols := int(w.Dims[0]), int(w.Dims[1])
	size := cols / 3 / heads
	if err != nil || size < 1 {
		return 0
	}
	top := 0.0
	row := make([]float64, rows)
	for c := 0; c < cols/3; c += max(cols/3/32, 1) {
		for i := range row {
			row[i] = x.Hi.At
			if data[i*cols+c] < 0 {
				row[i] = x.Lo.At
			}
		}
		head := c / size * size
		sum := 0.0
		for j := range size {
			sum += dot(row, data[head+j:], cols) * dot(row, data[cols/3+head+j:], cols)
		}
		top = math.Max(top, math.Abs(sum))
	}
	return top
}

// dot is the product of a row with a column of a matrix.
func dot(row, column []float64, step int) float64 {
	sum := 0.0
	for i, x := range row {
		sum += x * column[i*step]
	}
	return sum
}
