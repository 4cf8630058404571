package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
)

var duplicateName = Rule{
	Name:  "duplicate-name",
	Title: "name that several nodes share",
	Kind:  Invalid,
	Model: checkDuplicateName,
}

// checkDuplicateName reports names of nodes that stand for several nodes of one graph. Tools that
// keep nodes in float32 by name, profilers and the ignore list of this one cannot tell them apart.
func checkDuplicateName(p *Pass) {
	for g := range p.Model.Graphs() {
		if g.Kind == graph.CallGraph {
			continue // the template's names, once for each call
		}
		checkNames(p, g)
	}
}

func checkNames(p *Pass, g *graph.Graph) {
	nodes := map[string][]*graph.Node{}
	var order []string
	for _, n := range g.Nodes {
		if n.Name == "" {
			continue
		}
		if len(nodes[n.Name]) == 0 {
			order = append(order, n.Name)
		}
		nodes[n.Name] = append(nodes[n.Name], n)
	}
	for _, name := range order {
		list := nodes[name]
		if len(list) == 1 {
			continue
		}
		f := p.at(list[1], list[1].Out(0))
		f.Message = fmt.Sprintf("%d nodes are named %q, the first of them %s number %d: what goes by names cannot tell them apart", len(list), name, list[0].OpName(), list[0].Index)
		for _, n := range list[2:] {
			f.Occurrences = append(f.Occurrences, Place{n, n.Out(0)})
		}
		p.add(f)
	}
}
