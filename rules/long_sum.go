package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

var longSum = Rule{
	Name:  "long-sum",
	Title: "long sum depends on how the kernel accumulates",
	Kind:  Swamping,
	Model: checkLongSum,
}

// longTerms is the number of terms of one sign from which on a running sum in float16 loses more
// than a percent: the relative error is 0.005 at 4096 terms and 0.5 at 8192. It scales with the
// exact integers of the format.
const longTerms = 2

func checkLongSum(p *Pass) {
	for n := range p.Model.Nodes() {
		switch {
		case walk.Is(n, "ReduceMean", "ReduceSum", "ReduceL1"):
			checkSum(p, n, walk.ReducedCount(n))
		case walk.Is(n, "GlobalAveragePool"):
			checkSum(p, n, spatialCount(n.In(0)))
		}
	}
}

// spatialCount is the number of elements of one channel, dimensions that are not known counted
// as 1.
func spatialCount(v *graph.Value) float64 {
	if v == nil {
		return 1
	}
	count := 1.0
	for i := range v.Type.Shape {
		if i >= 2 {
			count *= float64(max(walk.Dim(v, int64(i)), 1))
		}
	}
	return count
}

// checkSum reports a sum of many terms that are mostly of one sign, so that a running sum grows
// past what its terms can still change.
func checkSum(p *Pass, n *graph.Node, count float64) {
	f, ok := p.low(n.Out(0))
	in := n.In(0)
	if !ok || count < longTerms*f.ExactInt() || p.known(n, nil) || walk.Constant(in) != nil || !p.rests(in) {
		return
	}
	r := p.Range(in)
	if !r.Bounded() || math.Abs(r.Lo+r.Hi) < 0.5*math.Max(math.Abs(r.Lo), math.Abs(r.Hi)) {
		return // of both signs alike: the running sum stays small
	}
	find := p.at(n, n.Out(0))
	find.Evidence, find.Depends, find.Limit = Kernel, OnAccumulation, f.ExactInt()
	find.Message = fmt.Sprintf("%.5g terms of one sign are summed; a running sum in %s stops growing at about %.5g times a term", count, f, f.ExactInt())
	find.Edits = []rewrite.Edit{rewrite.KeepFP32{Node: n}}
	p.report(find)
}
