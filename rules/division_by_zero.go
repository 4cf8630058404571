package rules

import (
	"fmt"
	"math"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

var divisionByZero = Rule{
	Name:  "division-by-zero",
	Title: "divisor vanishes in the format",
	Kind:  Underflow,
	Model: checkDivisionByZero,
}

// checkDivisionByZero reports divisors that stay away from 0 in FP32 and round to 0 here. One that
// may be 0 in FP32 too is none of narrowing's business, and reported for FP32 itself.
func checkDivisionByZero(p *Pass) {
	for n := range p.Model.Nodes() {
		at := 0
		switch {
		case walk.Is(n, "Div"):
			at = 1
		case walk.Is(n, "Pow") && p.Target == numfmt.FP32 && negativeInteger(n):
		case !walk.Is(n, "Reciprocal"):
			continue
		}
		if p.Target == numfmt.FP32 {
			checkZeroDivisor(p, n, n.In(at))
		} else {
			checkDivisor(p, n, n.In(at))
		}
	}
}

// negativeInteger tells whether a power is a division: by its base as often as the exponent says.
func negativeInteger(n *graph.Node) bool {
	y, ok := walk.Scalar(n.In(1))
	return ok && y < 0 && y == math.Trunc(y)
}

// checkZeroDivisor reports a divisor that may be 0 in FP32.
func checkZeroDivisor(p *Pass, n *graph.Node, v *graph.Value) {
	if !v.Type.Float() || walk.Constant(v) != nil || p.known(n, nil) || !p.rests(v) {
		return
	}
	r := p.Range(v)
	if r.Lo > 0 || r.Hi < 0 {
		return
	}
	find := p.at(n, n.Out(0))
	find.Kind, find.Range, find.Evidence = Overflow, r, Likely
	if p.comesTo(v, 0) {
		find.Evidence, find.Consequence = Witness, Visible
	}
	find.Message = fmt.Sprintf("the divisor %s may be 0: its range is %s", v.Name, r)
	if sum := walk.Maker(walk.Moved(walk.Plain(v))); walk.Is(sum, "Sqrt") && sum.In(0) != nil || sum != nil && strings.HasPrefix(sum.Op, "Reduce") {
		find.Message += p.hint(lostEpsilon)
	}
	p.report(find)
}

func checkDivisor(p *Pass, n *graph.Node, v *graph.Value) {
	f, ok := p.low(v)
	if !ok || walk.Constant(v) != nil || p.known(n, nil) || p.known(walk.Maker(walk.Moved(walk.Plain(v))), nil) {
		return
	}
	r := p.Range(v)
	low, evidence := r.Lo, Likely
	if q := p.reach.Raw(v); q.Lo.Level > reach.Unreached && q.Lo.At > 0 && q.Lo.At <= f.ZeroAt() {
		low, evidence = q.Lo.At, Witness
	}
	if evidence == Likely && (!p.rests(v) || low <= 0 || low > f.ZeroAt()) {
		return
	}
	find := p.at(n, n.Out(0))
	find.Range, find.Limit, find.Evidence = r, f.MinSubnormal(), evidence
	if evidence == Witness {
		find.Consequence = consequence(p.harm.Of(n.Out(0), spread.Damage{Pos: true, Neg: true, Whole: true, Least: 1}))
	}
	find.Message = fmt.Sprintf("the divisor %s comes down to %.5g, which is 0 in %s (least %.5g)", v.Name, low, f, f.MinSubnormal())
	find.Edits = append([]rewrite.Edit{rewrite.Widen{Value: v}}, p.excessEdits(n)...)
	find.Occurrences = p.vanishesAt(v)
	p.report(find)
}
