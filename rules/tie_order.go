package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

var tieOrder = Rule{
	Name:  "tie-order",
	Title: "numbers that are compared become equal in the format",
	Kind:  PrecisionLoss,
	Model: checkTieOrder,
}

// checkTieOrder looks at what decides an order: positions of extremes, the best k, boxes that
// suppress others. Whole numbers past the exact range fall together, and so do scores to which a
// far larger offset was added to keep groups apart.
func checkTieOrder(p *Pass) {
	for n := range p.Model.Nodes() {
		if p.known(n, nil) || n.Out(0) == nil {
			continue
		}
		if walk.Is(n, "Add") {
			checkOffset(p, n)
		}
		if walk.Is(n, "Cast", "CumSum", "Add", "Sub", "Mul", "Range") && !p.known(n, nil) && !spaced(n) {
			checkInteger(p, n, ordered)
		}
	}
}

// spaced tells whether a node multiplies whole numbers by another one, so that neighbours are far
// apart.
func spaced(n *graph.Node) bool {
	for _, v := range n.Inputs {
		if c, ok := walk.Scalar(v); ok && walk.Is(n, "Mul") && c > 1 {
			return true
		}
	}
	return false
}

// ordering lists the operators whose result is an order.
func ordering(u graph.Use) bool {
	return walk.Is(u.Node, "ArgMax", "ArgMin", "TopK", "Hardmax", "NonMaxSuppression") && u.Index < 2
}

// ordered returns the node that puts the elements of a value in order, nil where there is none.
func ordered(v *graph.Value) *graph.Node {
	return walk.LeadsTo(v, walk.Through("Add", "Sub", "Mul", "Cast", "CastLike", "Where", "Relu", "Neg", "Clip"), ordering)
}

// ties is the share of a score's range, as steps of the sum, from which on the order is coarse.
const ties = 1.0 / 16

// checkOffset reports a sum of scores and an offset in whose steps the scores are lost.
func checkOffset(p *Pass, n *graph.Node) {
	f, ok := p.low(n.Out(0))
	if !ok || len(n.Inputs) != 2 || !p.rests(n.Out(0)) {
		return
	}
	for i := range 2 {
		score, offset := p.Range(n.In(i)), p.Range(n.In(1-i))
		spread, top := score.Hi-score.Lo, p.Range(n.Out(0)).Hi
		if !score.Bounded() || !offset.Bounded() || spread <= 0 || offset.Lo < 0 || offset.Hi-offset.Lo <= spread || top >= f.OverflowAt() {
			continue
		}
		sink := ordered(n.Out(0))
		if step := f.Ulp(top); step >= ties*spread && sink != nil {
			p.report(offsetFinding(p, n, i, step, sink))
			return
		}
	}
}

func offsetFinding(p *Pass, n *graph.Node, i int, step float64, sink *graph.Node) Finding {
	score := p.Range(n.In(i))
	f := p.at(n, n.Out(0))
	f.Limit, f.Evidence = step, Likely
	if step/2 >= score.Hi-score.Lo {
		f.Evidence, f.Consequence = Always, Silent
	}
	format, _ := p.low(n.Out(0))
	f.Message = fmt.Sprintf("%s spans %.5g and is added to offsets up to %.5g, where %s has steps of %.5g: scores fall together, and %s (%s) puts them in another order",
		n.In(i).Name, score.Hi-score.Lo, p.Range(n.In(1-i)).Hi, format, step, sink.LocalKey(), sink.OpName())
	for _, w := range walk.WaysTo(n.Out(0), sink, walk.Through("Add", "Sub", "Mul", "Cast", "Clip")) {
		f.Edits = append(f.Edits, rewrite.Widen{Value: w})
	}
	return f
}
