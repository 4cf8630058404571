package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
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
		case is(n, "Exp", "Sinh", "Cosh"), is(n, "Pow") && p.constant(n.In(0)) != nil && p.constant(n.In(1)) == nil:
			checkExp(p, n)
		case is(n, "Softplus"):
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
	r := p.reachOf(n.In(0))
	if !ok || r.hi.level == unreached || math.Exp(r.hi.at) < f.OverflowAt() {
		return
	}
	find := p.at(n, n.Out(0))
	find.Evidence, find.Limit = Kernel, f.Max()
	find.Message = fmt.Sprintf("exp(%.5g) inside is %s in %s, where the kernel computes log(1 + exp(x)) as written", r.hi.at, p.shown(f, math.Exp(r.hi.at)), f)
	find.Edits = []rewrite.Edit{rewrite.KeepFP32{Node: n}}
	p.report(find)
}
