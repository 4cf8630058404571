package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var positionIDs = Rule{
	Name:  "position-ids",
	Title: "coordinates are too coarse in the format",
	Kind:  PrecisionLoss,
	Model: checkPositions,
}

// checkPositions looks at the coordinates that a sampling operator reads, where they count pixels:
// past the exact integers of the format they are off by a pixel and more.
func checkPositions(p *Pass) {
	for n := range p.Model.Nodes() {
		if walk.Is(n, "Add", "Sub", "Mul") && !p.known(n, nil) {
			checkCoordinate(p, n)
		}
	}
}

func checkCoordinate(p *Pass, n *graph.Node) {
	o := n.Out(0)
	f, ok := p.low(o)
	if !ok || !p.rests(o) || p.Range(o).MaxAbs() <= f.ExactInt() || p.Range(o).MaxAbs() >= f.OverflowAt() || p.coarse(n) {
		return
	}
	sink := walk.LeadsTo(o, walk.Through("Add", "Sub", "Mul", "Div", "Clip"), func(u graph.Use) bool { return walk.Is(u.Node, "GridSample") && u.Index == 1 })
	if sink == nil {
		return
	}
	find := p.at(n, o)
	top := p.Range(o).MaxAbs()
	find.Limit, find.Evidence = f.ExactInt(), Likely
	if r := p.reach.Raw(o); r.Hi.Level > reach.Unreached && r.Hi.At > f.ExactInt() || r.Lo.Level > reach.Unreached && -r.Lo.At > f.ExactInt() {
		find.Evidence, find.Consequence, top = Witness, Silent, max(r.Hi.At, -r.Lo.At)
	}
	find.Message = fmt.Sprintf("%s comes to %.5g, where %s has steps of %.5g; %s samples by it", o.Name, top, f, f.Ulp(top), sink.LocalKey())
	find.Edits = p.exactEditsTo(o, sink)
	p.report(find)
}

// coarse tells whether a computed input of the node passes the exact range already.
func (p *Pass) coarse(n *graph.Node) bool {
	for _, in := range n.Inputs {
		if f, ok := p.low(in); ok && walk.Constant(in) == nil && walk.Maker(walk.Plain(in)) != nil && p.Range(in).MaxAbs() > f.ExactInt() {
			return true
		}
	}
	return false
}

// exactEditsTo holds coordinates in FP32 up to the operator that samples by them.
func (p *Pass) exactEditsTo(v *graph.Value, sink *graph.Node) []rewrite.Edit {
	var edits []rewrite.Edit
	for _, w := range walk.WaysTo(v, sink, walk.Through("Add", "Sub", "Mul", "Div", "Clip")) {
		edits = append(edits, rewrite.Widen{Value: w})
	}
	return edits
}
