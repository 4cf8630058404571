package pattern

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// harmonic reads k·a·b / (c·a + c·b + d), the harmonic mean of two values, as F1 is one of precision and recall.
func (f *finder) harmonic(v, num, den *graph.Value) {
	if v.Type.Elem.Bits() < 32 {
		return
	}
	of, k := f.multiplied(num, 1, maxDepth)
	us, d := f.terms(den)
	if len(of) != 2 || len(us) != 2 || of[0] == of[1] || d < 0 || !(k > 0) {
		return
	}
	c := math.Inf(1)
	for _, a := range of {
		found := false
		for _, u := range us {
			if w, by := f.multiplied(u.value, u.sign, maxDepth); len(w) == 1 && w[0] == a && by > 0 {
				c, found = math.Min(c, by), true
			}
		}
		if !found {
			return
		}
	}
	f.addRatio(&Ratio{Kind: OfHarmonic, Num: f.same(num), Den: f.same(den), Denominator: f.same(den), Input: of[0], Parts: of, Output: v, Coef: k / c, EpsValue: d,
		Nodes: f.betweenAll(v, of...)})
}

// multiplied lists what multiplications alone make a value of, and the number among it.
func (f *finder) multiplied(v *graph.Value, by float64, depth int) (of []*graph.Value, coef float64) {
	v = f.narrow(v)
	if c, ok := f.number1(v); ok {
		return nil, c * by
	}
	n := v.Producer
	if n == nil || v.Const != nil || depth == 0 || n.OpName() != "Mul" || n.In(0) == nil || n.In(1) == nil {
		return []*graph.Value{v}, by
	}
	of, by = f.multiplied(n.In(0), by, depth-1)
	more, by := f.multiplied(n.In(1), by, depth-1)
	return append(of, more...), by
}
