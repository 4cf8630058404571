package kern

import (
	"math/rand/v2"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// sumByDefinition is what GemmSum is to give for rows next to each other.
func sumByDefinition(s Sum, c, a, b []float32, m, n, k int) {
	if !s.low() {
		gemmByDefinition(c, n, Rows(a, k), Rows(b, n), m, n, k, false)
		return
	}
	block := s.Block
	if block == 0 {
		block = k
	}
	round := func(x float32) float32 {
		v := []float32{x}
		roundGo(s.Format, s.Flush, v)
		return v[0]
	}
	for i := range m {
		for j := range n {
			var all float32
			for k0 := 0; k0 < k; k0 += block {
				var part float32
				for p := k0; p < min(k, k0+block); p++ {
					part = round(part + round(float32(a[i*k+p]*b[p*n+j])))
				}
				if k0 > 0 {
					part = round(all + part)
				}
				all = part
			}
			c[i*n+j] = all
		}
	}
}

func TestGemmSumRoundsEachStep(t *testing.T) {
	sums := []Sum{{}, {Format: numfmt.FP16}, {Format: numfmt.FP16, Flush: true}, {Format: numfmt.FP16, Block: 32},
		{Format: numfmt.BF16}, {Format: numfmt.BF16, Flush: true, Block: 5}, {Format: numfmt.E4M3FN}}
	if testing.Short() {
		sums = sums[:2]
	}
	engines(t, func(t *testing.T, e *Engine) {
		r := rand.New(rand.NewPCG(15, 16))
		for _, s := range sums {
			for _, d := range []gemmShape{{1, 1, 1}, {3, 17, 40}, {2, 300, 33}, {9, 50, 64}, {4, 5, 0}, {2, 160, 300}} {
				for _, size := range []float32{1, 300, 1e-5, 1e-22} {
					testSum(t, e, s, d, lowNumbers(r, s, d.m*d.k, size), lowNumbers(r, s, d.k*d.n, size))
				}
			}
		}
	})
}

// lowNumbers are numbers of the format, a few of them such that sums overflow.
func lowNumbers(r *rand.Rand, s Sum, n int, size float32) []float32 {
	x := randoms(r, n)
	for i := range x {
		x[i] *= size
		if r.IntN(2000) == 0 {
			x[i] *= 1e4
		}
	}
	if s.low() {
		roundGo(s.Format, false, x)
	}
	return x
}

func testSum(t *testing.T, e *Engine, s Sum, d gemmShape, a, b []float32) {
	t.Helper()
	want, got := nans(d.m*d.n+slack), nans(d.m*d.n+slack)
	sumByDefinition(s, want, a, b, d.m, d.n, d.k)
	e.GemmSum(s, got, d.n, Rows(a, d.k), Rows(b, d.n), d.m, d.n, d.k)
	if i, ok := sameBits(got, want); !ok {
		t.Fatalf("%+v %v: element %d is %v, want %v", s, d, i, got[i], want[i])
	}
	turned := make([]float32, len(b))
	copyMatrix(turned, Matrix{b, 1, d.n}, d.n, d.k)
	e.GemmSum(s, got, d.n, Rows(a, d.k), Rows(turned, d.k).Transpose(), d.m, d.n, d.k)
	if i, ok := sameBits(got, want); !ok {
		t.Fatalf("%+v %v, b transposed: element %d is %v, want %v", s, d, i, got[i], want[i])
	}
}
