package rules

import (
	"fmt"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

var squareUnderflow = Rule{
	Name:  "square-underflow",
	Title: "square vanishes in the format",
	Kind:  Underflow,
	Model: checkSquareUnderflow,
}

// checkSquareUnderflow reports squares that are 0 whatever the input, although what is squared is
// not, and squares that are 0 for some input where that shows. A guard that swallows the sum of
// squares in float32 too makes them harmless.
func checkSquareUnderflow(p *Pass) {
	for _, s := range p.Patterns.Squares {
		if !p.known(s.Node, s.Output) {
			checkSmallSquare(p, s)
		}
	}
	for _, m := range p.Patterns.Norms {
		checkUnguarded(p, m)
	}
	for n := range p.Model.Nodes() {
		if walk.Is(n, "Log") {
			checkEnergy(p, n)
		}
	}
}

func checkSmallSquare(p *Pass, q *pattern.Square) {
	s, ok := p.shrunkOf(q.Output)
	if !ok || p.smallInput(q.Node, s) {
		return
	}
	f, missed := p.lostAt(q.Node, s, q.Base)
	if !missed {
		return
	}
	f.Message = fmt.Sprintf("the square of %s, at most %s, comes to %s at most, which is %s%s",
		q.Base.Name, number(p.Range(q.Base).MaxAbs()), s.spanText(), s.stateText(), consequenceText(f.Consequence))
	if norm := p.Patterns.NormOf(q.Node); norm != nil {
		f.Edits = p.normEdits(norm)
	}
	p.report(f)
}

// checkUnguarded reports a normalisation without an epsilon, whose squares are all 0 for inputs that
// are small and not 0: it divides by zero there, and only at 0 itself in float32.
func checkUnguarded(p *Pass, m *pattern.Norm) {
	square := m.Var
	if m.Square != nil {
		square = m.Square
	}
	n := walk.Maker(square)
	f, ok := p.low(square)
	if !ok || f == numfmt.FP32 || f.ZeroAt() < numfmt.FP32.MinNormal() || n == nil || m.EpsValue > 0 || m.Eps != nil || p.known(n, square) {
		return
	}
	r := p.Range(m.Numerator)
	least := math.Sqrt(f.ZeroAt())
	if !p.rests(m.Numerator) || r.Lo > least || r.Hi < -least {
		return
	}
	if slices.ContainsFunc(walk.Uses(m.Var), func(u graph.Use) bool { return p.known(u.Node, nil) }) {
		return // the epsilon was lost, and is put back
	}
	find := p.at(n, square)
	find.Evidence, find.Limit = Likely, f.MinSubnormal()
	find.Message = fmt.Sprintf("nothing keeps the %s from dividing by 0, and the square of %s is 0 below %s in %s", m.Kind, m.Numerator.Name, number(least), f) + p.hint(lostEpsilon)
	if find.Edits = p.normEdits(m); len(find.Edits) == 0 { // one operator does it all
		find.Edits = []rewrite.Edit{rewrite.Widen{Value: square}}
	}
	p.report(find)
}
