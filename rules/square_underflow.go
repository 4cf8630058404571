package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph/pattern"
)

var squareUnderflow = Rule{
	Name:  "square-underflow",
	Title: "square vanishes in the format",
	Kind:  Underflow,
	Model: checkSquareUnderflow,
}

// checkSquareUnderflow reports squares that are 0 whatever the input, although what is squared is
// not. A guard that swallows the sum of squares in float32 too makes them harmless.
func checkSquareUnderflow(p *Pass) {
	for _, s := range p.Patterns.Squares {
		if !p.known(s.Node, s.Output) {
			checkSmallSquare(p, s)
		}
	}
}

func checkSmallSquare(p *Pass, q *pattern.Square) {
	s, ok := p.shrunkOf(q.Output)
	if !ok || p.smallInput(q.Node) {
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
