package rules

import (
	"fmt"
	"math"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/runtime"
	"github.com/amplint/amplint/rules/walk"
)

var fusedAccumulation = Rule{
	Name:  "fused-accumulation",
	Title: "result depends on the type that kernels add in",
	Kind:  Swamping,
	Model: checkFusedAccumulation,
}

// checkFusedAccumulation reports operators whose results come out right where kernels add in float32
// and wrong where they add in the operands' type, as runs have shown. Those that a special rule has
// named are left alone.
func checkFusedAccumulation(p *Pass) {
	if p.Target == numfmt.FP32 {
		return
	}
	for n := range p.Model.Nodes() {
		if v := n.Out(0); v != nil && adds(n) && !p.known(n, nil) {
			if t, ok := p.toll(v, OnAccumulation); ok {
				reportAccumulated(p, accumulated(p, n, v, t))
			}
		}
	}
}

// adds tells whether a node sums up many terms in one kernel. Others only carry on what a sum lost.
func adds(n *graph.Node) bool {
	for _, part := range []string{"MatMul", "Gemm", "Conv", "Norm", "Softmax", "Attention", "AveragePool"} {
		if strings.Contains(n.Op, part) {
			return true
		}
	}
	return strings.HasPrefix(n.Op, "Reduce") || walk.Is(n, "Einsum", "LSTM", "GRU", "RNN", "CumSum", "DFT", "STFT", "LRN")
}

// reportAccumulated reports a result, as a note where kernels as a rule add in float32: in reductions
// and norms, of which other rules say when it matters. An exponential inside that overflows is none of
// adding, and no other rule speaks of it.
func reportAccumulated(p *Pass, f Finding) {
	exp := walk.Is(f.Node, "ReduceLogSumExp") && f.Kind != Swamping
	if p.kernelState(&f) == runtime.Unsaid && !exp && (strings.HasPrefix(f.Node.Op, "Reduce") || strings.Contains(f.Node.Op, "Norm") || walk.Is(f.Node, "Softmax", "LogSoftmax")) {
		f.Severity = Note
		p.add(f)
		return
	}
	p.report(f)
}

func accumulated(p *Pass, n *graph.Node, v *graph.Value, t Toll) Finding {
	f := p.at(n, v)
	f.Evidence, f.Depends = Kernel, OnAccumulation
	format, _ := p.low(v)
	f.Limit = format.Max()
	switch {
	case math.IsNaN(t.Got):
		f.Kind = NaN
	case math.IsInf(t.Got, 0):
		f.Kind = Overflow
	}
	if t.Right {
		f.Consequence = Absorbed
	}
	f.Message = fmt.Sprintf("%s comes to %.5g instead of %.5g where the kernel of %s adds in %s and not in fp32%s",
		v.Name, t.Got, t.Want, n.OpName(), format, consequenceText(f.Consequence))
	f.Edits = []rewrite.Edit{rewrite.KeepFP32{Node: n}}
	return f
}
