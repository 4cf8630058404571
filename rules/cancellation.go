package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var cancellation = Rule{
	Name:  "cancellation",
	Title: "difference of large numbers comes out negative",
	Kind:  PrecisionLoss,
	Model: checkCancellation,
}

// checkCancellation looks at differences that are never negative in real numbers but are made of
// rounded squares: E[x²] - m² and |a|² + |b|² - 2ab. Their root or logarithm is then NaN.
func checkCancellation(p *Pass) {
	for n := range p.Model.Nodes() {
		if c := p.Patterns.Cancel(n.Out(0)); c != nil && !p.known(n, nil) && !p.partly(n.Out(0)) {
			checkDifference(p, n, c)
		}
	}
}

// narrow tells whether a variance is never above some noise, since what it is taken of keeps too close to its mean.
func (p *Pass) narrow(c *pattern.Cancel, noise float64) bool {
	if !c.Mean {
		return false
	}
	m := walk.Maker(walk.Moved(walk.Plain(c.Sum)))
	if m == nil || m.In(0) == nil {
		return false
	}
	s := p.Patterns.Square(walk.Plain(m.In(0)))
	if s == nil || !p.rests(s.Base) {
		return false
	}
	r := p.Range(s.Base)
	return (r.Hi-r.Lo)*(r.Hi-r.Lo)/4 < noise
}

// partly tells whether a difference is a part of another one, (|a|² - 2ab) + |b|².
func (p *Pass) partly(v *graph.Value) bool {
	uses := walk.Uses(v)
	return len(uses) == 1 && p.Patterns.Cancel(uses[0].Node.Out(0)) != nil
}

// checkDifference compares the rounding error of the parts with what keeps the difference positive.
func checkDifference(p *Pass, n *graph.Node, c *pattern.Cancel) {
	f, ok := p.low(c.Sum)
	v := n.Out(0)
	root := walk.LeadsTo(v, passesSign, func(u graph.Use) bool {
		return walk.Is(u.Node, "Sqrt", "Log") || walk.Is(u.Node, "Pow") && u.Index == 0
	})
	if !ok || root == nil {
		return
	}
	top, evidence := p.Range(c.Sum).MaxAbs(), Likely
	if r, known := p.squareReach(c.Sum); known {
		top, evidence = r, Witness
	}
	least, floored := p.guard(v)
	if evidence == Likely && !p.rests(c.Sum) || f.Unit()*top <= least {
		return
	}
	find := p.at(n, v)
	find.Evidence, find.Limit = evidence, least
	then := fmt.Sprintf("it may be negative, and %s (%s) has no result", root.LocalKey(), root.OpName())
	switch {
	case floored && p.narrow(c, f.Unit()*top): // all that an input can make of it is noise
		find.Evidence, find.Consequence = Witness, Silent
		then = fmt.Sprintf("all that inputs make of it is noise, and %s (%s) takes the root of that", root.LocalKey(), root.OpName())
	case floored: // wrong where numbers lie close together about a large mean, which not all inputs do
		find.Evidence = Unproved
		then = fmt.Sprintf("it is noise or 0, and %s (%s) takes the root of that", root.LocalKey(), root.OpName())
	case evidence == Witness:
		find.Consequence = Visible
	}
	find.Message = fmt.Sprintf("%s is a difference of numbers up to %.5g, each rounded by up to %.5g in %s; below that %s", v.Name, top, f.Unit()*top, f, then)
	if c.Mean {
		find.Message += p.hint(meanOfSquares)
	}
	find.Edits = p.differenceEdits(n, f)
	p.report(find)
}

// passesSign tells whether a use keeps a number negative, or nearly so: sums with an epsilon, bounds, and
// factors such as n/(n-1).
func passesSign(u graph.Use) bool {
	if walk.Is(u.Node, "Mul", "Div") {
		c, ok := walk.Scalar(u.Node.In(1 - u.Index))
		return ok && c > 0 && (walk.Is(u.Node, "Mul") || u.Index == 0)
	}
	return walk.Is(u.Node, "Add", "Max", "Relu", "Clip", "Cast")
}

// squareReach returns how large the sum of squares gets that a difference is made of.
func (p *Pass) squareReach(v *graph.Value) (float64, bool) {
	r := p.reach.Of(v)
	return r.Hi.At, r.Hi.Level >= reach.Uniform
}

// guard returns what is added to a difference before its root is taken, and whether it is kept from being negative.
func (p *Pass) guard(v *graph.Value) (least float64, floored bool) {
	for _, u := range walk.Uses(v) {
		o := u.Node.Out(0)
		switch {
		case o == nil || !passesSign(u) || walk.Is(u.Node, "Cast"):
		case walk.Is(u.Node, "Mul", "Div"):
			return p.guard(o)
		case walk.Is(u.Node, "Add"):
			if x, ok := walk.Scalar(u.Node.In(1 - u.Index)); ok {
				return x, false
			}
		case walk.Is(u.Node, "Max") || u.Index == 0:
			lo := p.Range(o).Lo
			least, floored = p.guard(o)
			return max(least, lo), floored || lo >= 0
		}
	}
	return 0, false
}

// differenceEdits holds all parts in FP32, back to what the model or a matrix product makes them
// of, and on to the root.
func (p *Pass) differenceEdits(n *graph.Node, f numfmt.Format) []rewrite.Edit {
	edits := []rewrite.Edit{}
	seen := map[*graph.Value]bool{}
	queue := []*graph.Value{n.Out(0)}
	for i := 0; i < len(queue) && i < maxRegion; i++ {
		v := queue[i]
		m := walk.Maker(v)
		if seen[v] || m == nil || walk.Constant(v) != nil {
			continue
		}
		seen[v] = true
		edits = append(edits, rewrite.Widen{Value: v})
		if !walk.Is(m, "MatMul", "Einsum") {
			for _, in := range m.Inputs {
				if in != nil && in.Type.Float() {
					queue = append(queue, in)
				}
			}
		}
	}
	return append(edits, p.rootEdits(n.Out(0))...)
}

// rootEdits widens what follows a value up to its root.
func (p *Pass) rootEdits(v *graph.Value) (edits []rewrite.Edit) {
	for _, u := range walk.Uses(v) {
		o := u.Node.Out(0)
		if o == nil || walk.Is(u.Node, "Cast") || !passesSign(u) {
			continue
		}
		edits = append(edits, rewrite.Widen{Value: o})
		if walk.Is(u.Node, "Mul", "Div") {
			edits = append(edits, p.rootEdits(o)...)
		}
	}
	return edits
}
