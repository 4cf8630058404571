package rewrite

import "github.com/amplint/amplint/graph"

// count fills in how many nodes have float results in which format.
func (b *builder) count(s *Summary) {
	for n := range b.m.Nodes() {
		if n.Call != nil || n.Op == "Constant" && n.Domain == "" {
			continue
		}
		switch e := b.first(n); {
		case e == graph.Undefined:
		case isWide(e):
			s.FP32++
		default:
			s.Low++
		}
	}
}

// first returns the planned type of the first float result of a node.
func (b *builder) first(n *graph.Node) graph.ElemType {
	for _, out := range n.Outputs {
		if b.elem(out) != graph.Undefined {
			return b.planned(out)
		}
	}
	return graph.Undefined
}

// explain notes which nodes stay in FP32 although nobody asked for it, and which edits could not
// be met, by reason.
func (b *builder) explain(s *Summary) {
	count := map[string]map[*graph.Node]bool{}
	var order []string
	for _, g := range b.groups {
		if g.parent != nil || g.node == nil || !g.stay {
			continue
		}
		var text string
		switch {
		case isWide(g.orig) && b.low != graph.Float && b.plan.Strategy == Mixed:
			text = "in fp32"
		case !isWide(g.orig) && g.wantWide:
			text = "not in fp32"
		default:
			continue
		}
		text += ": " + g.why
		if count[text] == nil {
			count[text] = map[*graph.Node]bool{}
			order = append(order, text)
		}
		count[text][g.node] = true
	}
	s.Notes = append(s.Notes, b.notes...)
	for _, text := range order {
		nodes := "nodes"
		if len(count[text]) == 1 {
			nodes = "node"
		}
		s.note("%s (%d %s)", text, len(count[text]), nodes)
	}
}
