package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

var rotaryAngle = Rule{
	Name:  "rotary-angle",
	Title: "angle is too large for its sine in the format",
	Kind:  PrecisionLoss,
	Model: checkRotaryAngle,
}

// coarseAngle is a rounding error of an angle, in radians, at which sine and cosine are no longer
// the function meant.
const coarseAngle = 0.1

func checkRotaryAngle(p *Pass) {
	for n := range p.Model.Nodes() {
		if !walk.Is(n, "Sin", "Cos") {
			continue
		}
		v := walk.Moved(walk.Plain(n.In(0)))
		if m := walk.Maker(v); m != nil && !p.known(m, nil) {
			checkAngle(p, m, v)
		}
	}
}

func checkAngle(p *Pass, n *graph.Node, v *graph.Value) {
	f, ok := p.low(v)
	if !ok || !p.rests(v) {
		return
	}
	top, evidence := p.Range(v).MaxAbs(), Likely
	r := p.reach.Raw(v)
	if walk.Constant(v) != nil {
		r = p.reach.Of(v) // folded here, but computed in the format when the model runs
	}
	if r.Known() && f.Ulp(max(r.Hi.At, -r.Lo.At))/2 >= coarseAngle {
		top, evidence = max(r.Hi.At, -r.Lo.At), Witness
	}
	if top >= f.OverflowAt() || f.Ulp(top)/2 < coarseAngle {
		return
	}
	if x := p.expected(v); evidence == Likely && x > 0 && f.Ulp(x*nearBy)/2 < coarseAngle {
		evidence = Unproved // a bound that grew through weights, as before the sines of an activation, and no position
	}
	find := p.at(n, v)
	find.Limit, find.Evidence = f.ExactInt()/4, evidence
	if evidence == Witness {
		find.Consequence = Silent
	}
	find.Message = fmt.Sprintf("the angle %s comes to %.5g, where %s has steps of %.5g; its sine and cosine are off", v.Name, top, f, f.Ulp(top))
	find.Edits = p.angleEdits(n, v)
	p.report(find)
}

// angleEdits holds the angle in FP32, and the positions it is made of where they are computed.
func (p *Pass) angleEdits(n *graph.Node, v *graph.Value) []rewrite.Edit {
	edits := []rewrite.Edit{rewrite.Widen{Value: v}}
	for _, in := range n.Inputs {
		for w := in; w != nil; w = back(w) {
			if f, ok := p.low(w); !ok || walk.Maker(w) == nil || p.Range(w).MaxAbs() <= f.ExactInt() {
				break
			}
			edits = append(edits, rewrite.Widen{Value: w})
		}
	}
	return edits
}

// back is one step back through movement, nil where the value was computed otherwise.
func back(v *graph.Value) *graph.Value {
	n := walk.Maker(v)
	if n == nil || !walk.Moves(n.Op) && !walk.Is(n, "Cast") {
		return nil
	}
	return n.In(0)
}
