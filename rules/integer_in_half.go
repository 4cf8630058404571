package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var integerInHalf = Rule{
	Name:  "integer-in-half",
	Title: "integers are too large to be exact in the format",
	Kind:  IndexExactness,
	Model: checkIntegerInHalf,
}

func checkIntegerInHalf(p *Pass) {
	for n := range p.Model.Nodes() {
		if walk.Is(n, "Cast", "CastLike", "CumSum", "Add", "Sub", "Mul", "Range", "ReduceSum") && !p.known(n, nil) {
			checkInteger(p, n, p.needsExact)
		}
	}
}

// checkInteger reports the first node at which whole numbers pass what the format counts exactly,
// where something behind it needs them exact. needs returns that node, nil where there is none.
func checkInteger(p *Pass, n *graph.Node, needs func(*graph.Value) *graph.Node) {
	o := n.Out(0)
	f, ok := p.low(o)
	v := p.val(o)
	if !ok || v == nil || !v.Integer() || walk.Constant(o) != nil || p.inexact(n) {
		return
	}
	top, evidence := p.Range(o).MaxAbs(), Likely
	exact := f.ExactInt() * p.step(o, 0)
	if !p.rests(o) {
		top = 0
	}
	if r := p.reach.Raw(o); r.Hi.Level > reach.Unreached && r.Hi.At > exact || r.Lo.Level > reach.Unreached && -r.Lo.At > exact {
		top, evidence = max(r.Hi.At, -r.Lo.At), Witness
	}
	if r := p.Range(o); r.Lo == r.Hi && f.Round(r.Lo) == r.Lo { // one number, such as -Inf, and it is exact
		return
	}
	sink := needs(o)
	if sink != nil && !p.rests(o) && p.Range(o).MaxAbs() > exact {
		p.uncounted(n, f, sink, needs)
	}
	if top <= exact || sink == nil {
		return
	}
	find := p.at(n, o)
	find.Kind = IndexExactness
	find.Limit, find.Evidence = f.ExactInt(), evidence
	if evidence == Witness {
		find.Consequence = Silent
	}
	find.Message = fmt.Sprintf("%s counts up to %.5g; %s holds whole numbers exactly only up to %.5g, and %s (%s) needs them exact",
		o.Name, top, f, f.ExactInt(), sink.LocalKey(), sink.OpName())
	find.Edits = p.exactEdits(o, needs)
	p.report(find)
}

// uncounted reports whole numbers that nothing bounds. To hold them in FP32 between integers takes no cast,
// so that a fix does it whether they are large or not.
func (p *Pass) uncounted(n *graph.Node, f numfmt.Format, sink *graph.Node, needs func(*graph.Value) *graph.Node) {
	o := n.Out(0)
	find := p.at(n, o)
	find.Kind, find.Limit, find.Evidence, find.Free = IndexExactness, f.ExactInt(), Unproved, true
	find.Message = fmt.Sprintf("nothing bounds %s; %s holds whole numbers exactly only up to %.5g, and %s (%s) needs them exact",
		o.Name, f, f.ExactInt(), sink.LocalKey(), sink.OpName())
	find.Edits = p.exactEdits(o, needs)
	p.report(find)
}

// maxSteps bounds how far back the factors of a whole number are looked for.
const maxSteps = 8

// step returns a power of two that the whole numbers of a value are multiples of: a row times a width
// of 64 counts in steps of 64, and is exact 64 times as far.
func (p *Pass) step(v *graph.Value, depth int) float64 {
	if c, ok := walk.Scalar(v); ok {
		return powerIn(c)
	}
	n := walk.Maker(walk.Moved(walk.Plain(v)))
	if x := p.val(v); n == nil || depth == maxSteps || x == nil || !x.Integer() {
		return 1
	}
	switch {
	case walk.Is(n, "Mul"):
		if !p.whole(n) {
			return 1
		}
		return p.step(n.In(0), depth+1) * p.step(n.In(1), depth+1)
	case walk.Is(n, "Add", "Sub", "Max", "Min") && p.whole(n):
		least := p.step(n.In(0), depth+1)
		for _, in := range n.Inputs[1:] {
			least = min(least, p.step(in, depth+1))
		}
		return least
	case walk.Is(n, "Cast", "Neg", "Abs"):
		return p.step(n.In(0), depth+1)
	}
	return 1
}

// whole tells whether all that a node reads are whole numbers.
func (p *Pass) whole(n *graph.Node) bool {
	for _, in := range n.Inputs {
		if in == nil {
			return false
		}
		c, constant := walk.Scalar(in)
		if x := p.val(in); (x == nil || !x.Integer()) && (!constant || c != math.Trunc(c)) {
			return false
		}
	}
	return true
}

// powerIn returns the greatest power of two that divides a whole number, 1 for others; 0 divides by all.
func powerIn(c float64) float64 {
	if c == 0 {
		return 1 << 30
	}
	if c != math.Trunc(c) || math.Abs(c) > 1<<30 {
		return 1
	}
	return float64(int64(c) & -int64(c))
}

// inexact tells whether an input of the node passes the exact range already.
func (p *Pass) inexact(n *graph.Node) bool {
	for _, in := range n.Inputs {
		if f, ok := p.low(in); ok && p.Range(in).MaxAbs() > f.ExactInt()*p.step(in, 0) {
			return true
		}
	}
	return false
}

// counting passes whole numbers on.
var counting = []string{"Add", "Sub", "Mul", "Div", "Max", "Min", "Clip", "Relu", "CumSum", "Cast", "CastLike", "Where"}

// needsExact returns the node that whole numbers come to and that must have them exact: an index, a
// cast to integers, a rounding.
func (p *Pass) needsExact(v *graph.Value) *graph.Node {
	return walk.LeadsTo(v, walk.Through(counting...), func(u graph.Use) bool {
		n := u.Node
		switch {
		case walk.Is(n, "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
			return !p.alone(n)
		case walk.Is(n, "Floor", "Ceil", "Round", "Mod", "OneHot"):
			return true
		case walk.Is(n, "Cast"):
			o := n.Out(0)
			return o != nil && o.Type.Elem.IsInt()
		}
		return walk.Is(n, "Gather", "GatherElements", "GatherND") && u.Index == 1
	})
}

// alone tells whether a node compares whole numbers with a constant that no other of them is rounded to, so
// that the answer is right whatever they are rounded to: a padding id at the end of a vocabulary.
func (p *Pass) alone(n *graph.Node) bool {
	for i, in := range n.Inputs {
		c, ok := walk.Scalar(in)
		other := n.In(1 - i)
		f, low := p.low(other)
		if !ok || !low {
			continue
		}
		r := p.Range(other)
		taken := func(x float64) bool { return x >= r.Lo && x <= r.Hi && f.Round(x) == f.Round(c) }
		return !taken(math.Ceil(c)-1) && !taken(math.Floor(c)+1)
	}
	return false
}

// exactEdits holds the numbers in FP32 up to where they are integers again or small.
func (p *Pass) exactEdits(v *graph.Value, needs func(*graph.Value) *graph.Node) []rewrite.Edit {
	var edits []rewrite.Edit
	seen := map[*graph.Value]bool{v: true}
	queue := []*graph.Value{v}
	for i := 0; i < len(queue) && i < maxRegion; i++ {
		v := queue[i]
		edits = append(edits, rewrite.Widen{Value: v})
		uses, _ := walk.Flow(v)
		for _, u := range uses {
			for _, o := range u.Node.Outputs {
				if o == nil || seen[o] || !o.Type.Float() {
					continue
				}
				f, ok := p.low(o)
				if ok && (walk.Hands(u) || walk.Is(u.Node, counting...) || walk.Is(u.Node, "Floor", "Ceil", "Round")) && (p.Range(o).MaxAbs() > f.ExactInt() || needs(o) != nil) {
					seen[o] = true
					queue = append(queue, o)
				}
			}
		}
	}
	return edits
}
