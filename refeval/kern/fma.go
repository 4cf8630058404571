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
