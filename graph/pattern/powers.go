package pattern

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// mostLog bounds the logarithm of a number of FP32, and with it what the rounding of an exponent does.
const mostLog = 89

// powers reads x / (Σ |x|^p)^(1/p), a norm of another order than 2, which lies in [-1, 1].
func (f *finder) powers(v *graph.Value) {
	p := f.product(v)
	for _, g := range p.factors {
		e := f.stripEps(g.base)
		sum, root := f.raised(e.of)
		if g.pow != -1 || !(root > 0) {
			continue
		}
		under := f.stripEps(sum)
		r, ok := f.reduction(under.of)
		if !ok || r.op != "Sum" || !r.aligned(g.base) {
			continue
		}
		x, order := f.magnitude(r.of)
		off := math.Abs(root - 1/order)
		if x == nil || !(off*mostLog < 1e-4) {
			continue
		}
		rest := p.without(g.base, -1)
		scales, ok := f.values(rest.without(x, 1))
		if rest.power(x) != 1 || !ok {
			continue
		}
		q := &Ratio{Kind: OfAbs, Num: x, Input: x, Den: e.of, Denominator: e.shifted, Output: v, Coef: rest.coef * math.Exp(off*mostLog), Scales: scales,
			Root: true, Power: order, Count: r.count, EpsValue: max(e.value, math.Pow(under.value, root)), EpsMax: e.max}
		q.Nodes = f.between(v, x)
		f.addRatio(q)
		return
	}
}

// raised reads v as a power of another value with a constant exponent.
func (f *finder) raised(v *graph.Value) (base *graph.Value, e float64) {
	n := v.Producer
	if n == nil || v.Const != nil || n.OpName() != "Pow" || n.In(0) == nil || n.In(1) == nil || v.Type.Elem.Bits() < 32 {
		return nil, 0
	}
	if e, ok := f.number1(f.same(n.In(1))); ok {
		return f.same(n.In(0)), e
	}
	return nil, 0
}

// magnitude reads v as |x| to a power of at least 1.
func (f *finder) magnitude(v *graph.Value) (x *graph.Value, order float64) {
	base, order := f.raised(v)
	if base == nil {
		p := f.product(v)
		if len(p.factors) != 1 || p.coef != 1 {
			return nil, 1
		}
		base, order = p.factors[0].base, p.factors[0].pow
	}
	if !(order >= 1) {
		return nil, 1
	}
	if x := f.abs(base); x != nil {
		return x, order
	}
	if math.Mod(order, 2) == 0 {
		return base, order
	}
	return nil, 1
}
