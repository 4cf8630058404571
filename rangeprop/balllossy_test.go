package rangeprop

import (
	"math"
	"math/rand"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// TestLossy holds that a ball has room for its elements as they are rounded to 16 bits, near the least number too.
func TestLossy(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for _, f := range []numfmt.Format{numfmt.FP16, numfmt.BF16} {
		for range 200 {
			size := math.Exp2(float64(rng.Intn(40) - 30))
			center := []float64{size * rng.NormFloat64(), size * rng.NormFloat64(), size * rng.NormFloat64()}
			b := newBall([]int{0}, []int{3}, center, 0).lossy(f.Unit(), f.MinSubnormal())
			for j, d := range b.deviations() {
				if off := math.Abs(f.Round(center[j]) - center[j]); off > d {
					t.Fatalf("%v: %g is rounded by %g, more than %g", f, center[j], off, d)
				}
			}
		}
	}
}
