package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

// checkLostFactor reports a factor or divisor of 0: nobody multiplies by it on purpose. Weights that
// are all 0 may be meant, as those of layers that training starts from nothing.
func checkLostFactor(p *Pass, v *graph.Value, s walk.Stats) {
	uses, _ := walk.Readers(v)
	for _, u := range uses {
		if !multiplies(u) || p.known(u.Node, v) || p.Range(u.Node.In(u.Index)).MaxAbs() > 0 { // it is a part of what is multiplied
			continue
		}
		format, _ := p.low(v)
		f := p.at(u.Node, v)
		f.Kind, f.Range, f.Limit, f.Evidence = Underflow, rangeprop.Range{}, format.MinSubnormal(), Likely
		if s.Count() == 1 {
			f.Evidence, f.Consequence = Constant, Visible
			if u.Node.Op != "Div" {
				f.Consequence = consequence(p.harm.Lost(u.Node.Out(0), p.lostProduct(u, format)))
			}
		}
		f.Message = fmt.Sprintf("%s is 0 where a factor belongs, lost below %.5g when the model was converted%s", v.Name, format.MinSubnormal(), consequenceText(f.Consequence))
		p.report(f)
		return
	}
}

// lostProduct returns how large the result of a node may have been with a factor in the place of the 0: what
// was lost is below the least number of the format. Where the other factor has no bound, it is anything.
func (p *Pass) lostProduct(u graph.Use, f numfmt.Format) float64 {
	if other := u.Node.In(1 - u.Index); walk.Is(u.Node, "Mul") && other != nil && p.Range(other).Bounded() {
		return f.ZeroAt() * p.Range(other).MaxAbs()
	}
	return 1
}

// wasZero tells whether a constant of 0 cannot have been lost: bfloat16 holds nearly all that float32
// does, a fill of 0 makes zeros on purpose, and where it was converted just now it is known what it was.
func wasZero(v *graph.Value) bool {
	if v.Type.Elem == graph.BFloat16 || walk.Is(v.Producer, "ConstantOfShape") {
		return true
	}
	for t := walk.Stored(v); t != nil; t = t.Origin() {
		if s, ok := walk.StatsOf(t); ok && t.Elem == graph.Float {
			x, one := s.Single()
			return one && x == 0
		}
	}
	return false
}

// checkLostBound reports a bound of exactly 1 where one minus the bounded value is divided by, or its
// logarithm taken: a number just below 1 has been rounded to it.
func checkLostBound(p *Pass, v *graph.Value, x float64) {
	uses, _ := walk.Readers(v)
	for _, u := range uses {
		n := u.Node
		if !(walk.Is(n, "Clip") && u.Index > 0 || walk.Is(n, "Min", "Max")) || p.known(n, nil) {
			continue
		}
		sink := p.oneMinus(n.Out(0))
		if sink == nil {
			continue
		}
		format, _ := p.low(v)
		below := 1 - format.Unit()
		f := p.at(n, v)
		f.Kind, f.Range, f.Limit, f.Evidence = PrecisionLoss, rangeprop.Range{Lo: x, Hi: x}, below, Likely
		if r := p.reach.Of(n.Out(0)); r.Hi.Level > reach.Unreached && r.Hi.At == 1 || walk.Is(sink, "Atanh") && r.Lo.Level > reach.Unreached && r.Lo.At == -1 {
			f.Evidence, f.Consequence = Constant, Visible
		}
		f.Message = fmt.Sprintf("bound %s is %g where a number just below belongs (next below in %s is %.5g); one minus it is 0 at %s", v.Name, x, format, below, sink.LocalKey())
		f.Edits = unitBounds(n, below)
		p.report(f)
		return
	}
}

// unitBounds moves all bounds of a node that are 1 or -1 inward: a function with poles at both ends needs both.
func unitBounds(n *graph.Node, below float64) (edits []rewrite.Edit) {
	for _, v := range n.Inputs {
		if x, ok := walk.Scalar(v); ok && half(v) && math.Abs(x) == 1 {
			edits = append(edits, rewrite.SetConst{Const: v, From: x, To: x * below})
		}
	}
	return edits
}

// checkInfiniteMask reports -Inf that a Where puts into the rows of a softmax, where an input may close a row as a whole:
// a finite mask gives equal shares there, and -Inf gives NaN. It is a warning: many mask by -Inf on purpose, and some of them
// ask for NaN behind it.
func checkInfiniteMask(p *Pass, v *graph.Value) {
	if !infiniteBelow(v) {
		return
	}
	uses, _ := walk.Readers(v)
	for _, u := range uses {
		n := u.Node
		if !walk.Is(n, "Where") || u.Index == 0 || p.known(n, nil) || walk.Constant(n.Out(0)) != nil || !p.harm.Closable(n.In(0), u.Index == 1) {
			continue
		}
		soft := walk.LeadsTo(n.Out(0), throughMasks, func(u graph.Use) bool { return walk.Is(u.Node, "Softmax", "LogSoftmax") })
		if soft == nil || asked(soft.Out(0)) {
			continue
		}
		f := p.at(n, v)
		f.Range, f.Evidence = rangeprop.Range{Lo: math.Inf(-1), Hi: math.Inf(-1)}, Likely
		f.Message = fmt.Sprintf("%s is -Inf: an input may close a whole row, whose softmax is NaN then, and equal shares where the mask was finite before the model was converted", v.Name)
		f.Edits = []rewrite.Edit{rewrite.Clamp{Const: v, Lo: -maskDepth, Hi: maskDepth}}
		p.report(f)
		return
	}
}

// asked tells whether a value is asked for NaN.
func asked(v *graph.Value) bool {
	uses, _ := walk.Flow(v)
	for _, u := range uses {
		if walk.Is(u.Node, "IsNaN") {
			return true
		}
	}
	return false
}
