package rangeprop

import (
	"math"
	"testing"
)

// TestLargestOf holds what the largest of a few normal variables is expected to be against tables (Harter, Expected
// Values of Normal Order Statistics, 1961).
func TestLargestOf(t *testing.T) {
	for n, want := range map[float64]float64{1: 0, 2: 0.5642, 4: 1.0294, 9: 1.4850, 100: 2.5076} {
		if got := largestOf(4, n); math.Abs(got-2*want) > 0.06 {
			t.Errorf("of %g with a deviation of 2: %g, want %g", n, got, 2*want)
		}
	}
	if free, _ := reducedOf("MaxPool", 9, 0, 1, 0); math.Abs(free-1.485) > 0.03 {
		t.Errorf("a pool of nine comes to %g", free)
	}
	if alike, v := reducedOf("MaxPool", 9, 3, 1, 1); alike != 3 || v != 1 {
		t.Errorf("a pool of nine equal elements comes to %g, variance %g", alike, v)
	}
}
