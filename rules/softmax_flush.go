package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

var softmaxFlush = Rule{
	Name:  "softmax-flush",
	Title: "softmax over a long axis gives nothing but subnormal numbers",
	Kind:  Underflow,
	Model: checkSoftmaxFlush,
}

// checkSoftmaxFlush looks at how small the largest weight of a row can be: 1/n where n logits are
// alike.
func checkSoftmaxFlush(p *Pass) {
	for _, s := range p.Patterns.Softmaxes {
		n := walk.Maker(s.Output)
		if !s.Log && n != nil && s.Input != nil && !p.known(n, s.Output) {
			checkRow(p, s, n)
		}
	}
}

func checkRow(p *Pass, s *pattern.Softmax, n *graph.Node) {
	f, ok := p.low(s.Output)
	count := rowLength(s)
	top, evidence := p.largestWeight(s.Input, count)
	if !ok || evidence == Unproved || top >= f.MinNormal() || p.harm.Lost(s.Output, top) == spread.Harmless {
		return
	}
	find := p.at(n, s.Output)
	find.Limit, find.Evidence, find.Depends = f.MinNormal(), Kernel, OnFlush
	lost := shrunk{value: s.Output, format: f, top: top, gone: top <= f.ZeroAt()}
	if lost.gone {
		find.Limit, find.Evidence, find.Consequence = f.MinSubnormal(), evidence, Silent
	}
	find.Message = fmt.Sprintf("a row of %s has %.5g weights, none above %s where its logits are alike, which is %s%s",
		s.Output.Name, count, number(top), lost.stateText(), consequenceText(find.Consequence))
	find.Edits = p.smallEdits(s.Output)
	p.report(find)
}

// largestWeight is how small the largest weight of a row certainly gets, and how that is known.
func (p *Pass) largestWeight(logits *graph.Value, count float64) (float64, Evidence) {
	if r := p.reach.Of(logits); max(r.Lo.Level, r.Hi.Level) >= reach.Uniform {
		return 1 / count, Witness
	}
	r := p.Range(logits)
	if !p.rests(logits) || !r.Bounded() {
		return 1, Unproved
	}
	return 1 / (1 + (count-1)*math.Exp(r.Lo-r.Hi)), Always
}

// rowLength is the number of elements that a softmax joins, dimensions that are not known counted as
// 1.
func rowLength(s *pattern.Softmax) float64 {
	count := 1.0
	if s.Node == nil {
		for _, axis := range s.Axes {
			count *= float64(max(walk.Dim(s.Input, int64(axis)), 1))
		}
		return count
	}
	if s.Node.Version() >= 13 {
		return float64(max(walk.Dim(s.Input, s.Node.Int("axis", -1)), 1))
	}
	for axis := s.Node.Int("axis", 1); axis < int64(len(s.Input.Type.Shape)); axis++ { // rows are flattened
		count *= float64(max(walk.Dim(s.Input, axis), 1))
	}
	return count
}
