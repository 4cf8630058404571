package kern

import "math"

// Exp sets dst to e^x, within 1.1 units in the last place. dst may be x.
func (e *Engine) Exp(dst, x []float32) { e.unary(dst, x, e.expMinus) }

// Sigmoid sets dst to 1 / (1 + e^-x), within 2.5 units in the last place above -87 and 0 below -88.73.
func (e *Engine) Sigmoid(dst, x []float32) {
	e.unary(dst, x, func(d, x []float32, _ float32) {
		done := e.level.sigmoid(d, x)
		for i, v := range x[done:len(d)] {
			d[done+i] = 1 / (1 + exp32(-v))
		}
	})
}

// Tanh sets dst to the hyperbolic tangent of x, within 7 units in the last place.
func (e *Engine) Tanh(dst, x []float32) {
	e.unary(dst, x, func(d, x []float32, _ float32) { e.rational(&tanhForm, d, x) })
}

// Erf sets dst to the error function of x, within 7 units in the last place.
func (e *Engine) Erf(dst, x []float32) {
	e.unary(dst, x, func(d, x []float32, _ float32) { e.rational(&erfForm, d, x) })
}

func (e *Engine) unary(dst, x []float32, f func(dst, x []float32, minus float32)) {
	e.Parallel(len(dst), 64, 10, func(lo, hi int) { f(dst[lo:hi], x[lo:hi], 0) })
}

// expMinus sets dst to e^(x - m).
func (e *Engine) expMinus(dst, x []float32, m float32) {
	done := e.level.exp(dst, x, m)
	for i, v := range x[done:len(dst)] {
		dst[done+i] = exp32(v - m)
	}
}

// The bounds of exp32: beyond them its result is 0 or +Inf.
const (
	expLow  = -104
	expHigh = 89
)

// The parts of ln 2 by which exp32 reduces, the first of so few bits that its multiples are exact;
// and magic, which added to a number and subtracted again rounds it to an integer.
const (
	log2e = 1.44269504088896341
	ln2Hi = 0.693359375
	ln2Lo = -2.12194440e-4
	magic = 3 << 22
)

// exp32 is e^x as 2^n e^r with the polynomial of the Cephes library. The power of two is applied
// in two steps, of which only the last can round.
func exp32(x float32) float32 {
	if expLow > x {
		x = expLow
	}
	if expHigh < x {
		x = expHigh
	}
	n := float32(float32(x*log2e)+magic) - magic
	r := x - float32(n*ln2Hi)
	r -= float32(n * ln2Lo)
	p := float32(1.9875691500e-4)
	p = float32(p*r) + 1.3981999507e-3
	p = float32(p*r) + 8.3334519073e-3
	p = float32(p*r) + 4.1665795894e-2
	p = float32(p*r) + 1.6666665459e-1
	p = float32(p*r) + 5.0000001201e-1
	p = float32(p * float32(r*r))
	p = float32(p+r) + 1
	k := int32(n)
	h := k >> 1
	return float32(p*power(h)) * power(k-h)
}

// power is 2^n for a normal result.
func power(n int32) float32 { return math.Float32frombits(uint32(n+127) << 23) }

// form is an odd function x P(x²) / Q(x²) that is constant beyond a bound.
type form struct {
	bound float32    // x is taken no larger
	p     [7]float32 // from the highest power
	q     [5]float32 // with leading zeros
	one   float32    // from here on the result is 1
}

// scale keeps the products of small numbers with the last coefficients from being subnormal.
const scale = 256

// The forms of Eigen, a library of linear algebra.
var (
	tanhForm = form{
		bound: 9,
		p: [7]float32{-scale * 2.76076847742355e-16, scale * 2.00018790482477e-13, -scale * 8.60467152213735e-11, scale * 5.12229709037114e-08,
			scale * 1.48572235717979e-05, scale * 6.37261928875436e-04, scale * 4.89352455891786e-03},
		q:   [5]float32{0, scale * 1.19825839466702e-06, scale * 1.18534705686654e-04, scale * 2.26843463243900e-03, scale * 4.89352518554385e-03},
		one: 9,
	}
	erfForm = form{
		bound: 4,
		p: [7]float32{-scale * 2.72614225801306e-10, scale * 2.77068142495902e-08, -scale * 2.10102402082508e-06, -scale * 5.69250639462346e-05,
			-scale * 7.34990630326855e-04, -scale * 2.95459980854025e-03, -scale * 1.60960333262415e-02},
		q:   [5]float32{-scale * 1.45660718464996e-05, -scale * 2.13374055278905e-04, -scale * 1.68282697438203e-03, -scale * 7.37332916720468e-03, -scale * 1.42647390514189e-02},
		one: 3.92,
	}
)

func (e *Engine) rational(f *form, dst, x []float32) {
	done := e.level.rational(f, dst, x)
	for i, v := range x[done:len(dst)] {
		dst[done+i] = f.at(v)
	}
}

// at evaluates the form. NaN stays NaN: no comparison is true of it.
func (f *form) at(x float32) float32 {
	sign := math.Float32bits(x) & 0x80000000
	a := math.Float32frombits(math.Float32bits(x) &^ 0x80000000)
	t := a
	if f.bound < t {
		t = f.bound
	}
	s := float32(t * t)
	p, q := f.p[0], f.q[0]
	for _, c := range f.p[1:] {
		p = float32(p*s) + c
	}
	for _, c := range f.q[1:] {
		q = float32(q*s) + c
	}
	y := float32(t*p) / q
	if a >= f.one || y > 1 {
		y = 1
	}
	return math.Float32frombits(math.Float32bits(y) | sign)
}
