package walk

import (
	"slices"

	"iter"
	"math"

	"github.com/amplint/amplint/graph"
)

// Stats is what rules ask of a constant.
type Stats struct{ *graph.Counts }

// Single returns the number that all elements are; ok is false where they differ.
func (s Stats) Single() (x float64, ok bool) {
	if s.Infs()+s.NaNs() > 0 || s.Count() == 0 {
		return 0, false
	}
	return s.Min(), s.Min() == s.Max()
}

// StatsOf returns the counts of a tensor's elements; ok is false where they cannot be read.
func StatsOf(t *graph.Tensor) (s Stats, ok bool) {
	c, err := t.Counts()
	return Stats{c}, err == nil
}

// Constant returns the constant that a value is, nil where it is none. It looks over the borders of
// calls.
func Constant(v *graph.Value) *graph.Tensor {
	if v = Source(v); v == nil {
		return nil
	}
	return v.Const
}

// Scalar returns the number that a value is everywhere and in every run.
func Scalar(v *graph.Value) (float64, bool) {
	t := Constant(Plain(v))
	if t == nil || !t.Elem.IsFloat() && !t.Elem.IsInt() {
		return 0, false
	}
	s, ok := StatsOf(t)
	if !ok {
		return 0, false
	}
	return s.Single()
}

// Constants yields the float constants of the file, each with its counts: initializers, outputs of
// Constant and ConstantOfShape. What folding made of them is no constant of its own.
func Constants(m *graph.Model) iter.Seq2[*graph.Value, Stats] {
	return func(yield func(*graph.Value, Stats) bool) {
		for g := range m.Graphs() {
			for _, v := range g.Values {
				t := Stored(v)
				if t == nil || !t.Elem.IsFloat() {
					continue
				}
				if s, ok := StatsOf(t); ok && !yield(v, s) {
					return
				}
			}
		}
	}
}

// Stored returns the tensor that the file holds for a value: of a sparse one the elements that are
// not zero.
func Stored(v *graph.Value) *graph.Tensor {
	switch n := v.Producer; {
	case n == nil:
		if v.Sparse != nil && !v.Input {
			return v.Sparse.Values
		}
		if v.Const == nil {
			return nil // an input, or an initializer that a caller may replace
		}
		return v.Init
	case Is(n, "Constant"):
		if a := n.Attr("sparse_value"); a != nil && a.Sparse != nil {
			return a.Sparse.Values
		}
		return v.Const
	case Is(n, "ConstantOfShape"):
		if a := n.Attr("value"); a != nil {
			return a.Tensor
		}
	}
	return nil
}

// Extremes returns the constant's least and greatest finite element.
func (s Stats) Extremes() (lo, hi float64) { return s.Min(), s.Max() }

// Furthest returns the finite element of the greatest magnitude.
func (s Stats) Furthest() float64 {
	lo, hi := s.Extremes()
	if math.Abs(lo) > math.Abs(hi) {
		return lo
	}
	return hi
}

// LeastFrom returns a lower bound of the magnitudes from a limit on: the limit itself, or the power
// of two below the least of them.
func (s Stats) LeastFrom(limit float64) float64 {
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

// MaxWeights is the length of the constants that are read element by element at most.
const MaxWeights = 1 << 24

// Empty tells whether a value is known to have no elements, as what pads nothing: it holds no number that could be wrong.
func Empty(v *graph.Value) bool {
	return slices.ContainsFunc(v.Type.Shape, func(d graph.Dim) bool { return d.Known() && d.N == 0 })
}
