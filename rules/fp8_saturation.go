package rules

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules/reach"
	"github.com/amplint/amplint/rules/walk"
)

var fp8Saturation = Rule{
	Name:  "fp8-saturation",
	Title: "scale of a quantisation is too small for its input",
	Kind:  Overflow,
	Model: checkFP8Saturation,
}

func checkFP8Saturation(p *Pass) {
	for n := range p.Model.Nodes() {
		if walk.Is(n, "QuantizeLinear") && n.Out(0) != nil {
			checkQuantize(p, n)
		}
	}
}

// clipped is the share by which an input may pass the largest quantised number. Calibration cuts
// the outermost values off on purpose, not half of the range.
const clipped = 1.25

func checkQuantize(p *Pass, n *graph.Node) {
	f, ok := n.Out(0).Type.Elem.Format()
	scale, known := walk.Scalar(n.In(1))
	if !ok || f.Bits() != 8 || !known || scale <= 0 {
		return
	}
	top, evidence := p.Range(n.In(0)).MaxAbs()/scale, Likely
	if r := p.reach.Of(n.In(0)); r.Level() > reach.Unreached {
		top, evidence = max(r.Hi.At, -r.Lo.At)/scale, Witness
	} else if !p.rests(n.In(0)) {
		return
	}
	if top < clipped*f.Max() {
		return
	}
	find := p.at(n, n.Out(0))
	find.Limit, find.Evidence = f.Max()*scale, evidence
	if evidence == Witness {
		find.Consequence = Silent
	}
	find.Message = fmt.Sprintf("%s comes to %.5g, which is %.5g after the scale %.5g; %s ends at %.5g%s", n.In(0).Name, top*scale, top, scale, f, f.Max(), saturationText(n, f))
	if v := walk.Source(walk.Moved(n.In(1))); walk.Stored(v) != nil && v.Type.Elem == graph.Float {
		find.Edits = []rewrite.Edit{rewrite.SetConst{Const: v, From: scale, To: float64(float32(top * scale / f.Max() * scaleRoom))}}
	}
	p.report(find)
}

// scaleRoom keeps the rounded quotient from passing the largest number.
const scaleRoom = 1 + 1.0/1024

func saturationText(n *graph.Node, f numfmt.Format) string {
	switch {
	case n.Int("saturate", 1) != 0:
		return ", where it saturates"
	case f.HasInf():
		return ", past which it is Inf"
	}
	return ", past which it is NaN"
}
