package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

var castLoss = Rule{
	Name:  "cast-loss",
	Title: "cast loses what is computed from it",
	Kind:  Underflow,
	Model: checkCastLoss,
}

// checkCastLoss looks at casts that the model itself makes: to a narrower type in which all elements
// are 0, and of large integers whose differences matter.
func checkCastLoss(p *Pass) {
	for n := range p.Model.Nodes() {
		if !walk.Is(n, "Cast", "CastLike") || n.In(0) == nil || n.Out(0) == nil || p.known(n, nil) {
			continue
		}
		if from := n.In(0).Type.Elem; from.IsInt() {
			checkStamps(p, n)
		} else if from.IsFloat() {
			checkNarrowed(p, n)
		}
	}
}

// checkNarrowed reports a cast after which nothing is left.
func checkNarrowed(p *Pass, n *graph.Node) {
	format, ok := p.low(n.Out(0))
	s := shrunk{value: n.Out(0), format: format, top: p.Range(n.In(0)).MaxAbs()} // the bound behind the cast is rounded already
	s.gone = s.top <= format.ZeroAt()
	if f, low := p.low(n.In(0)); !ok || low && f.ZeroAt() >= format.ZeroAt() || !p.rests(n.In(0)) || s.top == 0 || s.top >= format.MinNormal() || walk.Constant(n.In(0)) != nil {
		return
	}
	f, missed := p.lostAt(n, s, n.In(0))
	if !missed || !s.gone && s.format.Bits() == 8 {
		return // no kernel flushes 8-bit numbers: they are a table
	}
	f.Message = fmt.Sprintf("%s comes to %s at most, which is %s after the cast%s", n.In(0).Name, s.spanText(), s.stateText(), consequenceText(f.Consequence))
	p.report(f)
}

// stampRatio is how many times the exact range whole numbers must pass for their differences to be
// in doubt.
const stampRatio = 16

// checkStamps reports large integers, such as times, that become floats before their difference is
// taken.
func checkStamps(p *Pass, n *graph.Node) {
	f, ok := p.low(n.Out(0))
	top := p.Range(n.In(0)).MaxAbs()
	if !ok || !p.rests(n.In(0)) || walk.Constant(n.In(0)) != nil || top < stampRatio*f.ExactInt() || top >= f.OverflowAt() {
		return
	}
	sink := walk.LeadsTo(n.Out(0), walk.Through(), func(u graph.Use) bool {
		return walk.Is(u.Node, "Sub") && walk.Constant(u.Node.In(1-u.Index)) == nil && !p.averages(u.Node.In(1-u.Index))
	})
	if sink == nil {
		return
	}
	find := p.at(n, n.Out(0))
	find.Kind, find.Evidence, find.Limit = PrecisionLoss, Likely, f.ExactInt()
	find.Message = fmt.Sprintf("%s counts up to %.5g, where %s has steps of %.5g; %s takes differences of it", n.In(0).Name, top, f, f.Ulp(top), sink.LocalKey())
	find.Edits = []rewrite.Edit{rewrite.Widen{Value: n.Out(0)}}
	p.report(find)
}

// averages tells whether a value is the mean of others, a difference from which is as coarse as they
// are and as large.
func (p *Pass) averages(v *graph.Value) bool {
	return walk.MakerOf(walk.Moved(walk.Plain(v)), "ReduceMean", "GlobalAveragePool") != nil
}
