package refeval

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amplint/amplint/refeval/kern"
)

// TestGemmSmall holds products of small integers by the float kernels against those of integers, at the ends
// of their types and with sums past what float32 holds.
func TestGemmSmall(t *testing.T) {
	e := kern.New(2)
	defer e.Close()
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		m, n, k int
		a, b    int64 // the largest magnitudes
		small   bool
	}{
		{17, 33, 1000, 255, 255, true}, {64, 64, 4, 255, 127, true}, {3, 70, 700, 1000, 1000, true}, {16, 64, 64, 1, 0, true},
		{16, 64, 64, 2000, 1000, false}, {2, 3, 4, 255, 255, false}, {16, 64, 64, math.MaxInt64, 1, false}, {16, 64, 64, 1, math.MinInt64, false},
	} {
		ends := func(n int, most int64) []int64 {
			list := make([]int64, n)
			for i := range list {
				if list[i] = most; most > 0 && most < math.MaxInt32 && i%3 == 0 {
					list[i] = r.Int64N(2*most+1) - most
				}
			}
			return list
		}
		a, b := ends(c.m*c.k, c.a), ends(c.k*c.n, c.b)
		got, want := make([]int64, c.m*c.n), make([]int64, c.m*c.n)
		got[0], want[0] = 5, 5 // they add
		small := gemmSmall(e, got, a, b, c.m, c.n, c.k)
		if small {
			gemmInt(want, a, b, c.m, c.n, c.k)
		}
		if small != c.small || !slices.Equal(got, want) {
			t.Errorf("%d by %d by %d up to %d and %d: by floats %v, want %v, equal %v", c.m, c.n, c.k, c.a, c.b, small, c.small, slices.Equal(got, want))
		}
	}
}
