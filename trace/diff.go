package trace

import (
	"math"
	"slices"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
)

// Diff is how the elements of a value differ from those of a reference.
type Diff struct {
	Elements int64
	MaxAbs   float64
	MaxRel   float64 // by the magnitude of the reference's element, where that is not zero
	MaxUlp   float64 // in units in the last place of the format, at the reference's element
	Scale    float64 // the largest magnitude in the reference
	// Overflowed, NaN and Flushed count elements that are infinite, not a number or zero, and are
	// finite, a number or not zero in the reference.
	Overflowed, NaN, Flushed int64
	Outside                  int64 // elements beyond a tolerance
	Shape                    bool  // the two differ in shape or kind: nothing else is counted

	dot, a2, b2 float64
	pairs       int64 // of finite elements
}

// Tolerance is how far an element may lie from the reference's: Abs + Rel times its magnitude.
type Tolerance struct{ Rel, Abs float64 }

// Lossy is the error, as a share of the largest magnitude, from which on a value is called lossy.
const Lossy = 0.02

// Relative returns the largest difference as a share of the largest magnitude.
func (d *Diff) Relative() float64 {
	if d.MaxAbs == 0 {
		return 0
	}
	return d.MaxAbs / math.Max(d.Scale, 1e-30)
}

// Cosine returns the cosine of the angle between the two as vectors, over the elements that are
// finite in both; 1 where both are zero, NaN where there are none.
func (d *Diff) Cosine() float64 {
	switch {
	case d.pairs == 0 && d.Elements > 0:
		return math.NaN()
	case d.a2 == 0 && d.b2 == 0:
		return 1
	case d.a2 == 0 || d.b2 == 0:
		return 0
	}
	return d.dot / math.Sqrt(d.a2) / math.Sqrt(d.b2)
}

// add compares a tensor with its reference. ulp is of the format f.
func (d *Diff) add(got, want *refeval.Tensor, f numfmt.Format, tol Tolerance) {
	if !slices.Equal(got.Dims, want.Dims) || isReal(got) != isReal(want) {
		d.Shape = true
		return
	}
	n := got.Len()
	d.Elements += int64(n)
	if !isReal(got) {
		d.exact(got, want)
		return
	}
	for i := range n {
		d.element(at(got, i), at(want, i), f, tol)
	}
}

// isReal tells whether a tensor holds real numbers, rather than integers, strings or complex ones.
func isReal(t *refeval.Tensor) bool {
	return t.F != nil || t.D != nil || t.Len() == 0 && t.Elem.IsFloat()
}

func at(t *refeval.Tensor, i int) float64 {
	if t.D != nil {
		return t.D[i]
	}
	return float64(t.F[i])
}

// exact counts the elements that differ at all.
func (d *Diff) exact(got, want *refeval.Tensor) {
	if got.Elem != want.Elem {
		d.Shape = true
		return
	}
	for i := range got.Len() {
		same := true
		switch {
		case got.I != nil:
			same = got.I[i] == want.I[i]
			d.MaxAbs = math.Max(d.MaxAbs, math.Abs(float64(got.I[i])-float64(want.I[i])))
			d.Scale = math.Max(d.Scale, math.Abs(float64(want.I[i])))
		case got.S != nil:
			same = got.S[i] == want.S[i]
		case got.C != nil:
			same = got.C[i] == want.C[i]
		}
		if !same {
			d.Outside++
		}
	}
}

func (d *Diff) element(x, y float64, f numfmt.Format, tol Tolerance) {
	bad := x-x != 0 || y-y != 0
	switch {
	case x != x && y == y:
		d.NaN++
	case x-x != 0 && y-y == 0:
		d.Overflowed++
	case x == 0 && y != 0 && !bad:
		d.Flushed++
	}
	if bad {
		if !(x == y || x != x && y != y) {
			d.Outside++
		}
		return
	}
	a, e := math.Abs(y), math.Abs(x-y)
	d.dot, d.a2, d.b2, d.pairs = d.dot+x*y, d.a2+x*x, d.b2+y*y, d.pairs+1
	d.Scale = math.Max(d.Scale, a)
	if e == 0 {
		return
	}
	if e > tol.Abs+tol.Rel*a {
		d.Outside++
	}
	d.MaxAbs = math.Max(d.MaxAbs, e)
	if a > 0 {
		d.MaxRel = math.Max(d.MaxRel, e/a)
	}
	if u := f.Ulp(y); u > 0 {
		d.MaxUlp = math.Max(d.MaxUlp, e/u)
	}
}
