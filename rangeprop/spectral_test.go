package rangeprop

import (
	"math/rand"
	"testing"
)

// TestLargeNorm: above what a vector shows also where float32 could round away or overflow, and not
// far above.
func TestLargeNorm(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, scale := range []float32{1, 1e-30, 1e30, 1e-42} {
		for _, d := range [][2]int{{130, 130}, {130, 400}, {400, 130}} {
			m := &matrix{rows: d[0], cols: d[1], a: make([]float32, d[0]*d[1])}
			for i := range m.a {
				m.a[i] = scale * float32(rng.NormFloat64())
			}
			low, high := stretchOf(m), m.largeNorm()
			if high < low || high > 1.6*low {
				t.Errorf("%v times %v: norm bounded by %v, a vector is stretched by %v", d, scale, high, low)
			}
		}
	}
	one := &matrix{rows: 200, cols: 200, a: make([]float32, 40000)}
	for i := range one.a {
		one.a[i] = 1
	}
	if n := one.largeNorm(); n < 200 || n > 200.1 {
		t.Errorf("norm of ones is bounded by %v, want 200", n)
	}
}
