package pattern

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// windows reads P(w·x) / (P(w) + ε) for one and the same pool or convolution P with a kernel that is not negative:
// a weighted mean of x in each window.
func (f *finder) windows(v *graph.Value) {
	if !settled(v.Type.Shape) {
		return
	}
	p := f.product(v)
	for _, g := range p.factors {
		base, pow, coef := f.expand(g)
		e := f.stripEps(base)
		den, one, by := f.expand(factor{e.of, 1})
		if pow != -1 || one != 1 || !f.windowed(den) {
			continue
		}
		for _, h := range p.factors {
			num := f.narrow(h.base)
			if h.pow != 1 || !f.windowed(num) || !f.sameBut0(num.Producer, den.Producer) || num.Producer.OpName() != den.Producer.OpName() || !spreads(g.base.Type.Shape, num.Type.Shape) ||
				!slices.Equal(g.base.Type.Shape, den.Type.Shape) {
				continue
			}
			x, ws, k, ok := f.weights(f.same(num.Producer.In(0)), f.same(den.Producer.In(0)))
			scales, ok2 := f.values(p.without(g.base, g.pow).without(h.base, 1))
			if !ok || !ok2 || k.of != 1 || k.capped {
				continue
			}
			q := &Ratio{Kind: OfMean, Power: 1, Num: num, Input: x, Weights: ws, Den: e.of, Denominator: e.shifted, Output: v, Coef: p.coef * coef * k.coef / by, Scales: scales, EpsValue: e.value, EpsMax: e.max}
			q.Counted = num.Producer.In(0).Producer != nil && num.Producer.In(0).Producer.Op == "Where"
			q.Nodes = f.between(v, x)
			f.addRatio(q)
			return
		}
	}
}

// windowed tells whether a value is an average pool, or a convolution by a constant kernel without a negative weight.
func (f *finder) windowed(v *graph.Value) bool {
	n := v.Producer
	if n == nil || v.Const != nil || n.In(0) == nil {
		return false
	}
	switch n.OpName() {
	case "AveragePool":
		return true
	case "Conv":
		k := n.In(1)
		return k != nil && k.Const != nil && n.In(2) == nil && f.low(k.Const) >= 0
	}
	return false
}
