package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var integerInHalf = Rule{
	Name:  "integer-in-half",
	Title: "integers are too large to be exact in the format",
	Kind:  IndexExactness,
	Model: checkIntegerInHalf,
}

func checkIntegerInHalf(p *Pass) {
	for n := range p.Model.Nodes() {
		if walk.Is(n, "Cast", "CastLike", "CumSum", "Add", "Sub", "Mul", "Range", "ReduceSum") && !p.known(n, nil) {
			checkInteger(p, n, needsExact)
		}
	}
}

// checkInteger reports the first node at which whole numbers pass what the format counts exactly,
// where something behind it needs them exact. needs returns that node, nil where there is none.
func checkInteger(p *Pass, n *graph.Node, needs func(*graph.Value) *graph.Node) {
	o := n.Out(0)
	f, ok := p.low(o)
	v := p.val(o)
	if !ok || v == nil || !v.Integer() || walk.Constant(o) != nil || p.inexact(n) {
		return
	}
	top, evidence := p.Range(o).MaxAbs(), Likely
	if !p.rests(o) {
		top = 0
	}
	if r := p.reach.Raw(o); r.Hi.Level > reach.Unreached && r.Hi.At > f.ExactInt() || r.Lo.Level > reach.Unreached && -r.Lo.At > f.ExactInt() {
		top, evidence = max(r.Hi.At, -r.Lo.At), Witness
	}
	if r := p.Range(o); r.Lo == r.Hi && f.Round(r.Lo) == r.Lo { // one number, such as -Inf, and it is exact
		return
	}
	sink := needs(o)
	if top <= f.ExactInt() || sink == nil {
		return
	}
	find := p.at(n, o)
	find.Kind = IndexExactness
	find.Limit, find.Evidence = f.ExactInt(), evidence
	if evidence == Witness {
		find.Consequence = Silent
	}
	find.Message = fmt.Sprintf("%s counts up to %.5g; %s holds whole numbers exactly only up to %.5g, and %s (%s) needs them exact",
		o.Name, top, f, f.ExactInt(), sink.LocalKey(), sink.OpName())
	find.Edits = p.exactEdits(o, needs)
	p.report(find)
}

// inexact tells whether an input of the node passes the exact range already.
func (p *Pass) inexact(n *graph.Node) bool {
	for _, in := range n.Inputs {
		if f, ok := p.low(in); ok && p.Range(in).MaxAbs() > f.ExactInt() {
			return true
		}
	}
	return false
}

// counting passes whole numbers on.
var counting = []string{"Add", "Sub", "Mul", "Div", "Max", "Min", "Clip", "Relu", "CumSum", "Cast", "CastLike", "Where"}

// needsExact returns the node that whole numbers come to and that must have them exact: an index, a
// cast to integers, a rounding.
func needsExact(v *graph.Value) *graph.Node {
	return walk.LeadsTo(v, walk.Through(counting...), func(u graph.Use) bool {
		n := u.Node
		switch {
		case walk.Is(n, "Floor", "Ceil", "Round", "Mod", "Equal", "OneHot"):
			return true
		case walk.Is(n, "Cast"):
			o := n.Out(0)
			return o != nil && o.Type.Elem.IsInt()
		}
		return walk.Is(n, "Gather", "GatherElements", "GatherND") && u.Index == 1
	})
}

// exactEdits holds the numbers in FP32 up to where they are integers again or small.
func (p *Pass) exactEdits(v *graph.Value, needs func(*graph.Value) *graph.Node) []rewrite.Edit {
	var edits []rewrite.Edit
	seen := map[*graph.Value]bool{v: true}
	queue := []*graph.Value{v}
	for i := 0; i < len(queue) && i < maxRegion; i++ {
		v := queue[i]
		edits = append(edits, rewrite.Widen{Value: v})
		uses, _ := walk.Flow(v)
		for _, u := range uses {
			for _, o := range u.Node.Outputs {
				if o == nil || seen[o] || !o.Type.Float() {
					continue
				}
				f, ok := p.low(o)
				if ok && (walk.Hands(u) || walk.Is(u.Node, counting...) || walk.Is(u.Node, "Floor", "Ceil", "Round")) && (p.Range(o).MaxAbs() > f.ExactInt() || needs(o) != nil) {
					seen[o] = true
					queue = append(queue, o)
				}
			}
		}
	}
	return edits
}
