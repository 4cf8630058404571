package rules

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/walk"
)

var batchnormScale = Rule{
	Name:  "batchnorm-scale",
	Title: "batch normalisation scales a channel too far",
	Kind:  Overflow,
	Model: checkBatchnormScale,
}

// checkBatchnormScale looks at both ends of 1/sqrt(var + ε): channels that it blows up past the
// limit, and running variances too small for the format where ε does not make up for them.
func checkBatchnormScale(p *Pass) {
	for n := range p.Model.Nodes() {
		if !walk.Is(n, "BatchNormalization") || n.Out(0) == nil || p.known(n, nil) {
			continue
		}
		if checkRunningVariance(p, n) {
			continue
		}
		if e, ok := p.rootOf(n.Out(0)); ok {
			p.overflowAt(n, e, false, "the normalised channel")
		}
	}
}

// scaleError is the relative error of a channel's scale that is reported.
const scaleError = 0.1

// checkRunningVariance reports variances that the format holds as other numbers, so that the scale
// of their channel is another one.
func checkRunningVariance(p *Pass, n *graph.Node) bool {
	v := n.In(4)
	f, ok := p.low(v)
	t := walk.Constant(v)
	if !ok || t == nil || t.Len() > walk.MaxWeights {
		return false
	}
	data, err := t.Float64s()
	if err != nil {
		return false
	}
	eps := float64(n.Float("epsilon", 1e-5))
	worst, at := 0.0, 0.0
	for _, x := range data {
		if e := math.Abs(math.Sqrt((x+eps)/(f.Round(x)+eps)) - 1); e > worst && x > 0 && x < f.Max() {
			worst, at = e, x
		}
	}
	if worst < scaleError {
		return false
	}
	p.report(varianceFinding(p, n, v, f, at, eps))
	return true
}

func varianceFinding(p *Pass, n *graph.Node, v *graph.Value, f numfmt.Format, at, eps float64) Finding {
	find := p.at(n, v)
	find.Kind, find.Evidence, find.Consequence = Underflow, Constant, Silent
	find.Range, find.Limit = rangeprop.Range{Lo: at, Hi: at}, f.MinSubnormal()
	scale := 1 / math.Sqrt(f.Round(at)+eps)
	find.Message = fmt.Sprintf("the running variance %s holds %s, which is %s in %s; with epsilon %s its channel is scaled by %s instead of %s%s",
		v.Name, number(at), p.shown(f, at), f, number(eps), number(scale), number(1/math.Sqrt(at+eps)), consequenceText(Silent))
	find.Edits = []rewrite.Edit{rewrite.Widen{Value: v}}
	return find
}
