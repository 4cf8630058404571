package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var sumOfSquares = Rule{
	Name:  "sum-of-squares",
	Title: "square or sum of squares overflows",
	Kind:  Overflow,
	Model: checkSumOfSquares,
}

func checkSumOfSquares(p *Pass) {
	for _, s := range p.Patterns.Squares {
		checkSquare(p, s)
	}
	for n := range p.Model.Nodes() {
		switch {
		case walk.Is(n, "ReduceSum", "ReduceMean", "GlobalAveragePool") && p.Patterns.Square(walk.Plain(n.In(0))) != nil, walk.Is(n, "ReduceSumSquare"):
			if e, ok := p.rootOf(n.Out(0)); ok && !p.known(n, nil) {
				p.squaresOverflow(n, e, "the sum of squares")
			}
		case walk.Is(n, "ReduceL2"):
			checkNorm2(p, n)
		}
	}
}

func checkSquare(p *Pass, s *pattern.Square) {
	e, ok := p.rootOf(s.Output)
	if !ok || p.known(s.Node, nil) {
		return
	}
	p.squaresOverflow(s.Node, e, fmt.Sprintf("the square of %s", s.Base.Name))
}

// squaresOverflow reports with the whole inside of the normalisation, where it is one, as the fix.
func (p *Pass) squaresOverflow(n *graph.Node, e excess, what string) {
	norm := p.Patterns.NormOf(n)
	p.overflowAt(n, e, norm != nil, what)
	if last := p.last(n); last != nil && norm != nil {
		last.Edits = p.normEdits(norm)
	}
}

// normEdits holds the inside of a normalisation in FP32, from the squares to the root. Its output
// is small whatever its input.
func (p *Pass) normEdits(m *pattern.Norm) []rewrite.Edit {
	var edits []rewrite.Edit
	parts := []*graph.Value{m.Square, m.Var, m.Shifted, m.Root}
	if m.Shifted != nil {
		parts = append(parts, p.region(m.Shifted)...) // a reciprocal root may be large
	}
	for _, v := range parts {
		if v == nil || walk.Constant(v) != nil || m.Square == nil && walk.Is(walk.Maker(v), "ReduceL2") {
			continue
		}
		if e := (rewrite.Widen{Value: v}); !contains(edits, e) {
			edits = append(edits, e)
		}
	}
	return edits
}

func contains(edits []rewrite.Edit, e rewrite.Widen) bool {
	for _, o := range edits {
		if o == rewrite.Edit(e) {
			return true
		}
	}
	return false
}

// checkNorm2 is for ReduceL2, whose result fits while the sum under its root does not.
func checkNorm2(p *Pass, n *graph.Node) {
	f, ok := p.low(n.Out(0))
	r := p.reach.Raw(n.Out(0))
	if !ok || r.Hi.Level == reach.Unreached || r.Hi.At*r.Hi.At < f.OverflowAt() || r.Hi.At >= f.OverflowAt() {
		return
	}
	find := p.at(n, n.Out(0))
	find.Evidence, find.Limit = Kernel, f.Max()
	find.Message = fmt.Sprintf("the sum of squares inside reaches %.5g, which is %s in %s (max %.5g), where the kernel does not sum in fp32",
		r.Hi.At*r.Hi.At, p.shown(f, r.Hi.At*r.Hi.At), f, f.Max())
	find.Edits = []rewrite.Edit{rewrite.KeepFP32{Node: n}}
	p.report(find)
}
