package refeval

import "github.com/amplint/amplint/refeval/kern"

// wholeIn32 is the magnitude up to which float32 holds all whole numbers.
const wholeIn32 = 1 << 24

// Below fewTerms terms in a part, and below fewProducts products, the integers are multiplied one by one.
const (
	fewTerms    = 16
	fewProducts = 1 << 14
)

// gemmSmall adds the product of a and b to dst by the kernels for float32, in parts whose sums they hold exactly in
// whatever order they add: those of 8-bit numbers have 256 terms and more. It returns false, and adds nothing, where
// the numbers are too large for that or the matrices too small.
func gemmSmall(e *kern.Engine, dst, a, b []int64, m, n, k int) bool {
	if m*n*k < fewProducts {
		return false
	}
	most := most64(a)
	if most > wholeIn32 {
		return false
	}
	if most *= most64(b); most > wholeIn32/fewTerms {
		return false
	}
	part := int(min(wholeIn32/max(most, 1), int64(k)))
	x, y, sums := float32s(a), float32s(b), make([]float32, m*n)
	for p := 0; p < k; p += part {
		e.Gemm(sums, n, kern.Rows(x[p:], k), kern.Rows(y[p*n:], n), m, n, min(part, k-p), false)
		for i, s := range sums {
			dst[i] += int64(s)
		}
	}
	return true
}

// most64 is the largest magnitude of a list, at most one past [wholeIn32].
func most64(list []int64) int64 {
	var most int64
	for _, x := range list {
		if most = max(most, x, -x); x == -x && x != 0 || most > wholeIn32 { // the least number has no negative
			return wholeIn32 + 1
		}
	}
	return most
}

func float32s(list []int64) []float32 {
	out := make([]float32, len(list))
	for i, x := range list {
		out[i] = float32(x)
	}
	return out
}
