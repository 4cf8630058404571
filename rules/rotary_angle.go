package rules

import (
	"fmt"
	"math"

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
			checkAngle(p, m, v, 1)
		}
		v, scale := unwrapped(v)
		if m := walk.Maker(v); m != nil && !p.known(m, nil) {
			checkAngle(p, m, v, scale)
		}
	}
}

// maxUnwrapped bounds the nodes between a phase that is wrapped and its sine.
const maxUnwrapped = 4

// unwrapped returns the phase that an angle is the remainder of, and by which factor the angle turns faster;
// nil for other angles. The remainder is small, and as wrong as the whole was.
func unwrapped(v *graph.Value) (phase *graph.Value, scale float64) {
	scale = 1
	for range maxUnwrapped {
		n := walk.Maker(v)
		switch {
		case walk.Is(n, "Mod"):
			if _, ok := walk.Scalar(n.In(1)); ok {
				return walk.Moved(walk.Plain(n.In(0))), scale
			}
			return nil, 0
		case walk.Is(n, "Sub") && wholePart(n.In(1), n.In(0)):
			return walk.Moved(walk.Plain(n.In(0))), scale
		case walk.Is(n, "Mul", "Div", "Add", "Sub"):
			i := 0
			if walk.Constant(n.In(0)) != nil {
				i = 1
			}
			c, ok := walk.Scalar(n.In(1 - i))
			if !ok || walk.Is(n, "Div") && (i == 1 || c == 0) {
				return nil, 0
			}
			if v = walk.Moved(walk.Plain(n.In(i))); walk.Is(n, "Mul") {
				scale *= math.Abs(c)
			} else if walk.Is(n, "Div") {
				scale /= math.Abs(c)
			}
		default:
			return nil, 0
		}
	}
	return nil, 0
}

// wholePart tells whether a value is another one rounded to a whole number.
func wholePart(whole, v *graph.Value) bool {
	n := walk.Maker(walk.Plain(whole))
	return walk.Is(n, "Floor", "Round", "Ceil") && walk.Plain(n.In(0)) == walk.Plain(v)
}

// checkAngle reports an angle, or what becomes one by a factor, that is too coarse.
func checkAngle(p *Pass, n *graph.Node, v *graph.Value, scale float64) {
	f, ok := p.low(v)
	if !ok || !p.rests(v) {
		return
	}
	coarse := func(top float64) bool { return f.Ulp(top)/2*scale >= coarseAngle }
	top, evidence := p.Range(v).MaxAbs(), Likely
	r := p.reach.Raw(v)
	if walk.Constant(v) != nil {
		r = p.reach.Of(v) // folded here, but computed in the format when the model runs
	}
	if r.Known() && coarse(max(r.Hi.At, -r.Lo.At)) {
		top, evidence = max(r.Hi.At, -r.Lo.At), Witness
	}
	if top >= f.OverflowAt() || !coarse(top) {
		return
	}
	if x := p.expected(v); evidence == Likely && x > 0 && !coarse(x*nearBy) {
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

// angleEdits holds the angle in FP32, and the positions it is made of where they are computed, or the steps
// that add up to it.
func (p *Pass) angleEdits(n *graph.Node, v *graph.Value) []rewrite.Edit {
	edits := []rewrite.Edit{rewrite.Widen{Value: v}}
	if step := n.In(0); walk.Is(n, "CumSum") && walk.Maker(walk.Plain(step)) != nil {
		edits = append(edits, rewrite.Widen{Value: walk.Plain(step)})
	}
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
