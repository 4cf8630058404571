package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

var logOfZero = Rule{
	Name:  "log-of-zero",
	Title: "logarithm of a number that vanishes in the format",
	Kind:  Underflow,
	Model: checkLogOfZero,
}

func checkLogOfZero(p *Pass) {
	for n := range p.Model.Nodes() {
		if !walk.Is(n, "Log") || p.known(n, nil) || p.known(walk.Maker(walk.Moved(walk.Plain(n.In(0)))), nil) || probability(p, n) != nil {
			continue
		}
		f, ok := p.low(n.In(0))
		if ok && !p.wide[n.In(0)] {
			checkLog(p, n, f)
		}
	}
}

// checkLog reports an argument that stays above 0 in FP32 and rounds to 0 here. One that may be 0
// in FP32 too has no finite logarithm there either, and is none of narrowing's business.
func checkLog(p *Pass, n *graph.Node, format numfmt.Format) {
	x := n.In(0)
	r, q := p.Range(x), p.reach.Raw(x)
	e := Likely
	low := r.Lo
	switch {
	case q.Lo.Level > reach.Unreached && q.Lo.At > 0 && q.Lo.At <= format.ZeroAt():
		e, low = Witness, q.Lo.At
	case !p.rests(x) || r.Lo <= 0 || r.Lo > format.ZeroAt():
		return
	}
	f := p.at(n, n.Out(0))
	f.Range, f.Limit, f.Evidence = r, format.MinSubnormal(), e
	if e == Witness {
		f.Consequence = consequence(p.harm.Of(n.Out(0), spread.Damage{Neg: true, Whole: true, Least: 10}))
	}
	f.Message = fmt.Sprintf("%s may be %.5g, which is 0 in %s (least %.5g); its logarithm is -Inf instead of %.5g", x.Name, low, format, format.MinSubnormal(), math.Log(low))
	f.Edits = []rewrite.Edit{rewrite.Widen{Value: x}}
	f.Occurrences = p.vanishesAt(x)
	p.report(f)
}

// vanishesAt returns the node that makes a number too small for a format, as a further place of what a
// reader makes of the 0: the one is where it becomes 0, the other where that is Inf.
func (p *Pass) vanishesAt(v *graph.Value) []Place {
	v = walk.Moved(walk.Plain(v))
	n := walk.Maker(v)
	if n == nil || p.Target == numfmt.FP32 || walk.Constant(v) != nil || len(n.Subgraphs()) > 0 {
		return nil
	}
	return []Place{{n, v}}
}
