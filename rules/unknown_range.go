package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
)

var unknownRange = Rule{
	Name:  "unknown-range",
	Title: "input without a range",
	Kind:  Invalid,
	Model: checkUnknownRange,
}

// checkUnknownRange reports each input that unbounded values rest on, once. Bounds that rest on
// nothing are not judged anywhere else. An input whose first reader bounds it needs no range.
func checkUnknownRange(p *Pass) {
	count := map[*graph.Value]int{}
	for g := range p.Model.Graphs() {
		for _, v := range g.Values {
			if t := p.val(v); t != nil && v.Type.Float() && t.Basis() == rangeprop.Unknown && t.Why() != nil && t.Why() != v {
				count[t.Why()]++
			}
		}
	}
	for _, in := range p.Model.Graph.Inputs {
		n := count[in]
		if n == 0 {
			continue
		}
		f := p.at(nil, in)
		f.Message = fmt.Sprintf("no range for %q: %s on it; give --range %s=lo,hi or --data", in.Name, dependents(n), in.Name)
		if p.Strict {
			f.Severity = Warning
		}
		p.add(f)
	}
}

func dependents(n int) string {
	if n == 1 {
		return "1 value depends"
	}
	return fmt.Sprintf("%d values depend", n)
}
