package rules

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

var reciprocalOverflow = Rule{
	Name:  "reciprocal-overflow",
	Title: "reciprocal or quotient overflows",
	Kind:  Overflow,
	Model: checkReciprocal,
}

func checkReciprocal(p *Pass) {
	for n := range p.Model.Nodes() {
		i := divisorOf(n)
		if i < 0 {
			continue
		}
		p.plain(n, "the quotient")
		if last := p.last(n); last != nil && last.Severity > Note {
			p.amend(last, p.divisorEdits(n.In(i)))
		}
	}
}

// divisorOf returns which input a node divides by, -1 for other nodes.
func divisorOf(n *graph.Node) int {
	switch {
	case walk.Is(n, "Reciprocal"):
		return 0
	case walk.Is(n, "Div"):
		return 1
	}
	return -1
}

// smallNumber is a magnitude from which on the quotient by a number is large for what it came from.
const smallNumber = 1.0 / 64

// maxSmall bounds the values that a small divisor is followed back to.
const maxSmall = 16

// divisorEdits holds a divisor in FP32, with the small numbers that it is computed from: FP16 holds few
// digits of them, and a difference of larger ones has lost them before. One that is never small needs none.
func (p *Pass) divisorEdits(v *graph.Value) (edits []rewrite.Edit) {
	queue := []*graph.Value{v}
	seen := map[*graph.Value]bool{nil: true}
	for i := 0; i < len(queue) && len(edits) < maxSmall; i++ {
		v := queue[i]
		f, ok := p.low(v)
		if seen[v] || !ok || walk.Constant(v) != nil || walk.Maker(v) == nil && half(v) {
			continue
		}
		seen[v] = true
		if i == 0 && !p.nearZero(v, f.MinNormal()) {
			return nil
		}
		edits = append(edits, rewrite.Widen{Value: v})
		queue = append(queue, p.madeOf(v)...)
	}
	return edits
}

// madeOf returns the values that the digits of a small number come from: those that are small too, and
// all of a difference.
func (p *Pass) madeOf(v *graph.Value) (list []*graph.Value) {
	n := walk.Maker(v)
	switch {
	case n == nil || !p.nearZero(v, smallNumber):
		return nil
	case walk.Is(n, "Sub"), walk.Is(n, "Add") && (p.Range(n.In(0)).Lo < 0 || p.Range(n.In(1)).Lo < 0):
		return n.Inputs
	case walk.Moves(n.Op), walk.Is(n, "Add", "Sum", "Mul", "Div", "Max", "Min", "Clip", "Neg", "Abs", "Sqrt", "Relu", "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "Cast"):
		for _, in := range n.Inputs {
			if p.nearZero(in, smallNumber) {
				list = append(list, in)
			}
		}
	}
	return list
}

// nearZero tells whether a value may be nearer to 0 than a limit.
func (p *Pass) nearZero(v *graph.Value, limit float64) bool {
	if v == nil || !v.Type.Float() {
		return false
	}
	r := p.Range(v)
	return r.Lo < limit && r.Hi > -limit
}

// amend adds edits to a finding that stands.
func (p *Pass) amend(f *located, edits []rewrite.Edit) {
	f.Edits = joined(f.Edits, edits)
	for _, e := range edits {
		if w, ok := e.(rewrite.Widen); ok {
			p.wide[w.Value] = true
		}
	}
}
