package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

var scaleUnderflow = Rule{
	Name:  "scale-underflow",
	Title: "scaled values vanish in the format",
	Kind:  Underflow,
	Model: checkScaleUnderflow,
}

// checkScaleUnderflow reports products and quotients that are 0 whatever the input, and scales of
// quantisations that are too small for their own type or too large for their input. A factor that
// vanishes by itself is a constant-underflow.
func checkScaleUnderflow(p *Pass) {
	for n := range p.Model.Nodes() {
		switch {
		case walk.Is(n, "Mul", "Div", "MatMul", "Gemm", "Conv") && !p.known(n, n.Out(0)):
			checkScaled(p, n)
		case walk.Is(n, "QuantizeLinear") && !p.known(n, nil):
			if !checkScale(p, n) {
				checkCoarseScale(p, n)
			}
		case walk.Is(n, "DequantizeLinear") && !p.known(n, nil):
			checkScale(p, n)
		}
		if !p.known(n, n.Out(0)) {
			checkFlushed(p, n)
		}
	}
}

func checkScaled(p *Pass, n *graph.Node) {
	s, ok := p.shrunkOf(n.Out(0))
	if !ok || p.smallInput(n, s) || p.Patterns.Square(n.Out(0)) != nil {
		return
	}
	f, missed := p.lostAt(n, s, n.In(0))
	if !missed {
		return
	}
	f.Message = fmt.Sprintf("%s comes to %s at most, which is %s%s", s.value.Name, s.spanText(), s.stateText(), consequenceText(f.Consequence))
	p.report(f)
}

// checkScale reports a scale that its own low type cannot hold: 0 divides by zero, and dequantises
// everything to 0.
func checkScale(p *Pass, n *graph.Node) bool {
	v := n.In(1)
	f, ok := p.low(v)
	t := walk.Constant(v)
	if !ok || t == nil {
		return false
	}
	s, ok := walk.StatsOf(t)
	if !ok || s.Underflow(f)+s.Zeros() == 0 {
		return false
	}
	lo, hi := s.Extremes()
	find := p.at(n, v)
	find.Range, find.Limit, find.Evidence, find.Consequence = rangeprop.Range{Lo: lo, Hi: hi}, f.MinSubnormal(), Constant, Silent
	find.Message = fmt.Sprintf("the scale %s holds %s, which is 0 in %s (least %s)%s", v.Name, number(lo), f, number(f.MinSubnormal()), consequenceText(Silent))
	find.Edits = []rewrite.Edit{rewrite.Widen{Value: v}}
	p.report(find)
	return true
}

// checkCoarseScale reports a quantisation to 8 bits of floating point in which the whole input falls
// below the least number.
func checkCoarseScale(p *Pass, n *graph.Node) {
	o := n.Out(0)
	if o == nil {
		return
	}
	f, ok := o.Type.Elem.Format()
	scale, known := walk.Scalar(n.In(1))
	top := p.Range(n.In(0)).MaxAbs()
	if !ok || f.Bits() != 8 || !known || scale <= 0 || !p.rests(n.In(0)) || top == 0 || top/scale > f.ZeroAt() {
		return
	}
	find := p.at(n, o)
	find.Range, find.Limit, find.Evidence = p.Range(n.In(0)), f.MinSubnormal()*scale, Likely
	if p.nonzero(n.In(0)) {
		find.Evidence, find.Consequence = Always, Silent
	}
	find.Message = fmt.Sprintf("%s comes to %s at most, which is %s after the scale %s and 0 in %s (least %s)%s",
		n.In(0).Name, number(top), number(top/scale), number(scale), f, number(f.MinSubnormal()), consequenceText(find.Consequence))
	find.Edits = rescaled(n, scale, top/f.Max())
	p.report(find)
}

// checkFlushed reports results that are lost to kernels that flush subnormal numbers, as runs have
// shown.
func checkFlushed(p *Pass, n *graph.Node) {
	v := n.Out(0)
	t, ok := p.toll(v, OnFlush)
	f, held := p.low(v)
	if !ok || !held {
		return
	}
	find := p.at(n, v)
	find.Evidence, find.Depends, find.Limit = Kernel, OnFlush, f.MinNormal()
	if t.Right {
		find.Consequence = Absorbed
	}
	find.Message = fmt.Sprintf("%s comes to %.5g instead of %.5g where kernels flush numbers below %s, the least normal one in %s%s",
		v.Name, t.Got, t.Want, number(f.MinNormal()), f, consequenceText(find.Consequence))
	find.Edits = []rewrite.Edit{rewrite.Widen{Value: v}}
	p.report(find)
}
