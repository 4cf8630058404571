package rules

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

var valueOverflow = Rule{
	Name:  "value-overflow",
	Title: "result overflows",
	Kind:  Overflow,
	Model: checkValueOverflow,
}

// checkValueOverflow reports what no other rule has named: inputs and results of nodes past the limit.
func checkValueOverflow(p *Pass) {
	for _, in := range p.Model.Graph.Inputs {
		if in.Init != nil || in.Type.Elem != graph.Float {
			continue
		}
		if e, ok := p.excessOf(in); ok {
			p.overflowAt(nil, e, false, fmt.Sprintf("input %s", in.Name))
		}
	}
	for n := range p.Model.Nodes() {
		if n.Call == nil && len(n.Subgraphs()) == 0 && !walk.Moves(n.Op) && !walk.Is(n, "Constant", "ConstantOfShape") {
			p.plain(n, "the result")
		}
	}
	if p.Broken != nil {
		p.broken(p.Broken)
	}
}

// broken reports what a run has shown and nothing explains. What it takes to put it right is left
// to the runs of the result; the edits hold the value and what its node reads in FP32.
func (p *Pass) broken(b *Broken) {
	v, n := b.Value, walk.Maker(b.Value)
	f := p.at(n, v)
	f.Input = b.Input
	f.Evidence, f.Consequence = Witness, Visible
	what := "infinite"
	if b.NaN {
		f.Kind, what = NaN, "not a number"
	}
	f.Message = fmt.Sprintf("a run in %s makes %s %s where FP32 has a finite number, and so an output", p.Target, v.Name, what)
	for _, w := range slices.Compact(append([]*graph.Value{v}, n.Inputs...)) {
		if _, low := p.low(w); low {
			f.Edits = append(f.Edits, rewrite.Widen{Value: w})
		}
	}
	p.report(f)
}
