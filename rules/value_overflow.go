package rules

import (
	"github.com/amplint/amplint/rules/walk"
)

var valueOverflow = Rule{
	Name:  "value-overflow",
	Title: "result overflows",
	Kind:  Overflow,
	Model: checkValueOverflow,
}

// checkValueOverflow reports what no other rule has named: results of nodes past the limit.
func checkValueOverflow(p *Pass) {
	for n := range p.Model.Nodes() {
		if n.Call == nil && len(n.Subgraphs()) == 0 && !walk.Moves(n.Op) && !walk.Is(n, "Constant", "ConstantOfShape") {
			p.plain(n, "the result")
		}
	}
}
