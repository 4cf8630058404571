package kern

import "math"

// The kernels of bounds work in float64, as the analysis does that they are for.

// Dots adds the products of w with a range, mid ± rad, to sums: their ends to lo and hi, and the
// greatest magnitudes to total. All have the length of w.
func (e *Engine) Dots(lo, hi, total, w []float64, mid, rad float64) {
	n := e.level.dots(lo, hi, total, w, mid, rad)
	lo, hi, total, w = lo[n:len(w)], hi[n:len(w)], total[n:len(w)], w[n:]
	for i, x := range w {
		m, r := x*mid, math.Abs(x)*rad
		lo[i] += m - r
		hi[i] += m + r
		total[i] += math.Abs(m) + r
	}
}

// Extremes takes the numbers of x into the least in lo and the greatest in hi. NaN is passed over.
func (e *Engine) Extremes(lo, hi, x []float64) {
	n := e.level.extremes(lo, hi, x)
	lo, hi, x = lo[n:len(x)], hi[n:len(x)], x[n:]
	for i, v := range x {
		if v < lo[i] {
			lo[i] = v
		}
		if v > hi[i] {
			hi[i] = v
		}
	}
}

// Least returns the least magnitude in x that is not 0, at most that given, and whether x holds NaN.
func (e *Engine) Least(least float64, x []float64) (low float64, nan bool) {
	low, nan, n := e.level.least(least, x)
	for _, v := range x[n:] {
		nan = nan || v != v
		if a := math.Abs(v); a < low && a > 0 {
			low = a
		}
	}
	return low, nan
}

// Doubles sets dst, of the length of x, to the numbers of x.
func (e *Engine) Doubles(dst []float64, x []float32) {
	n := e.level.doubles(dst, x)
	dst = dst[:len(x)]
	for i, v := range x[n:] {
		dst[n+i] = float64(v)
	}
}
