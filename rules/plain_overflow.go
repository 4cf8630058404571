package rules

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

// plainOverflow makes the check of a rule that reports any result past the limit of some operators,
// unless a more special rule has named it.
func plainOverflow(what string, ops ...string) func(*Pass) {
	return func(p *Pass) {
		for n := range p.Model.Nodes() {
			if walk.Is(n, ops...) {
				p.plain(n, what)
			}
		}
	}
}

// plain reports the first output of a node that may pass the limit.
func (p *Pass) plain(n *graph.Node, what string) {
	for _, o := range n.Outputs {
		if p.known(n, nil) || o == nil {
			continue
		}
		if e, ok := p.rootOf(o); ok {
			p.overflowAt(n, e, false, what)
		}
	}
}
