package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var fp8Saturation = Rule{
	Name:  "fp8-saturation",
	Title: "scale of a quantisation is too small for its input",
	Kind:  Overflow,
	Model: checkFP8Saturation,
}

func checkFP8Saturation(p *Pass) {
	for n := range p.Model.Nodes() {
		if walk.Is(n, "QuantizeLinear") && n.Out(0) != nil {
			checkQuantize(p, n)
		}
	}
}

// clipped is the share by which an input may pass the largest quantised number. Calibration cuts
// the outermost values off on purpose, not half of the range.
const clipped = 1.25

func checkQuantize(p *Pass, n *graph.Node) {
	f, ok := n.Out(0).Type.Elem.Format()
	scale, known := walk.Scalar(n.In(1))
	if !ok || f.Bits() != 8 || !known || scale <= 0 {
		return
	}
	top, evidence := p.Range(n.In(0)).MaxAbs()/scale, Likely
	if r := p.reach.Of(n.In(0)); r.Level() > reach.Unreached {
		top, evidence = max(r.Hi.At, -r.Lo.At)/scale, Witness
	} else if !p.rests(n.In(0)) {
		return
	} else if e := p.expected(n.In(0)) / scale; e > 0 && e < f.Max() {
		evidence = Unproved // scales are calibrated on numbers, and bounds lie above those
	}
	if top < clipped*f.Max() && (saturates(n) || top < f.OverflowAt()) {
		return
	}
	find := p.at(n, n.Out(0))
	find.Limit, find.Evidence = f.Max()*scale, evidence
	if evidence == Witness {
		find.Consequence = Silent
	}
	find.Message = fmt.Sprintf("%s %s %.5g, which is %.5g after the scale %.5g; %s ends at %.5g%s", n.In(0).Name, comes(evidence), top*scale, top, scale, f, f.Max(), saturationText(n, f))
	find.Edits = p.requantized(n, f, top, scale)
	p.report(find)
}

// comes is the verb for a number that a value comes to, or may come to by its bound.
func comes(e Evidence) string {
	if e == Unproved {
		return "may come to"
	}
	return "comes to"
}

// requantized returns the edits that keep an input of top times the scale from being lost: what
// calibration cut off saturates, else the scale grows, and where it cannot the rounding goes.
func (p *Pass) requantized(n *graph.Node, f numfmt.Format, top, scale float64) []rewrite.Edit {
	if top < clipped*f.Max() {
		return []rewrite.Edit{rewrite.SetInt(n, "saturate", 1)}
	}
	return rescaled(n, scale, top*scale/f.Max())
}

// rescaled sets the scales of a quantisation and of what undoes it, or takes it out where no scale
// would do.
func rescaled(n *graph.Node, from, to float64) []rewrite.Edit {
	consts, ok := scalesOf(n)
	if !ok || math.IsInf(to, 0) {
		return []rewrite.Edit{rewrite.Unquantize{Value: n.Out(0)}}
	}
	var edits []rewrite.Edit
	for _, v := range consts {
		edits = append(edits, rewrite.SetConst{Const: v, From: from, To: roundedUp(v, to)})
	}
	return edits
}

// scaleRoom keeps the rounded quotient from passing the largest number.
const scaleRoom = 1 + 1.0/1024

// roundedUp returns a number that the constant can hold and that is no less than x.
func roundedUp(v *graph.Value, x float64) float64 {
	x *= scaleRoom
	f, ok := v.Type.Elem.Format()
	if !ok {
		return x
	}
	if r := f.Round(x); r >= x {
		return r
	}
	return f.Round(x + f.Ulp(x))
}

// scalesOf returns the constants that a QuantizeLinear and all that undoes it take their scales from;
// ok is false where something else depends on one of them, so that it cannot change.
func scalesOf(n *graph.Node) (consts []*graph.Value, ok bool) {
	nodes := map[*graph.Node]bool{n: true}
	for todo := []*graph.Node{n}; len(todo) > 0; todo = todo[1:] {
		v := todo[0].In(1)
		if v == nil || v.Const == nil || v.Input || v.Producer != nil && !walk.Is(v.Producer, "Constant") || v.Graph.Kind == graph.CallGraph {
			return nil, false
		}
		if !slices.Contains(consts, v) {
			consts = append(consts, v)
		}
		next, ok := scaledWith(todo[0], v)
		if !ok {
			return nil, false
		}
		for _, m := range next {
			if !nodes[m] {
				nodes[m] = true
				todo = append(todo, m)
			}
		}
	}
	return consts, true
}

// scaledWith returns the nodes whose scale must be that of a quantising node: the other readers of
// its scale, and its counterparts.
func scaledWith(n *graph.Node, scale *graph.Value) (list []*graph.Node, ok bool) {
	for _, u := range scale.Uses {
		if u.Index != 1 || !walk.Is(u.Node, "QuantizeLinear", "DequantizeLinear") {
			return nil, false
		}
		list = append(list, u.Node)
	}
	if walk.Is(n, "DequantizeLinear") {
		first := walk.MakerOf(walk.Moved(n.In(0)), "QuantizeLinear")
		return append(list, first), first != nil
	}
	for todo := []*graph.Value{n.Out(0)}; len(todo) > 0; todo = todo[1:] {
		if todo[0] == nil || slices.Contains(todo[0].Graph.Outputs, todo[0]) {
			return nil, false
		}
		for _, u := range todo[0].Uses {
			switch {
			case walk.Is(u.Node, "DequantizeLinear") && u.Index == 0:
				list = append(list, u.Node)
			case walk.Moves(u.Node.Op) && u.Node.Domain == "" && u.Index == 0 && !walk.Is(u.Node, "Concat"):
				todo = append(todo, u.Node.Outputs...)
			default:
				return nil, false
			}
		}
	}
	return list, true
}

func saturates(n *graph.Node) bool { return n.Int("saturate", 1) != 0 }

func saturationText(n *graph.Node, f numfmt.Format) string {
	switch {
	case saturates(n):
		return ", where it saturates"
	case f.HasInf():
		return ", past which it is Inf"
	}
	return ", past which it is NaN"
}
