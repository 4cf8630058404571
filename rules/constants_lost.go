package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/spread"
	"github.com/amplint/amplint/rules/walk"
)

var constantsLost = Rule{
	Name:  "constants-lost",
	Title: "constant was lost when the model was converted",
	Kind:  Overflow,
	Model: checkConstantsLost,
}

// checkConstantsLost looks for constants that a conversion to 16 bits has made infinite or 0: the
// file no longer tells what they were, but their role does.
func checkConstantsLost(p *Pass) {
	for v, s := range walk.Constants(p.Model) {
		if !half(v) {
			continue
		}
		switch x, one := s.Single(); {
		case one && x == 0 && wasZero(v):
		case one && x == 0:
			checkLostEpsilon(p, v)
			checkLostFactor(p, v, s)
		case one && (x == 1 || x == -1):
			checkLostBound(p, v, x)
		}
		if s.Infs() > 0 {
			checkInfinite(p, v, s)
			checkInfiniteMask(p, v)
		}
	}
}

// checkLostEpsilon reports a 0 that stands where an epsilon would: added to a number that may be 0
// and is then divided by, or its logarithm taken.
func checkLostEpsilon(p *Pass, v *graph.Value) {
	uses, _ := walk.Readers(v)
	for _, u := range uses {
		n := u.Node
		if !walk.Is(n, "Add", "Max", "Clip") || guardedBy(u) == nil || p.known(n, nil) {
			continue
		}
		format, ok := p.low(v)
		sink := singular(n.Out(0))
		r := p.Range(guardedBy(u))
		if !ok || sink == nil || r.Lo > format.ZeroAt() || walk.Is(n, "Max", "Clip") && r.Lo < 0 && !walk.Is(sink, "Log") && !divides(n.Out(0), sink) {
			continue // max(x, 0) of a signed x is a Relu, which nobody divides by or takes the logarithm of
		}
		f := p.at(n, v)
		f.Kind, f.Range, f.Limit, f.Evidence = Underflow, rangeprop.Range{}, format.MinSubnormal(), Likely
		if p.comesTo(guardedBy(u), format.ZeroAt()) {
			f.Evidence, f.Consequence = Constant, p.unguarded(n.Out(0), sink, format.ZeroAt(), 2*format.ZeroAt())
		}
		f.Message = fmt.Sprintf("%s is 0 where an epsilon belongs, lost below %.5g; %s", v.Name, format.MinSubnormal(), singularText(sink))
		if f.Consequence == Absorbed {
			f.Message += consequenceText(Absorbed)
		}
		f.Edits = []rewrite.Edit{rewrite.SetConst{Const: v, From: 0, To: restoredEpsilon}}
		p.report(f)
	}
}

// divides tells whether a node divides by a value itself, and not by its root.
func divides(v *graph.Value, n *graph.Node) bool {
	return walk.Is(n, "Div") && walk.Moved(walk.Plain(n.In(1))) == v || walk.Is(n, "Reciprocal") && walk.Moved(walk.Plain(n.In(0))) == v
}

// restoredEpsilon is what a lost epsilon is replaced by: the least that is a normal number nearly
// everywhere.
const restoredEpsilon = 6.2e-5

// checkInfinite reports infinities that do harm whatever they are meant for: as a factor or divisor, or added to all.
// Those that are chosen or compared with are often meant.
func checkInfinite(p *Pass, v *graph.Value, s walk.Stats) {
	sign := math.Inf(1)
	if infiniteBelow(v) {
		sign = math.Inf(-1)
	}
	d := spread.Damage{Pos: sign > 0, Neg: sign < 0, Least: 65520}
	uses, through := walk.Readers(v)
	for _, u := range uses {
		swallows := walk.Is(u.Node, "Add", "Sub") && s.Infs() == s.Count() // a mask leaves some places open
		if !swallows && !walk.Is(u.Node, "Mul", "Div", "Pow", "MatMul", "Gemm", "Conv", "BatchNormalization") || p.known(u.Node, nil) {
			continue
		}
		h := p.harm.At(u, d)
		if h == spread.Harmless {
			continue
		}
		f := p.at(u.Node, v)
		f.Range, f.Evidence, f.Consequence = rangeprop.Range{Lo: sign, Hi: sign}, Constant, consequence(h)
		f.Message = fmt.Sprintf("%s holds %.5g: it was finite before the model was converted%s", v.Name, sign, consequenceText(f.Consequence))
		for _, w := range through {
			f.Consequences = append(f.Consequences, w.Key())
		}
		if toSoftmax(v) && (sign < 0 || walk.Is(u.Node, "Mul") && p.Range(u.Node.In(1-u.Index)).Hi <= 0) {
			f.Edits = []rewrite.Edit{rewrite.Clamp{Const: v, Lo: -maskDepth, Hi: maskDepth}}
		}
		p.report(f)
		return
	}
}

// infiniteBelow tells whether the first infinity of a constant is one below.
func infiniteBelow(v *graph.Value) bool {
	below := false
	t := walk.Stored(v)
	if t == nil {
		return false
	}
	found := false
	_ = t.Floats(func(x []float32) error {
		for _, f := range x {
			if !found && math.IsInf(float64(f), 0) {
				found, below = true, f < 0
			}
		}
		return nil
	})
	return below
}
