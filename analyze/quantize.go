package analyze

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
)

// loosest is how many times as large as what is likely a bound may be that a scale is made from.
// 8-bit floats span 2^17 from their least number to their largest, so that as much is left below.
const loosest = 64

// scaleRoom keeps the largest quotient from being rounded past the largest number.
const scaleRoom = 1 + 1.0/1024

// quantized returns the edits that round the operands of the heavy operators to 8 bits, with scales
// from their bounds. A node whose bounds give no scale stays as it is; how many do is noted.
func (a *analysis) quantized(p *rewrite.Plan) (list []rewrite.Edit, note string) {
	left := 0
	for n := range a.model.Nodes() {
		if !heavy(n) || p.Leave != nil && p.Leave(n) {
			continue
		}
		edits := a.operands(n, p)
		if edits == nil {
			left++
		}
		list = append(list, edits...)
	}
	if left > 0 {
		note = fmt.Sprintf("%d of the nodes that would run in %s stay as they are: nothing bounds an operand, or its bound is far above what is likely", left, p.Target)
	}
	return list, note
}

func heavy(n *graph.Node) bool {
	switch n.OpName() {
	case "MatMul", "Gemm", "Conv", "ConvTranspose":
		return n.Call == nil && n.In(0) != nil && n.In(1) != nil
	}
	return false
}

// operands returns the edits of the two operands of a node that are not quantised yet, nil where one
// has no scale.
func (a *analysis) operands(n *graph.Node, p *rewrite.Plan) []rewrite.Edit {
	list := []rewrite.Edit{}
	for i := range 2 {
		v := n.In(i)
		switch {
		case dequantized(v):
		case v.Const != nil:
			list = append(list, rewrite.Quantize{Node: n, Input: i})
		default:
			top := a.scaled(v)
			if top == 0 {
				return nil
			}
			list = append(list, rewrite.Quantize{Node: n, Input: i, Scale: top / p.Target.Max() * scaleRoom})
		}
	}
	return list
}

// dequantized tells whether a value was in 8 bits before, but for casts.
func dequantized(v *graph.Value) bool {
	for v.Producer != nil && v.Producer.OpName() == "Cast" && v.Producer.In(0) != nil && v.Producer.In(0).Type.Float() {
		v = v.Producer.In(0)
	}
	return v.Producer != nil && v.Producer.OpName() == "DequantizeLinear"
}

// scaled returns the largest magnitude that a value may have, 0 where that is not known well enough.
func (a *analysis) scaled(v *graph.Value) float64 {
	b := a.bound(v)
	top := b.Range.MaxAbs()
	switch {
	case !b.Range.Bounded() || b.NaN || b.Basis == rangeprop.Unknown:
		return 0
	case b.Estimate != nil && top > loosest*b.Estimate.Likely.MaxAbs():
		return 0
	}
	return top
}
