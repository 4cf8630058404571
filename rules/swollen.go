package rules

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rules/walk"
)

// swollen tells whether a value behind others of large bounds is where numbers are expected to pass the limit: its own
// are, and none that its node reads. Layers that each let numbers grow, as they do where nothing normalises them,
// have bounds from one of the first on that say nothing about where that happens. Where there were runs they
// say it: an estimate over many layers may be off by more than its tails, and is believed where a run came close.
func (p *Pass) swollen(v *graph.Value, f numfmt.Format) bool {
	return (p.Seen == nil || p.closeTo(v, f)) && p.mounts(v, f, 1)
}

// closeTo tells whether a run took a value nearly to its limit, so that other inputs may well take it past it.
func (p *Pass) closeTo(v *graph.Value, f numfmt.Format) bool {
	return p.Close != nil && p.Close(v) >= f.OverflowAt()/closeBy
}

// closeBy is how many times below the limit the numbers of a value are told of that is behind others of large
// bounds: there is nothing but estimates of it, which are right within that factor mostly.
const closeBy = 2

// mounts tells whether a value is where numbers are expected to pass a part of the limit.
func (p *Pass) mounts(v *graph.Value, f numfmt.Format, part float64) bool {
	n := walk.Maker(v)
	if n == nil || p.expected(v) < f.OverflowAt()/part {
		return false
	}
	for _, in := range n.Inputs {
		if g, ok := p.low(in); ok && walk.Constant(in) == nil && p.expected(in) >= g.OverflowAt()/part {
			return false
		}
	}
	return true
}
