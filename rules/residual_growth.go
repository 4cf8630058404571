package rules

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

var residualGrowth = Rule{
	Name:  "residual-growth",
	Title: "residual stream overflows",
	Kind:  Overflow,
	Model: checkResidualGrowth,
}

// checkResidualGrowth reports sums of a value and what a layer made of it. Nothing scales such a
// stream down again: what one layer adds stays for all that follow.
func checkResidualGrowth(p *Pass) {
	for n := range p.Model.Nodes() {
		if !walk.Is(n, "Add", "Sum") || n.Out(0) == nil || p.known(n, nil) {
			continue
		}
		if e, ok := p.rootOf(n.Out(0)); ok && skips(n) {
			p.overflowAt(n, e, false, "the residual sum")
		}
	}
}

// layerDepth is how many nodes a layer between a value and the sum with it may have.
const layerDepth = 24

// skips tells whether one operand of a sum is computed from another.
func skips(n *graph.Node) bool {
	bases := map[*graph.Value]bool{}
	for _, in := range n.Inputs {
		if in != nil && walk.Constant(walk.Plain(in)) == nil {
			bases[walk.Plain(in)] = true
		}
	}
	for _, in := range n.Inputs {
		if in != nil && computedFromAny(in, bases, layerDepth) {
			return true
		}
	}
	return false
}

// computedFrom tells whether a value is computed from another one, at least one step away.
func computedFrom(v, base *graph.Value, depth int) bool {
	return walk.Constant(base) == nil && computedFromAny(v, map[*graph.Value]bool{base: true}, depth)
}

func computedFromAny(v *graph.Value, bases map[*graph.Value]bool, depth int) bool {
	seen := map[*graph.Value]bool{}
	level := []*graph.Value{v}
	for range depth {
		var next []*graph.Value
		for _, w := range level {
			n := walk.Maker(walk.Plain(w))
			if n == nil {
				continue
			}
			for _, in := range n.Inputs {
				in = walk.Plain(in)
				if in != nil && bases[in] {
					return true
				}
				if in != nil && !seen[in] && len(seen) < 256 {
					seen[in] = true
					next = append(next, in)
				}
			}
		}
		level = next
	}
	return false
}
