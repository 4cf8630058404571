package rewrite

import "github.com/amplint/amplint/graph"

// count fills in how many nodes have float results in which format.
func (b *builder) count(s *Summary) {
	for n := range b.m.Nodes() {
		if n.Call != nil || n.Op == "Constant" && n.Domain == "" {
			continue
		}
		out := b.first(n)
		if out == nil {
			continue
		}
		f := Format{Key: n.Key(), Op: n.OpName(), Value: out.Name, Before: b.elem(out), After: b.planned(out)}
		if isWide(f.After) {
			s.FP32++
			f.Why = b.reason(out)
		} else {
			s.Low++
		}
		s.Formats = append(s.Formats, f)
	}
}

// first returns the first result of a node that can change format.
func (b *builder) first(n *graph.Node) *graph.Value {
	for _, out := range n.Outputs {
		if b.elem(out) != graph.Undefined {
			return out
		}
	}
	return nil
}

// reason says why a value is held in FP32.
func (b *builder) reason(v *graph.Value) string {
	g := b.makerOf(v)
	switch {
	case g == nil:
		return ""
	case g.why != "":
		return g.why
	}
	return "it lies between values in fp32, and casts would cost more"
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
