package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
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
			checkFusedLogits(p, n)
		}
	}
}

// checkFusedLogits looks inside operators that multiply before they scale. What they hold the
// product in is the kernel's choice.
func checkFusedLogits(p *Pass, n *graph.Node) {
	f, ok := p.low(n.Out(0))
	if !ok || p.known(n, nil) || n.In(1) == nil {
		return
	}
	q, k := p.reachOf(n.In(0)), p.reachOf(n.In(1))
	depth := float64(headSize(n))
	r := pair(q, k, func(x, y float64) float64 { return depth * x * y }).throughout()
	top := math.Max(math.Abs(r.lo.at), math.Abs(r.hi.at)) * innerScale(n)
	if r.level() < uniform || top < f.OverflowAt() {
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
	size := max(dimOf(n.In(0), axis), 1)
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
