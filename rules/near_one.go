package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

var nearOne = Rule{
	Name:  "near-one",
	Title: "number just below 1 rounds to 1",
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
	for n := range p.Model.Nodes() {
		if l := poleOf(n); l != nil && !p.known(n, nil) && !p.known(l.sink, nil) {
			checkPole(p, l)
		}
	}
}

// pole is a function that is infinite where a value is 1, or one of both signs, and finite next to it.
type pole struct {
	at, sink *graph.Node // what takes the value, and what is infinite
	value    *graph.Value
	both     bool
}

// poleOf returns the pole that a node leads to: an Atanh, or one minus a value that is divided by or
// whose logarithm is taken.
func poleOf(n *graph.Node) *pole {
	if walk.Is(n, "Atanh") {
		return &pole{n, n, n.In(0), true}
	}
	if !walk.Is(n, "Sub") {
		return nil
	}
	one, ok := walk.Scalar(n.In(0))
	sink := singular(n.Out(0))
	if !ok || one != 1 || sink == nil {
		return nil
	}
	return &pole{n, sink, n.In(1), false}
}

// checkPole reports values that come as near to 1 as they may, with nothing that keeps them from it: all
// above 1 less half of the spacing there are 1 in the format.
func checkPole(p *Pass, l *pole) {
	f, ok := p.low(l.value)
	made := walk.Maker(walk.Moved(walk.Plain(l.value)))
	if !ok || p.known(made, nil) || made == nil && half(walk.Plain(l.value)) || walk.Is(l.sink, "Log") && probability(p, l.sink) != nil {
		return
	}
	last := 1 - f.Unit()/2
	r := p.reach.Of(l.value)
	near := func(e reach.End, sign float64) bool {
		return e.Level > reach.Unreached && sign*e.At > last && sign*e.At <= 1
	}
	if r.Level() == reach.Unreached || !near(r.Hi, 1) && !(l.both && near(r.Lo, -1)) {
		return
	}
	find := p.at(l.at, l.at.Out(0))
	find.Limit, find.Evidence, find.Consequence = last, Witness, Visible
	if walk.Is(l.sink, "Log") {
		find.Consequence = consequence(p.harm.Of(l.sink.Out(0), spread.Damage{Neg: true, Whole: true, Least: 8}))
	}
	find.Message = fmt.Sprintf("numbers of %s from %.7g on are 1 in %s, and %s (%s) is infinite there", l.value.Name, last, f, l.sink.LocalKey(), l.sink.OpName())
	find.Edits = p.oneMinusEdits(l.value)
	p.report(find)
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
