package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var nearOne = Rule{
	Name:  "near-one",
	Title: "bound just below 1 rounds to 1",
	Kind:  PrecisionLoss,
	Model: checkNearOne,
}

func checkNearOne(p *Pass) {
	for v, s := range walk.Constants(p.Model) {
		f, ok := p.low(v)
		x, one := s.Single()
		if !ok || !one || math.Abs(x) >= 1 || math.Abs(f.Round(x)) != 1 {
			continue
		}
		uses, _ := walk.Readers(v)
		for _, u := range uses {
			if walk.Is(u.Node, "Clip") && u.Index > 0 || walk.Is(u.Node, "Min", "Max") {
				checkUpperBound(p, v, x, u.Node, f)
			}
		}
	}
}

// checkUpperBound reports a bound that is 1 in the format where one minus the bounded value is
// divided by, or its logarithm taken.
func checkUpperBound(p *Pass, v *graph.Value, x float64, n *graph.Node, format numfmt.Format) {
	sink := p.oneMinus(n.Out(0))
	if sink == nil || p.known(n, nil) {
		return
	}
	f := p.at(n, v)
	f.Range, f.Limit = rangeprop.Range{Lo: x, Hi: x}, 1-format.Unit()
	f.Evidence = Likely
	if r := p.reach.Of(n.Out(0)); r.Hi.Level > reach.Unreached && format.Round(r.Hi.At) == 1 {
		f.Evidence, f.Consequence = Constant, Visible
	}
	f.Message = fmt.Sprintf("bound %s is %.7g, which is 1 in %s (next below %.5g); one minus it is 0 at %s", v.Name, x, format, 1-format.Unit(), sink.LocalKey())
	f.Edits = p.oneMinusEdits(n.Out(0))
	p.report(f)
}

// oneMinus returns the division or logarithm that one minus a value comes to, or the function with
// a pole at 1 that the value itself comes to.
func (p *Pass) oneMinus(v *graph.Value) *graph.Node {
	for _, u := range walk.Uses(v) {
		if walk.Is(u.Node, "Atanh") {
			return u.Node
		}
		if !walk.Is(u.Node, "Sub") || u.Index != 1 {
			continue
		}
		if one, ok := walk.Scalar(u.Node.In(0)); ok && one == 1 && singular(u.Node.Out(0)) != nil {
			return singular(u.Node.Out(0))
		}
	}
	return nil
}

// oneMinusEdits holds the bounded value, one minus it, and what is computed of them up to the
// logarithm in FP32.
func (p *Pass) oneMinusEdits(v *graph.Value) []rewrite.Edit {
	edits := []rewrite.Edit{rewrite.Widen{Value: v}}
	seen := map[*graph.Value]bool{v: true}
	queue := []*graph.Value{v}
	for i := 0; i < len(queue) && i < 16; i++ {
		uses, _ := walk.Flow(queue[i])
		for _, u := range uses {
			for _, o := range u.Node.Outputs {
				if o != nil && !seen[o] && (walk.Hands(u) || walk.Is(u.Node, "Sub", "Div", "Reciprocal")) {
					seen[o] = true
					edits, queue = append(edits, rewrite.Widen{Value: o}), append(queue, o)
				}
			}
		}
	}
	return edits
}
