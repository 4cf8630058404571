package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// agreement reads (k·Σ p·t + c) / (a·Σ p + b·Σ t - d·Σ p·t + c'), the Dice coefficient and the overlap of two
// masks in [0, 1], each with the squares of both below it or with themselves. It is in [0, 1]: p·t is at most
// p and at most t there, and 2·p·t at most p² + t².
func (f *finder) agreement(v, num, den *graph.Value) {
	if !settled(v.Type.Shape) {
		return
	}
	ts, c := f.terms(num)
	e := f.stripEps(den)
	if !e.max { // terms reads the constant
		e.of, e.value, e.shifted = den, 0, f.same(den)
	}
	us, floor := f.terms(e.of)
	if len(ts) != 1 || ts[0].sign < 0 || len(us) == 0 || len(us) > 3 || c < 0 || c > floor {
		return
	}
	both, k, p, t := f.common(ts[0].value)
	if both == nil || !(k > 0) {
		return
	}
	s := sides{common: both, at: ts[0].value, of: [2]*graph.Value{p, t}, less: k}
	for _, u := range us {
		if !s.take(f, u) {
			return
		}
	}
	q := &Ratio{Kind: OfTerms, Num: num, Den: den, Denominator: e.shifted, Input: num, Output: v, Coef: 1, EpsValue: math.Max(floor, e.value), EpsMax: e.max}
	switch {
	case s.pow == 1 && s.less <= (s.sum[0]+s.sum[1])*(1+1e-6):
		q.Units = []*graph.Value{p, t}
	case s.pow == 2 && s.less <= 2*math.Min(s.sum[0], s.sum[1])*(1+1e-6):
		q.Parts = []*graph.Value{p, t}
	default:
		return
	}
	q.Nodes = f.betweenAll(v, p, t)
	f.addRatio(q)
}

// common reads k·Σ p·t.
func (f *finder) common(v *graph.Value) (r *reduction, k float64, p, t *graph.Value) {
	r, k, _, ok := f.averageAll(v)
	if !ok || r.op != "Sum" && r.op != "Mean" {
		return nil, 0, nil, nil
	}
	n := r.of.Producer
	if n == nil || n.OpName() != "Mul" || n.In(0) == nil || n.In(1) == nil {
		return nil, 0, nil, nil
	}
	p, t = f.same(n.In(0)), f.same(n.In(1))
	if p == t || !slices.Equal(p.Type.Shape, t.Type.Shape) {
		return nil, 0, nil, nil
	}
	return r, k, p, t
}

// sides are the terms below an agreement.
type sides struct {
	common *reduction
	at     *graph.Value // the common sum where it is divided
	of     [2]*graph.Value
	sum    [2]float64 // how often Σ p and Σ t are added
	pow    float64    // of p and t there
	less   float64    // how often Σ p·t stands above and is taken away below
}

// take adds a term, a sum of terms itself, and tells whether all are of those.
func (s *sides) take(f *finder, u term) bool {
	r, k, _, ok := f.averageAll(u.value)
	if !ok || r.op != "Sum" && r.op != "Mean" && r.op != "SumSquare" || r.count != s.common.count || !r.over(s.common) || !slices.Equal(r.of.Type.Shape, s.common.of.Type.Shape) {
		return false
	}
	if crosswise(s.common, s.at, r, u.value) {
		return false
	}
	if r.op == "SumSquare" {
		i := slices.Index(s.of[:], r.of)
		return i >= 0 && s.addSide(i, 2, k*u.sign)
	}
	if s.add(f, r.of, k*u.sign) {
		return true
	}
	parts, c := f.terms(r.of)
	if len(parts) < 2 || len(parts) > 3 || c != 0 {
		return false
	}
	for _, t := range parts {
		if !slices.Equal(t.value.Type.Shape, r.of.Type.Shape) || !s.add(f, t.value, k*t.sign*u.sign) {
			return false
		}
	}
	return true
}

// add adds k·Σ v, and tells whether it is one of those.
func (s *sides) add(f *finder, v *graph.Value, k float64) bool {
	if v == s.common.of {
		s.less -= k
		return true
	}
	for i, of := range s.of {
		pow := 1.0
		if n := v.Producer; v != of && n != nil && f.set.squares[v] != nil && f.same(n.In(0)) == of {
			pow = 2
		} else if v != of {
			continue
		}
		return s.addSide(i, pow, k)
	}
	return false
}

// addSide adds k times the sum of a power of one side.
func (s *sides) addSide(i int, pow, k float64) bool {
	if !(k > 0) || s.pow != 0 && s.pow != pow {
		return false
	}
	s.pow = pow
	s.sum[i] += k
	return true
}
