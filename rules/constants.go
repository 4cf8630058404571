package rules

import (
	"iter"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// stats is what rules ask of a constant.
type stats struct{ *numfmt.Histogram }

// single returns the number that all elements are; ok is false where they differ.
func (s stats) single() (x float64, ok bool) {
	if s.Infs()+s.NaNs() > 0 || s.Count() == 0 {
		return 0, false
	}
	return s.Min(), s.Min() == s.Max()
}

// statsOf returns the counts of a tensor's elements; ok is false where they cannot be read.
func statsOf(t *graph.Tensor) (s stats, ok bool) {
	h, err := t.Histogram()
	return stats{h}, err == nil
}

// constant returns the constant that a value is, nil where it is none. It looks over the borders of
// calls.
func (p *Pass) constant(v *graph.Value) *graph.Tensor {
	if v = source(v); v == nil {
		return nil
	}
	return v.Const
}

// scalar returns the number that a value is everywhere and in every run.
func (p *Pass) scalar(v *graph.Value) (float64, bool) {
	t := p.constant(plain(v))
	if t == nil || !t.Elem.IsFloat() && !t.Elem.IsInt() {
		return 0, false
	}
	s, ok := statsOf(t)
	if !ok {
		return 0, false
	}
	return s.single()
}

// constants yields the float constants of the file, each with its counts: initializers, outputs of
// Constant and ConstantOfShape. What folding made of them is no constant of its own.
func (p *Pass) constants() iter.Seq2[*graph.Value, stats] {
	return func(yield func(*graph.Value, stats) bool) {
		for g := range p.Model.Graphs() {
			for _, v := range g.Values {
				t := stored(v)
				if t == nil || !t.Elem.IsFloat() {
					continue
				}
				if s, ok := statsOf(t); ok && !yield(v, s) {
					return
				}
			}
		}
	}
}

// stored returns the tensor that the file holds for a value.
func stored(v *graph.Value) *graph.Tensor {
	switch n := v.Producer; {
	case n == nil:
		if v.Const == nil {
			return nil // an input, or an initializer that a caller may replace
		}
		return v.Init
	case is(n, "Constant"):
		return v.Const
	case is(n, "ConstantOfShape"):
		if a := n.Attr("value"); a != nil {
			return a.Tensor
		}
	}
	return nil
}

// extremes returns the constant's least and greatest finite element.
func (s stats) extremes() (lo, hi float64) { return s.Min(), s.Max() }

// furthest returns the finite element of the greatest magnitude.
func (s stats) furthest() float64 {
	lo, hi := s.extremes()
	if math.Abs(lo) > math.Abs(hi) {
		return lo
	}
	return hi
}

// leastFrom returns a lower bound of the magnitudes from a limit on: the limit itself, or the power
// of two below the least of them.
func (s stats) leastFrom(limit float64) float64 {
	for e := int(math.Floor(math.Log2(limit))) + 1; e <= 127; e++ {
		if s.Exponent(e-1) > 0 && e-1 <= int(math.Floor(math.Log2(limit))) {
			return limit
		}
		if s.Exponent(e) > 0 {
			return math.Ldexp(1, e)
		}
	}
	return limit
}
