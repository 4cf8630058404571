package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var expOverflow = Rule{
	Name:  "exp-overflow",
	Title: "exponential overflows",
	Kind:  Overflow,
	Model: checkExpOverflow,
}

func checkExpOverflow(p *Pass) {
	for n := range p.Model.Nodes() {
		switch {
		case walk.Is(n, "Exp", "Sinh", "Cosh"), walk.Is(n, "Pow") && walk.Constant(n.In(0)) != nil && walk.Constant(n.In(1)) == nil:
			checkExp(p, n)
		case walk.Is(n, "Softplus"):
			checkSoftplus(p, n)
		}
	}
}

func checkExp(p *Pass, n *graph.Node) {
	e, ok := p.rootOf(n.Out(0))
	if !ok || p.known(n, nil) {
		return
	}
	arg := n.In(0)
	if n.Op == "Pow" {
		arg = n.In(1)
	}
	p.overflowAt(n, e, p.Target == numfmt.FP32 || p.summedExp(n.Out(0)), fmt.Sprintf("%s of %s", expName(n), arg.Name))
	if last := p.last(n); last != nil && addsExps(n.Out(0)) {
		last.Message += p.hint(logOfExps)
	}
}

func expName(n *graph.Node) string {
	switch n.Op {
	case "Sinh":
		return "sinh"
	case "Cosh":
		return "cosh"
	case "Pow":
		return "power"
	}
	return "exp"
}

// summedExp tells whether an exponential goes into a softmax or log-sum-exp without its maximum
// having been subtracted.
func (p *Pass) summedExp(v *graph.Value) bool {
	for _, s := range p.Patterns.ExpSums {
		if s.Exp == v {
			return s.Max == nil
		}
	}
	return false
}

// checkSoftplus is for log(1 + exp(x)) in one operator: kernels that compute it as written
// overflow, others do not.
func checkSoftplus(p *Pass, n *graph.Node) {
	f, ok := p.low(n.Out(0))
	r := p.reach.Of(n.In(0))
	if !ok || f.OverflowAt() > math.MaxFloat32/2 || r.Hi.Level == reach.Unreached || math.Exp(r.Hi.At) < f.OverflowAt() { // in FP32 it overflows there too
		return
	}
	find := p.at(n, n.Out(0))
	find.Evidence, find.Limit = Kernel, f.Max()
	find.Message = fmt.Sprintf("exp(%.5g) inside is %s in %s, where the kernel computes log(1 + exp(x)) as written", r.Hi.At, p.shown(f, math.Exp(r.Hi.At)), f)
	find.Edits = []rewrite.Edit{rewrite.KeepFP32{Node: n}}
	p.report(find)
}
