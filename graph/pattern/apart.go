package pattern

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// Remainder is a - Step·⌊a/Step⌋, or with another way to round to whole numbers: between Low and High steps.
type Remainder struct {
	Of        *graph.Value // a
	Step      float64
	Low, High float64
	Off       float64 // by how much the step of the quotient is another one, as a share
}

// Centered is x - mean(x) over Count elements.
type Centered struct {
	Input, Output *graph.Value
	Count         int64
}

// WeightedSpread is Σ w·(x - m)² with m = Σ w·x over the same elements.
type WeightedSpread struct {
	Input   *graph.Value // x
	Weights *graph.Value // nil where both sums are divided by that of the weights, or by more
	Axis    int          // summed over, of Weights
}

// Remainder returns what is left of a value after rounding that v is, or nil.
func (s *Set) Remainder(v *graph.Value) *Remainder { return s.remainders[v] }

// Centered returns the difference from the mean that v is, or nil.
func (s *Set) Centered(v *graph.Value) *Centered { return s.centers[v] }

// WeightedSpread returns the weighted variance that v is, or nil.
func (s *Set) WeightedSpread(v *graph.Value) *WeightedSpread { return s.weighedSpreads[v] }

// apart reads differences from a rounded number and from a mean.
func (f *finder) apart(v *graph.Value) {
	a, b, ok := f.difference(v)
	if !ok || !v.Type.Elem.IsFloat() {
		return
	}
	f.remainder(v, a, b)
	if r, ok := f.meanOf(b, a); ok && r.count > 1 && r.aligned(b) {
		f.set.centers[v] = &Centered{Input: f.same(a), Output: v, Count: r.count}
	}
}

// remainder reads b as a rounded to multiples of a step.
func (f *finder) remainder(v, a, b *graph.Value) {
	p := f.product(b)
	w, ok := p.single(1)
	if !ok || !(p.coef > 0) || w.Producer == nil || w.Producer.In(0) == nil {
		return
	}
	m := &Remainder{Of: f.same(a), Step: p.coef}
	switch w.Producer.OpName() {
	case "Floor":
		m.High = 1
	case "Ceil":
		m.Low = -1
	case "Round":
		m.Low, m.High = -0.5, 0.5
	default:
		return
	}
	x, y := f.product(a), f.product(w.Producer.In(0))
	if m.Off = math.Abs(y.coef*p.coef/x.coef - 1); !x.equal(y) || m.Off > 1e-6 || len(x.factors) == 0 {
		return
	}
	if p.coef == 1 && f.same(a) == f.same(w.Producer.In(0)) {
		m.Off = 0
	}
	f.set.remainders[v] = m
}

// weighedSpread reads the sum of weighted squares of differences from the sum of what is weighed.
func (f *finder) weighedSpread(v *graph.Value) {
	r, coef, _, ok := f.average(v)
	if !ok || r.op != "Sum" || coef != 1 || r.count == 0 || len(r.axes) != 1 {
		return
	}
	p := f.product(r.of)
	for _, g := range p.factors {
		x, m, ok := f.difference(g.base)
		if !ok || g.pow != 2 || p.coef != 1 {
			continue
		}
		w, single := p.without(g.base, 2).single(1)
		q, c, _, ok := f.average(m)
		if !single || !ok || q.op != "Sum" || c != 1 || !q.over(r) || !q.aligned(m) || !slices.Equal(q.of.Type.Shape, r.of.Type.Shape) {
			continue
		}
		if y := f.product(q.of); y.coef == 1 && len(y.factors) == 2 && y.power(w) == 1 && y.power(f.narrow(x)) == 1 && slices.Equal(w.Type.Shape, r.of.Type.Shape) {
			f.set.weighedSpreads[v] = &WeightedSpread{Input: f.same(x), Weights: w, Axis: r.axes[0]}
			return
		}
	}
}

// spreadOfMeans reads a weighted mean of (x - m)² for a mean m of x by the same weights.
func (f *finder) spreadOfMeans(q *Ratio) {
	if q.Kind != OfMean || q.Power != 2 || q.Coef != 1 || len(q.Scales) > 0 || q.Root || q.Capped || len(q.Axes) == 0 {
		return
	}
	x, m, ok := f.difference(q.Input)
	if !ok {
		return
	}
	u := f.set.ratios[f.shaped(m)]
	if u == nil || u.Kind != OfMean || u.Power != 1 || u.Coef != 1 || len(u.Scales) > 0 || u.Root || u.Capped || u.Counted || q.Counted ||
		f.same(u.Input) != f.same(x) || u.Denominator != q.Denominator || !slices.Equal(u.Axes, q.Axes) || !slices.Equal(u.Weights, q.Weights) {
		return
	}
	s, want := m.Type.Shape, slices.Clone(x.Type.Shape)
	for _, a := range q.Axes {
		if a < 0 || a >= len(want) {
			return
		}
		want[a] = graph.Dim{N: 1}
	}
	if settled(want) && slices.Equal(s, want) {
		f.set.weighedSpreads[q.Output] = &WeightedSpread{Input: f.same(x)}
	}
}
