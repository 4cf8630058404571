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

// checkPositions looks at the coordinates that a sampling operator reads, of boxes that are compared, or
// that become an index, where they count pixels: past the exact integers of the format they are off by a
// pixel and more.
func checkPositions(p *Pass) {
	for _, v := range p.Model.Graph.Inputs {
		checkIndexInput(p, v)
	}
	for n := range p.Model.Nodes() {
		if !walk.Is(n, "Add", "Sub", "Mul", "Div") || p.known(n, nil) || checkCoordinate(p, n, sampling) {
			continue
		}
		if x := p.val(n.Out(0)); x != nil && !x.Integer() { // whole numbers are a matter of their own
			if !checkCoordinate(p, n, boxing) {
				checkCoordinate(p, n, indexing)
			}
		}
	}
}

// coordinates is a use of coordinates: what they pass on the way, and where they end.
type coordinates struct {
	pass, goal func(graph.Use) bool
	verb       string
}

var (
	sampling = coordinates{walk.Through("Add", "Sub", "Mul", "Div", "Clip"), samples, "samples"}
	boxing   = coordinates{walk.Through("Add", "Sub", "Mul", "Div", "Clip", "Max", "Min"), boxes, "compares boxes"}
	indexing = coordinates{walk.Through("Add", "Sub", "Clip", "Max", "Min", "Floor", "Ceil", "Round", "Cast"), indexes, "takes elements"}
)

func samples(u graph.Use) bool { return walk.Is(u.Node, "GridSample") && u.Index == 1 }

func boxes(u graph.Use) bool { return walk.Is(u.Node, "NonMaxSuppression") && u.Index == 0 }

// indexes tells whether a use is that of an index, which is the second input of all but OneHot.
func indexes(u graph.Use) bool {
	if walk.Is(u.Node, "OneHot") {
		return u.Index == 0
	}
	return walk.Is(u.Node, "Gather", "GatherElements", "GatherND", "ScatterND", "ScatterElements") && u.Index == 1
}

// checkIndexInput reports an input of floats that becomes an index and counts further than the format does.
// It stands at the first reader.
func checkIndexInput(p *Pass, v *graph.Value) {
	f, ok := p.low(v)
	r, declared := p.declared(v)
	if !ok || !declared || half(v) || r.MaxAbs() <= f.ExactInt() || r.MaxAbs() >= f.OverflowAt() {
		return
	}
	sink := walk.LeadsTo(v, indexing.pass, indexing.goal)
	uses, _ := walk.Readers(v)
	if sink == nil || len(uses) == 0 {
		return
	}
	top := r.MaxAbs()
	find := p.at(uses[0].Node, v)
	find.Kind, find.Limit, find.Evidence, find.Consequence = IndexExactness, f.ExactInt(), Witness, Silent
	find.Message = fmt.Sprintf("%s comes to %.5g, where %s has steps of %.5g; %s %s by it", v.Name, top, f, f.Ulp(top), sink.LocalKey(), indexing.verb)
	find.Edits = p.exactEditsTo(v, sink, indexing.pass)
	p.report(find)
}

// checkCoordinate reports the first node whose coordinates are too coarse, and tells whether they are
// coordinates of that sort.
func checkCoordinate(p *Pass, n *graph.Node, c coordinates) bool {
	o := n.Out(0)
	f, ok := p.low(o)
	if !ok || !p.rests(o) || p.Range(o).MaxAbs() <= f.ExactInt() || p.Range(o).MaxAbs() >= f.OverflowAt() || p.coarse(n) {
		return false
	}
	sink := walk.LeadsTo(o, c.pass, c.goal)
	if sink == nil {
		return false
	}
	find := p.at(n, o)
	top := p.Range(o).MaxAbs()
	find.Limit, find.Evidence = f.ExactInt(), Likely
	if r := p.reach.Raw(o); r.Hi.Level > reach.Unreached && r.Hi.At > f.ExactInt() || r.Lo.Level > reach.Unreached && -r.Lo.At > f.ExactInt() {
		find.Evidence, find.Consequence, top = Witness, Silent, max(r.Hi.At, -r.Lo.At)
	}
	find.Message = fmt.Sprintf("%s comes to %.5g, where %s has steps of %.5g; %s %s by it", o.Name, top, f, f.Ulp(top), sink.LocalKey(), c.verb)
	find.Edits = p.exactEditsTo(o, sink, c.pass)
	p.report(find)
	return true
}

// coarse tells whether a computed input of the node passes the exact range already. Whole numbers are
// exact beyond it where they count in steps.
func (p *Pass) coarse(n *graph.Node) bool {
	for _, in := range n.Inputs {
		if f, ok := p.low(in); ok && walk.Constant(in) == nil && walk.Maker(walk.Plain(in)) != nil && p.Range(in).MaxAbs() > f.ExactInt()*p.step(in, 0) {
			return true
		}
	}
	return false
}

// exactEditsTo holds coordinates in FP32 up to the operator that reads them.
func (p *Pass) exactEditsTo(v *graph.Value, sink *graph.Node, pass func(graph.Use) bool) []rewrite.Edit {
	var edits []rewrite.Edit
	for _, w := range walk.WaysTo(v, sink, pass) {
		if w.Type.Float() {
			edits = append(edits, rewrite.Widen{Value: w})
		}
	}
	return edits
}
