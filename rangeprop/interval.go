package rangeprop

import "math"

// Interval arithmetic. An infinite end stands for a bound that does not exist as well as for an
// infinite element; so 0 · ∞ is 0 here, and whether it can be NaN is for the flags to say.

func product(a, b float64) float64 {
	if p := a * b; p == p {
		return p
	}
	return 0
}

func hull4(a, b, c, d float64) Range { return Range{min(a, b, c, d), max(a, b, c, d)} }

func mul(x, y Range) Range {
	return hull4(product(x.Lo, y.Lo), product(x.Lo, y.Hi), product(x.Hi, y.Lo), product(x.Hi, y.Hi))
}

func add(x, y Range) Range {
	r := Range{x.Lo + y.Lo, x.Hi + y.Hi}
	if math.IsNaN(r.Lo) {
		r.Lo = math.Inf(-1)
	}
	if math.IsNaN(r.Hi) {
		r.Hi = math.Inf(1)
	}
	return r
}

func neg(x Range) Range { return Range{-x.Hi, -x.Lo} }

func sub(x, y Range) Range { return add(x, neg(y)) }

func (r Range) scale(k float64) Range { return mul(r, Range{k, k}) }

func (r Range) hasZero() bool { return r.Lo <= 0 && r.Hi >= 0 }

// reciprocal bounds 1/x. A lower end of -0 is a negative number that was rounded to 0.
func reciprocal(x Range) Range {
	switch {
	case math.Signbit(x.Lo) && x.Hi >= 0:
		return all
	case x.Lo == 0:
		return Range{1 / x.Hi, math.Inf(1)}
	}
	return Range{1 / x.Hi, 1 / x.Lo}
}

// div bounds x/y. Where y may be 0, x/y is past every bound on the sides that the signs allow.
func div(x, y Range) Range {
	if !y.hasZero() {
		return hull4(quotient(x.Lo, y.Lo), quotient(x.Lo, y.Hi), quotient(x.Hi, y.Lo), quotient(x.Hi, y.Hi))
	}
	if x.Lo == 0 && x.Hi == 0 {
		return Range{0, 0}
	}
	return mul(x, reciprocal(y))
}

func quotient(a, b float64) float64 {
	switch {
	case math.IsInf(b, 0) && !math.IsInf(a, 0):
		return 0
	case math.IsInf(b, 0): // both unbounded: the quotient may be anything between 0 and that
		return math.Copysign(math.Inf(1), a) * math.Copysign(1, b)
	}
	return a / b
}

func square(x Range) Range {
	a, b := x.Lo*x.Lo, x.Hi*x.Hi
	if x.hasZero() {
		return Range{0, math.Max(a, b)}
	}
	return Range{math.Min(a, b), math.Max(a, b)}
}

func absolute(x Range) Range {
	switch {
	case x.Lo >= 0:
		return Range{x.Lo + 0, x.Hi + 0} // of -0, too
	case x.Hi <= 0:
		return Range{0 - x.Hi, 0 - x.Lo}
	}
	return Range{0, math.Max(-x.Lo, x.Hi)}
}

// maximum takes the greater. Of 0 and -0 it may take either.
func maximum(x, y Range) Range {
	r := Range{math.Max(x.Lo, y.Lo), math.Max(x.Hi, y.Hi)}
	if r.Lo == 0 && (math.Signbit(x.Lo) && x.Hi >= 0 || math.Signbit(y.Lo) && y.Hi >= 0) {
		r.Lo = math.Copysign(0, -1)
	}
	return r
}

func minimum(x, y Range) Range { return Range{math.Min(x.Lo, y.Lo), math.Min(x.Hi, y.Hi)} }

// power bounds x^y. For x ≥ 0 it is exp(y·ln x), whose extremes lie at the corners.
func power(x, y Range) Range {
	if !math.Signbit(x.Lo) {
		return corners(x, y)
	}
	switch e := y.Lo; {
	case e == y.Hi && e == math.Trunc(e):
		return intPower(x, e)
	case e == y.Hi:
		return brokenPower(x, y)
	}
	if x.Lo == 0 && y.Lo < 0 { // odd powers of -0
		return all
	}
	r := corners(absolute(x), y) // of either sign: a float exponent may be an odd integer, too
	return r.join(neg(r))
}

func corners(x, y Range) Range {
	r := hull4(math.Pow(x.Lo, y.Lo), math.Pow(x.Lo, y.Hi), math.Pow(x.Hi, y.Lo), math.Pow(x.Hi, y.Hi))
	if y.hasZero() || x.Lo <= 1 && x.Hi >= 1 {
		r = r.join(Range{1, 1})
	}
	return r
}

// intPower bounds x^e for an integer e and an x that may be negative.
func intPower(x Range, e float64) Range {
	even := math.IsInf(e, 0) || math.Mod(e, 2) == 0
	switch {
	case even:
		return corners(absolute(x), Range{e, e})
	case e > 0 || x.Hi < 0:
		return hull4(math.Pow(x.Lo, e), math.Pow(x.Hi, e), math.Pow(x.Lo, e), math.Pow(x.Hi, e))
	}
	return all
}

// brokenPower bounds x^e for an e that is no integer: of numbers below 0 it is NaN, of -0 and -Inf what it is
// of 0 and Inf. Where nothing but NaN comes out any bound is right, and that of |x|^e lies in the bound of more
// exponents.
func brokenPower(x, e Range) Range {
	if x.Hi < 0 {
		return corners(absolute(x), e)
	}
	r := corners(Range{0, math.Max(x.Hi, 0)}, e)
	if math.IsInf(x.Lo, -1) {
		r = r.join(corners(Range{-x.Lo, -x.Lo}, e))
	}
	return r
}

// monotone bounds a function that never falls.
func monotone(f func(float64) float64) func(Range) Range {
	return func(x Range) Range { return Range{f(x.Lo), f(x.Hi)} }
}

// valley bounds a function that falls to its least value at and rises from there.
func valley(f func(float64) float64, at float64) func(Range) Range {
	return func(x Range) Range {
		a, b := f(x.Lo), f(x.Hi)
		r := Range{math.Min(a, b), math.Max(a, b)}
		if x.Lo < at && at < x.Hi {
			r.Lo = f(at)
		}
		return r
	}
}

// wave bounds sin(x + shift).
func wave(x Range, shift float64) Range {
	if !(x.Hi-x.Lo < 2*math.Pi) || x.MaxAbs() > 1<<50 {
		return Range{-1, 1}
	}
	a, b := math.Sin(x.Lo+shift), math.Sin(x.Hi+shift)
	r := Range{math.Min(a, b), math.Max(a, b)}
	if crosses(x, math.Pi/2-shift) {
		r.Hi = 1
	}
	if crosses(x, -math.Pi/2-shift) {
		r.Lo = -1
	}
	return r
}

// crosses tells whether x holds one of at + 2πk.
func crosses(x Range, at float64) bool {
	k := math.Ceil((x.Lo - at) / (2 * math.Pi))
	return at+2*math.Pi*k <= x.Hi
}
