package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// prefixes reads running means: sums of all elements up to each position over how many those are, or of weighted
// elements over the sum of their weights.
func (f *finder) prefixes(v, num, den *graph.Value) {
	num = f.same(num)
	at, ok := f.running(num)
	if !ok || !slices.Equal(num.Type.Shape, v.Type.Shape) || v.Type.Elem.Bits() < 32 {
		return
	}
	x := f.same(num.Producer.In(0))
	e := f.stripEps(den)
	if counts(f.same(den), num.Type.Shape, at, num.Producer.Int("reverse", 0) != 0, 1) && num.Producer.Int("exclusive", 0) == 0 {
		f.addRatio(&Ratio{Kind: OfCount, Num: num, Den: f.same(den), Input: x, Output: v, Coef: 1, Nodes: f.between(v, x)})
		return
	}
	below, ok := f.running(e.of)
	if !ok || (e.max || e.value > 0) && e.value < least {
		return
	}
	w := f.narrow(e.of.Producer.In(0))
	long := e.of.Type.Shape[len(e.of.Type.Shape)-below] == num.Type.Shape[len(num.Type.Shape)-at]
	if c, ok := f.number1(w); ok && c > 0 && below == at && long && e.of == f.same(den) && f.sameBut0(num.Producer, e.of.Producer) {
		f.addRatio(&Ratio{Kind: OfCount, Num: num, Den: e.of, Input: x, Output: v, Coef: 1 / c, Nodes: f.between(v, x)})
		return
	}
	p := f.product(x)
	of, single := p.without(w, 1).single(1)
	if s := w.Type.Shape; !single || p.power(w) != 1 || !(p.coef > 0) || !f.sameBut0(num.Producer, e.of.Producer) || below != at || !settled(s) ||
		at > len(s) || s[len(s)-at] != num.Type.Shape[len(num.Type.Shape)-at] || !slices.Equal(den.Type.Shape, e.of.Type.Shape) || !spreads(s, num.Type.Shape) {
		return
	}
	f.addRatio(&Ratio{Kind: OfMean, Power: 1, Num: num, Den: e.of, Denominator: e.shifted, Input: of, Weights: []*graph.Value{w}, Output: v, Coef: p.coef,
		EpsValue: e.value, EpsMax: e.max, Products: true, Apart: true, Nodes: f.betweenAll(v, of, w)})
}

// byTable reads running means as products with a table of reciprocals.
func (f *finder) byTable(v *graph.Value) {
	n := v.Producer
	if len(n.Inputs) != 2 || n.In(1) == nil || v.Type.Elem.Bits() < 32 {
		return
	}
	for i, in := range n.Inputs {
		num, by := f.same(n.In(1-i)), f.same(in)
		at, ok := f.running(num)
		if ok && slices.Equal(num.Type.Shape, v.Type.Shape) && num.Producer.Int("exclusive", 0) == 0 &&
			counts(by, num.Type.Shape, at, num.Producer.Int("reverse", 0) != 0, -1) {
			x := f.same(num.Producer.In(0))
			f.addRatio(&Ratio{Kind: OfCount, Num: num, Den: by, Input: x, Output: v, Coef: 1, Nodes: f.between(v, x)})
			return
		}
	}
}

// running tells along which axis, counted from the last one, a value is a running sum.
func (f *finder) running(v *graph.Value) (at int, ok bool) {
	n := v.Producer
	if n == nil || v.Const != nil || n.OpName() != "CumSum" || n.In(0) == nil || !settled(v.Type.Shape) {
		return 0, false
	}
	axis := fewInts(n.In(1))
	if len(axis) != 1 {
		return 0, false
	}
	i := fromFront(axis[0], v.Type.Shape)
	return len(v.Type.Shape) - int(i), i >= 0 && i < int64(len(v.Type.Shape))
}

// counts tells whether a constant counts up from 1 along an axis, or down to it, and along no other, or to a power.
func counts(v *graph.Value, s graph.Shape, at int, down bool, power float64) bool {
	t := v.Type.Shape
	if v.Const == nil || v.Const.Len() > maxPositions || !s[len(s)-at].Known() || len(t) > len(s) {
		return false
	}
	n, step := s[len(s)-at].N, int64(1)
	x, err := v.Const.Float64s()
	if err != nil || at > len(t) || t[len(t)-at] != s[len(s)-at] {
		return false
	}
	for _, d := range t[len(t)-at+1:] {
		step *= d.N
	}
	for i, c := range x {
		k := int64(i) / step % n
		if down {
			k = n - 1 - k
		}
		if !equal(math.Pow(float64(k+1), power), c) {
			return false
		}
	}
	return step > 0
}
