package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
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
		if walk.Is(n, "Sub") && !p.known(n, nil) && p.squaresDiffer(n) {
			checkDifference(p, n)
		}
	}
}

// squaresDiffer tells whether a Sub takes a square or a product from a sum of squares.
func (p *Pass) squaresDiffer(n *graph.Node) bool {
	return p.squared(n.In(0), 4) && (p.Patterns.Square(walk.Plain(n.In(1))) != nil || p.product(n.In(1)))
}

// squared tells whether a value is a mean or sum of squares, or a sum of such.
func (p *Pass) squared(v *graph.Value, depth int) bool {
	v = walk.Moved(walk.Plain(v))
	n := walk.Maker(v)
	switch {
	case depth == 0 || n == nil:
		return false
	case walk.Is(n, "ReduceMean", "ReduceSum"):
		return p.Patterns.Square(walk.Moved(walk.Plain(n.In(0)))) != nil
	case walk.Is(n, "ReduceSumSquare"):
		return true
	case walk.Is(n, "Add"):
		return p.squared(n.In(0), depth-1) && p.squared(n.In(1), depth-1)
	}
	return false
}

// product tells whether a value is a constant times a product of vectors.
func (p *Pass) product(v *graph.Value) bool {
	n := walk.Maker(walk.Plain(v))
	if walk.Is(n, "Mul") {
		for i := range 2 {
			if _, ok := walk.Scalar(n.In(i)); ok {
				n = walk.Maker(walk.Plain(n.In(1 - i)))
				break
			}
		}
	}
	return walk.Is(n, "MatMul", "ReduceSum", "Einsum")
}

// checkDifference compares the rounding error of the parts with what keeps the difference positive.
func checkDifference(p *Pass, n *graph.Node) {
	f, ok := p.low(n.In(0))
	v := n.Out(0)
	root := walk.LeadsTo(v, walk.Through("Add", "Max", "Clip", "Cast"), func(u graph.Use) bool {
		return walk.Is(u.Node, "Sqrt", "Log") || walk.Is(u.Node, "Pow") && u.Index == 0
	})
	if !ok || root == nil {
		return
	}
	top, evidence := p.Range(n.In(0)).MaxAbs(), Likely
	if r, known := p.squareReach(n.In(0)); known {
		top, evidence = r, Witness
	}
	if evidence == Likely && !p.rests(n.In(0)) || f.Unit()*top <= p.guard(v) {
		return
	}
	find := p.at(n, v)
	find.Evidence, find.Limit = evidence, p.guard(v)
	if evidence == Witness {
		find.Consequence = Visible
	}
	find.Message = fmt.Sprintf("%s is a difference of numbers up to %.5g, each rounded by up to %.5g in %s; below that it may be negative, and %s (%s) has no result", v.Name, top, f.Unit()*top, f, root.LocalKey(), root.OpName())
	if m := p.Patterns.Square(walk.Plain(n.In(1))); m != nil {
		find.Message += p.hint(meanOfSquares)
	}
	find.Edits = p.differenceEdits(n, f)
	p.report(find)
}

// squareReach returns how large the sum of squares gets that a difference is made of.
func (p *Pass) squareReach(v *graph.Value) (float64, bool) {
	r := p.reach.Of(v)
	return r.Hi.At, r.Hi.Level >= reach.Uniform
}

// guard returns what is added to a difference, or bounds it from below, before its root is taken.
func (p *Pass) guard(v *graph.Value) float64 {
	for _, u := range walk.Uses(v) {
		if !walk.Is(u.Node, "Add", "Max") && !(walk.Is(u.Node, "Clip") && u.Index == 0) {
			continue
		}
		if walk.Is(u.Node, "Clip") || walk.Is(u.Node, "Max") {
			return p.Range(v).MaxAbs() // bounded from below: never negative
		}
		if x, ok := walk.Scalar(u.Node.In(1 - u.Index)); ok {
			return x
		}
	}
	return 0
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
func (p *Pass) rootEdits(v *graph.Value) []rewrite.Edit {
	var edits []rewrite.Edit
	for _, u := range walk.Uses(v) {
		if walk.Is(u.Node, "Add", "Max", "Clip") && u.Node.Out(0) != nil {
			edits = append(edits, rewrite.Widen{Value: u.Node.Out(0)})
		}
	}
	return edits
}
