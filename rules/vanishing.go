package rules

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

// shrunk is a value that its format holds as 0, or only as subnormal numbers, in every run.
type shrunk struct {
	value  *graph.Value
	format numfmt.Format
	top    float64 // the largest magnitude, in FP32
	gone   bool    // 0 throughout; else subnormal
}

// shrunkOf tells whether a value that some input takes away from 0 is too small for its format
// whatever the input.
func (p *Pass) shrunkOf(v *graph.Value) (s shrunk, ok bool) {
	f, held := p.low(v)
	if !held || f == numfmt.FP32 || !p.rests(v) || walk.Constant(v) != nil {
		return s, false
	}
	s = shrunk{value: v, format: f, top: p.Range(v).MaxAbs()}
	s.gone = s.top <= f.ZeroAt()
	return s, s.top > 0 && s.top < f.MinNormal()
}

// vanishes tells whether a value is 0 in its format whatever the input.
func (p *Pass) vanishes(v *graph.Value) bool {
	s, ok := p.shrunkOf(v)
	return ok && s.gone
}

// nonzero tells whether some input takes a value away from 0.
func (p *Pass) nonzero(v *graph.Value) bool {
	r := p.reach.Of(v)
	return r.Lo.Level > reach.Unreached && r.Lo.At != 0 || r.Hi.Level > reach.Unreached && r.Hi.At != 0
}

// smallInput tells whether a computed input of the node is as small already, so that the node is no
// root: 0 where its result is 0.
func (p *Pass) smallInput(n *graph.Node, out shrunk) bool {
	for _, in := range n.Inputs {
		if s, ok := p.shrunkOf(in); ok && walk.Maker(in) != nil && (s.gone || !out.gone) {
			return true
		}
	}
	return false
}

// lostAt grades a value that vanishes: an error where it is 0 in every run and missed, a matter of
// the kernel where flushing subnormal numbers would make it 0.
func (p *Pass) lostAt(n *graph.Node, s shrunk, base *graph.Value) (Finding, bool) {
	h := p.harm.Lost(s.value, s.top)
	f := p.at(n, s.value)
	f.Limit, f.Evidence = s.format.MinNormal(), Kernel
	if s.gone {
		f.Limit, f.Evidence = s.format.MinSubnormal(), Likely
		if p.nonzero(base) {
			f.Evidence, f.Consequence = Always, consequence(h)
		}
	}
	f.Depends = OnFlush
	f.Edits = p.smallEdits(s.value)
	return f, h > spread.Harmless
}

// smallEdits holds a value in FP32 and, with it, what is computed from it while it is as small.
func (p *Pass) smallEdits(v *graph.Value) []rewrite.Edit {
	list := []*graph.Value{v}
	seen := map[*graph.Value]bool{v: true}
	for i := 0; i < len(list) && len(list) < maxRegion; i++ {
		uses, _ := walk.Flow(list[i])
		for _, u := range uses {
			for _, o := range u.Node.Outputs {
				if o != nil && !seen[o] && p.small(o) {
					seen[o] = true
					list = append(list, o)
				}
			}
		}
	}
	edits := make([]rewrite.Edit, len(list))
	for i, w := range list {
		edits[i] = rewrite.Widen{Value: w}
	}
	return edits
}

// small tells whether a low value may be no larger than the least normal number in every run.
func (p *Pass) small(v *graph.Value) bool {
	f, ok := p.low(v)
	return ok && p.rests(v) && walk.Constant(v) == nil && p.Range(v).MaxAbs() < f.MinNormal()
}

// stateText tells what becomes of a number too small for the format.
func (s shrunk) stateText() string {
	if s.gone {
		return "0 in " + s.format.String() + " (least " + number(s.format.MinSubnormal()) + ")"
	}
	return "subnormal in " + s.format.String() + " (least normal " + number(s.format.MinNormal()) + "): a kernel that flushes such numbers makes it 0"
}

// spanText is the largest magnitude as messages show it.
func (s shrunk) spanText() string { return number(math.Abs(s.top)) }
