package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// Val is what is known of one value. Bounds are kept per element of a collapsed tensor: each
// dimension is full or 1, and a 1 stands for all positions along it.
type Val struct {
	dims   []int // of lo and hi; empty for scalars and where the rank is unknown
	lo, hi []float64

	nan, posInf, negInf bool
	integer             bool
	tiny                float64
	basis               Basis
	why                 *graph.Value

	shares simplex // non-negative weights along an axis
	mix    *mixture
	ball   *ball
	pieces *pieces
	away   *away
	mom    *moments
}

// simplex tells that elements are not negative and sum to 1 along an axis, or to at most 1.
type simplex struct {
	axis int     // counted from the end, from 1; 0: no such axis
	grid grid    // several axes in the place of one
	most bool    // they may sum to less
	unit float64 // the largest unit roundoff that a weight went through
}

// rounded notes that the weights were rounded.
func (s simplex) rounded(unit float64) simplex {
	s.unit = math.Max(s.unit, unit)
	return s
}

// mixture is a product of weights and values that sums, along the axis of the weights, to a mean of
// the values.
type mixture struct {
	weights simplex
	of      *Val
}

// Hull returns the range over all elements. An end is infinite where the value has no bound, and
// where it may be infinite.
func (v *Val) Hull() Range {
	if len(v.lo) == 0 { // an empty tensor holds nothing that could lie anywhere
		return Range{}
	}
	return Range{least(v.lo), most(v.hi)}
}

// least returns the least of some numbers, as min does. Four at a time do not wait for each other, and math.Min is a
// call: all that is known goes through here.
func least(x []float64) float64 {
	a, b, c, d := x[0], x[0], x[0], x[0]
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = min(a, x[0]), min(b, x[1]), min(c, x[2]), min(d, x[3])
	}
	for _, x := range x {
		a = min(a, x)
	}
	return min(a, b, c, d)
}

// most returns the largest of some numbers, see least.
func most(x []float64) float64 {
	a, b, c, d := x[0], x[0], x[0], x[0]
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = max(a, x[0]), max(b, x[1]), max(c, x[2]), max(d, x[3])
	}
	for _, x := range x {
		a = max(a, x)
	}
	return max(a, b, c, d)
}

// NaN tells whether an element may be NaN.
func (v *Val) NaN() bool { return v.nan }

// PosInf tells whether an element may be +Inf. An upper bound of +Inf without it is a value that
// is finite but not bounded.
func (v *Val) PosInf() bool { return v.posInf }

// Tiny returns the least magnitude of a non-zero element where it is known, else 0.
func (v *Val) Tiny() float64 {
	h := v.Hull()
	return math.Max(v.tiny, math.Max(math.Max(h.Lo, -h.Hi), 0))
}

// Integer tells whether every element is an integer, whatever its type.
func (v *Val) Integer() bool { return v.integer }

// Basis returns what the bounds rest on.
func (v *Val) Basis() Basis { return v.basis }

// Why returns the input without a range, or the output of an operator without a transfer function,
// that a bound of basis Unknown rests on; nil for the other bases.
func (v *Val) Why() *graph.Value { return v.why }

// Channels returns the bounds along one axis, hulls over all others. Where the axes are not kept
// apart it returns one pair and axis -1.
func (v *Val) Channels() (lo, hi []float64, axis int) {
	axis = -1
	for i, d := range v.dims {
		if d > 1 && (axis < 0 || featureAxis(len(v.dims)) == i) {
			axis = i
		}
	}
	keep := make([]bool, len(v.dims))
	if axis >= 0 {
		keep[axis] = true
	}
	c := v.collapse(keep)
	return c.lo, c.hi, axis
}

// scalar returns a value of one bound for all elements.
func scalar(r Range) *Val { return &Val{lo: []float64{r.Lo}, hi: []float64{r.Hi}, basis: Constant} }

// anything returns the value of which nothing is known, special values included.
func anything(why *graph.Value) *Val {
	return &Val{lo: []float64{all.Lo}, hi: []float64{all.Hi}, nan: true, posInf: true, negInf: true, why: why}
}

// like returns a value with fresh bounds of the given dimensions that inherits what v rests on.
func (v *Val) like(dims []int) *Val {
	n := size(dims)
	return &Val{dims: dims, lo: make([]float64, n), hi: make([]float64, n), nan: v.nan, basis: v.basis, why: v.why}
}

// plain drops what only holds for the value as it is: weights and balls.
func (v *Val) plain() *Val {
	v.shares, v.mix, v.ball, v.pieces, v.away, v.mom = simplex{}, nil, nil, nil, nil, nil
	return v
}

// clone copies the facts; the bounds are shared, and bounds are never changed once a value is made.
func (v *Val) clone() *Val {
	c := *v
	return &c
}

// rest lets v rest on what w rests on too.
func (v *Val) rest(w *Val) {
	if w.basis < v.basis {
		v.basis, v.why = w.basis, w.why
	}
}

// constantly marks the bounds as holding by the model alone.
func (v *Val) constantly() *Val {
	v.basis, v.why = Constant, nil
	return v
}

// special tells whether an element may be ±Inf.
func (v *Val) special() bool { return v.posInf || v.negInf }

// zero tells whether an element may be 0.
func (v *Val) zero() bool {
	for i := range v.lo {
		if v.lo[i] <= 0 && v.hi[i] >= 0 {
			return true
		}
	}
	return false
}
