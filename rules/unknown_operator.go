package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
)

var unknownOperator = Rule{
	Name:  "unknown-operator",
	Title: "operator of which nothing is known",
	Kind:  Invalid,
	Model: checkUnknownOperator,
}

// checkUnknownOperator reports each operator whose results may be anything, at the first node of
// it and never at what depends on them.
func checkUnknownOperator(p *Pass) {
	first := map[string]*graph.Node{}
	values := map[*graph.Node][]*graph.Value{}
	var order []*graph.Node
	for n := range p.Model.Nodes() {
		for _, o := range n.Outputs {
			t := p.val(o)
			if t == nil || t.Basis() != rangeprop.Unknown || t.Why() != o {
				continue
			}
			if first[n.OpName()] == nil {
				first[n.OpName()] = n
				order = append(order, n)
			}
			values[first[n.OpName()]] = append(values[first[n.OpName()]], o)
		}
	}
	for _, n := range order {
		list := values[n]
		f := p.at(n, list[0])
		f.Message = fmt.Sprintf("nothing is known of operator %s: its results are taken as unbounded, and what depends on them is not judged", n.OpName())
		for _, v := range list[1:] {
			f.Occurrences = append(f.Occurrences, Place{v.Producer, v})
		}
		p.add(f)
	}
}
