package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// Estimates of integers that stand for floats: what a model quantises as it runs, by a scale that is computed
// from the numbers themselves. Numbers over that scale, the products of integers and what is added to
// them keep the estimates of what they stand for, and the scales that they are multiplied by bring them back.

// counts tells whether an output that holds integers has an estimate: it was quantised, or made of what was.
func (c *call) counts(v *graph.Value) bool {
	switch v.Type.Elem {
	case graph.Int32, graph.Uint8, graph.Int8:
	default:
		return false
	}
	switch c.n.OpName() {
	case "DynamicQuantizeLinear":
		return true
	case "MatMulInteger", "ConvInteger", "Add", "Cast", "Reshape", "Unsqueeze", "Transpose":
		return c.n.In(0) != nil && c.p.estimates(c.n.In(0)) || c.n.In(1) != nil && c.p.estimates(c.n.In(1))
	}
	return false
}

// estimates tells whether a value has an estimate of its own.
func (p *pass) estimates(v *graph.Value) bool { return p.val(v).mom != nil }

// dynamicMoments are those of the integers, the scale and the zero point that DynamicQuantizeLinear
// returns: the scale is a 255th of the distance between the ends, and so large a part of it as 0 is away from the
// lower one is the zero point.
func (c *call) dynamicMoments(i int) *moments {
	x, n := c.mom(0).flat(), float64(manyTerms)
	if len(x.mean) == 0 {
		return nil
	}
	if k := count(c.shape(0)); k > 1 {
		n = float64(k)
	}
	far := extremeOf(x.vari[0], n)
	ends := Range{x.mean[0] - far, x.mean[0] + far}.meet(c.x(0).Hull()).join(Range{})
	scale := (ends.Hi - ends.Lo) / 255
	if !(scale > 0) || math.IsInf(scale, 1) {
		return nil
	}
	zero := math.Round(-ends.Lo / scale)
	switch i {
	case 1:
		return &moments{nil, []float64{scale}, []float64{0}}
	case 2:
		return &moments{nil, []float64{zero}, []float64{0}}
	}
	y := c.mom(0)
	out := &moments{y.dims, make([]float64, len(y.mean)), make([]float64, len(y.mean))}
	for k := range out.mean {
		out.mean[k], out.vari[k] = y.mean[k]/scale+zero, y.vari[k]/(scale*scale)
	}
	return out
}

// integerMoments are those of the products of integers less their zero points.
func (c *call) integerMoments() *moments {
	x := c.mom(0)
	if c.has(2) {
		if x = combine(x, c.mom(2).flat(), func(m, v, n, _ float64) (float64, float64) { return m - n, v }); x == nil {
			return nil
		}
	}
	if c.n.Op == "ConvInteger" {
		w := c.integerWeights(0)
		if w == nil {
			return nil
		}
		return c.kernelMoments(w, x, !c.has(2) || c.mom(2).flat().mean[0] > 0)
	}
	w := c.integerWeights(1)
	if w == nil || len(w.t.Dims) != 2 {
		return nil
	}
	out, err := c.matrixMoments(w, x)
	if err != nil {
		return nil
	}
	return out
}

// integerWeights returns the constant second factor less its zero points, one or a list along an axis;
// nil where either is no constant.
func (c *call) integerWeights(axis int) *weights {
	v, z := c.n.In(1), c.n.In(3)
	if v.Const == nil || c.p.moving[v] || z != nil && (z.Const == nil || c.p.moving[z]) {
		return nil
	}
	if z == nil {
		return &weights{t: v.Const}
	}
	zero, err := z.Const.Float64s()
	at := graph.ScaleAt(v.Const.Dims, int64(len(zero)), axis, 0)
	if err != nil || at == nil {
		return nil
	}
	return &weights{t: v.Const, turn: func(i int, x float64) float64 { return x - zero[at(int64(i))] }}
}
