package kern

import "math"

// fma32 returns a*b+c rounded once, as the instruction does. The product is exact in float64, whose
// sum is rounded twice on its way to float32: that is made good by rounding it to odd, which
// needs no more than two bits beyond the 24 to be right.
func fma32(a, b, c float32) float32 {
	p, x := float64(a)*float64(b), float64(c)
	return float32(toOdd(x, p, x+p))
}

// toOdd corrects s, the rounded sum of x and y, so that it ends in a 1 wherever it is not exact.
func toOdd(x, y, s float64) float64 {
	v := s - x
	err := (x - (s - v)) + (y - v)
	b := math.Float64bits(s)
	switch {
	case b&1 == 1 || err == 0 || err != err:
		return s
	case (err > 0) == (s > 0):
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

// isTie tells whether a float64 lies halfway between two float32 numbers that are not subnormal. Of
// sums of such size only these may be rounded wrongly by rounding twice: any other lies on the
// same side of the halfway point before and after it is rounded to float64.
func isTie(s float64) bool { return uint32(math.Float64bits(s))<<3 == 1<<31 }

// isTiny tells whether a sum is below the least normal float32, but not 0. The subtraction makes 0
// the greatest.
func isTiny(s float64) bool {
	const normal = (1023 - 126) << 53
	return math.Float64bits(s)<<1-1 < normal-1
}

// safeProduct bounds products from below. If each is at least so large or 0, all bits of a sum
// below the least normal float32 lie within the 53 of a float64, so that it is exact and rounded
// only once: the product ends above 2^-179, a factor of 2^53 below 2^-126.
const safeProduct = 0x1p-131

// least returns the least magnitude of x that is not zero, +Inf if there is none.
func least(x []float64) float64 {
	m := math.Inf(1)
	for _, v := range x {
		if a := math.Abs(v); a < m && a != 0 {
			m = a
		}
	}
	return m
}
