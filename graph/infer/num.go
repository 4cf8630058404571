package infer

import "math"

// numKind tells what is known of a number.
type numKind uint8

const (
	numUnknown numKind = iota
	numInt
	numFloat
	numPoly // a symbolic integer
)

// num is an element of a small tensor: unknown, a number or a symbolic integer.
type num struct {
	k numKind
	i int64
	f float64
	p poly
}

func intNum(i int64) num     { return num{k: numInt, i: i} }
func floatNum(f float64) num { return num{k: numFloat, f: f} }

func polyNum(p poly) num {
	if n, ok := p.constant(); ok {
		return intNum(n)
	}
	return num{k: numPoly, p: p}
}

func boolNum(b bool) num {
	if b {
		return intNum(1)
	}
	return intNum(0)
}

// poly returns an integer as an expression.
func (x num) poly() (poly, bool) {
	switch x.k {
	case numInt:
		return constPoly(x.i), true
	case numPoly:
		return x.p, true
	}
	return nil, false
}

// float returns a known number as a float.
func (x num) float() (float64, bool) {
	switch x.k {
	case numInt:
		return float64(x.i), true
	case numFloat:
		return x.f, true
	}
	return 0, false
}

// integral returns a whole number that is held as a float as an integer.
func (x num) integral() num {
	if x.k == numFloat && x.f == math.Trunc(x.f) && math.Abs(x.f) < 1<<52 {
		return intNum(int64(x.f))
	}
	return x
}

// known tells whether x is a number.
func (x num) known() bool { return x.k == numInt || x.k == numFloat }

// is tells whether x is the integer i.
func (x num) is(i int64) bool { return x.k == numInt && x.i == i }

// equal tells whether x and y are surely the same.
func (x num) equal(y num) bool {
	if x.k == numFloat || y.k == numFloat {
		a, ok := x.float()
		b, both := y.float()
		return ok && both && a == b
	}
	a, ok := x.poly()
	b, both := y.poly()
	return ok && both && a.String() == b.String()
}

// arith applies an operation of floats or, where both are integers, of expressions.
func arith(x, y num, float func(a, b float64) float64, expr func(a, b poly) (poly, bool)) num {
	if x.k == numPoly || y.k == numPoly {
		x, y = x.integral(), y.integral()
	}
	if x.k == numFloat || y.k == numFloat {
		a, ok := x.float()
		b, both := y.float()
		if !ok || !both {
			return num{}
		}
		return floatNum(float(a, b))
	}
	a, ok := x.poly()
	b, both := y.poly()
	if !ok || !both {
		return num{}
	}
	p, ok := expr(a, b)
	if !ok {
		return num{}
	}
	return polyNum(p)
}

func addNum(x, y num) num {
	return arith(x, y, func(a, b float64) float64 { return a + b },
		func(a, b poly) (poly, bool) { return a.plus(b, 1) })
}

func subNum(x, y num) num {
	return arith(x, y, func(a, b float64) float64 { return a - b },
		func(a, b poly) (poly, bool) { return a.plus(b, -1) })
}

func mulNum(x, y num) num {
	return arith(x, y, func(a, b float64) float64 { return a * b },
		func(a, b poly) (poly, bool) { return a.times(b) })
}

// div divides as the standard does: integers towards zero. Symbolic sizes are not negative, so that their
// quotient is the floor.
func (s *symbols) div(x, y num) num {
	return arith(x, y, func(a, b float64) float64 { return a / b }, func(a, b poly) (poly, bool) {
		n, number := b.constant()
		m, both := a.constant()
		switch {
		case number && n == 0, number && both && m == math.MinInt64 && n == -1:
			return nil, false
		case number && both:
			return constPoly(m / n), true
		}
		if q, ok := a.over(b); ok {
			return q, true
		}
		if number {
			return s.floorDiv(a, n)
		}
		return s.part("floor", a, b), true
	})
}

// floorDivNum divides by a positive number and rounds down.
func (s *symbols) floorDivNum(x num, n int64) num {
	p, ok := x.poly()
	if ok {
		p, ok = s.floorDiv(p, n)
	}
	if !ok {
		return num{}
	}
	return polyNum(p)
}

// ceilDivNum divides by a positive number and rounds up.
func (s *symbols) ceilDivNum(x num, n int64) num {
	return s.floorDivNum(addNum(x, intNum(n-1)), n)
}

// sign compares x with y where their bounds decide: -1, 0 or 1.
func (s *symbols) sign(x, y num) (int, bool) {
	if x.k == numFloat || y.k == numFloat {
		a, ok := x.float()
		b, both := y.float()
		switch {
		case !ok || !both || a != a || b != b:
			return 0, false
		case a < b:
			return -1, true
		case a > b:
			return 1, true
		}
		return 0, true
	}
	lo, hi := s.difference(x, y)
	switch {
	case lo > 0:
		return 1, true
	case hi < 0:
		return -1, true
	}
	return 0, lo == 0 && hi == 0
}

// difference bounds x - y.
func (s *symbols) difference(x, y num) (lo, hi int64) {
	p, ok := subNum(x, y).poly()
	if !ok {
		return minusInf, plusInf
	}
	return s.bounds(p)
}

// minNum and maxNum choose the smaller and the larger number, by a symbol where the bounds do not decide.
func (s *symbols) minNum(x, y num) num { return s.choose(x, y, "min", -1) }
func (s *symbols) maxNum(x, y num) num { return s.choose(x, y, "max", 1) }

func (s *symbols) choose(x, y num, op string, want int) num {
	if x.equal(y) {
		return x
	}
	if x.k != numFloat && y.k != numFloat {
		lo, hi := s.difference(x, y)
		if want > 0 && lo >= 0 || want < 0 && hi <= 0 {
			return x
		}
		if want > 0 && hi <= 0 || want < 0 && lo >= 0 {
			return y
		}
	} else if sign, ok := s.sign(x, y); ok {
		if sign == want {
			return x
		}
		return y
	}
	return arith(x, y, func(a, b float64) float64 { return math.NaN() },
		func(a, b poly) (poly, bool) {
			if b.String() < a.String() {
				a, b = b, a
			}
			return s.part(op, a, b), true
		})
}
