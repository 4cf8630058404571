package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// slack is what results are surrounded with, to find stores out of bounds.
const slack = 40

func randoms(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = r.Float32()*2 - 1
	}
	return x
}

// nans makes a slice in which every element that is not set shows.
func nans(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return x
}

// sameBits compares but for the payload of NaN.
func sameBits(x, y []float32) (int, bool) {
	for i, v := range x {
		if math.Float32bits(v) != math.Float32bits(y[i]) && (v == v || y[i] == y[i]) {
			return i, false
		}
	}
	return 0, len(x) == len(y)
}

// gemmByDefinition is what Gemm is to give.
func gemmByDefinition(c []float32, ldc int, a, b Matrix, m, n, k int, add bool) {
	for i := range m {
		for j := range n {
			z, first := c[i*ldc+j], !add
			for k0 := 0; k0 < k || k0 == 0; k0 += BlockK {
				var s float32
				for p := k0; p < min(k, k0+BlockK); p++ {
					s = fma32(a.X[i*a.Row+p*a.Col], b.X[p*b.Row+j*b.Col], s)
				}
				if first {
					z, first = s, false
				} else if k > 0 {
					z += s
				}
			}
			c[i*ldc+j] = z
		}
	}
}

// engines calls f for each level, with one thread and with three. Short runs, meant for the race
// detector, do with threads and the best level.
func engines(t *testing.T, f func(t *testing.T, e *Engine)) {
	for _, l := range Levels() {
		for _, threads := range []int{1, 3} {
			if testing.Short() && (threads == 1 || l < supported()) {
				continue
			}
			t.Run(fmt.Sprint(l, threads), func(t *testing.T) {
				e := NewAt(l, threads)
				defer e.Close()
				f(t, e)
			})
		}
	}
}

type gemmShape struct{ m, n, k int }

func gemmShapes() []gemmShape {
	var list []gemmShape
	for m := 0; m <= 13; m++ {
		list = append(list, gemmShape{m, 33, 5}, gemmShape{m, 64, 70})
	}
	for n := 1; n <= 33; n++ {
		list = append(list, gemmShape{3, n, 7})
	}
	for _, k := range []int{0, 1, 2, 3, 4, 5, 255, 256, 257, 600} {
		list = append(list, gemmShape{5, 40, k}, gemmShape{14, 17, k})
	}
	if testing.Short() {
		list = list[:8]
	}
	return append(list, gemmShape{130, 40, 64}, gemmShape{25, 600, 20}, gemmShape{70, 100, 300}, gemmShape{1, 1000, 9})
}

func TestGemmHasTheBitsOfItsDefinition(t *testing.T) {
	engines(t, func(t *testing.T, e *Engine) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, s := range gemmShapes() {
			for _, add := range []bool{false, true} {
				testGemm(t, e, s, add, randoms(r, s.m*s.k), randoms(r, s.k*s.n), randoms(r, s.m*(s.n+3)))
			}
		}
	})
}

// testGemm tries both orders of each side, and b packed.
func testGemm(t *testing.T, e *Engine, s gemmShape, add bool, a, b, c0 []float32) {
	t.Helper()
	ldc := s.n + 3
	for way := range 5 {
		x, y := Rows(a, s.k), Rows(b, s.n)
		if way&1 != 0 {
			x = Matrix{a, 1, s.m}
		}
		if way&2 != 0 {
			y = Matrix{b, 1, s.k}
		}
		want, got := nans(len(c0)+slack), nans(len(c0)+slack)
		if add {
			copy(want, c0)
			copy(got, c0)
		}
		gemmByDefinition(want, ldc, x, y, s.m, s.n, s.k, add)
		if way == 4 {
			e.GemmPacked(got, ldc, x, Pack(y, s.k, s.n), s.m, add)
		} else {
			e.Gemm(got, ldc, x, y, s.m, s.n, s.k, add)
		}
		if i, ok := sameBits(got, want); !ok {
			t.Fatalf("%v, way %d, add %v: element %d is %v, want %v", s, way, add, i, got[i], want[i])
		}
	}
}

// TestGemmOfUnusualNumbers holds the bits where sums overflow, cancel, are subnormal or NaN.
func TestGemmOfUnusualNumbers(t *testing.T) {
	inf := float32(math.Inf(1))
	odd := []float32{0, float32(math.Copysign(0, -1)), inf, -inf, float32(math.NaN()), 3e38, -3e38, 1e-38, 1e-45, -1e-45, 1e-20, 3e-19, -1e-30, 1, 1 + 0x1p-23, 0x1p-24, -0x1p-24}
	engines(t, func(t *testing.T, e *Engine) {
		r := rand.New(rand.NewPCG(3, 4))
		for _, from := range []int{0, 5, 7} { // with all, finite, small only
			s := gemmShape{9, 37, 30}
			pick := func(n int) []float32 {
				x := make([]float32, n)
				for i := range x {
					x[i] = odd[from+r.IntN(len(odd)-from)]
				}
				return x
			}
			testGemm(t, e, s, true, pick(s.m*s.k), pick(s.k*s.n), pick(s.m*(s.n+3)))
		}
	})
}

// TestGemmIsAccurate compares with float64.
func TestGemmIsAccurate(t *testing.T) {
	e := New(1)
	r := rand.New(rand.NewPCG(5, 6))
	const m, n, k = 20, 50, 1000
	a, b, c := randoms(r, m*k), randoms(r, k*n), make([]float32, m*n)
	e.Gemm(c, n, Rows(a, k), Rows(b, n), m, n, k, false)
	for i := range m {
		for j := range n {
			var s float64
			for p := range k {
				s += float64(a[i*k+p]) * float64(b[p*n+j])
			}
			if d := math.Abs(s - float64(c[i*n+j])); d > 3e-5 {
				t.Fatalf("row %d, column %d is %v, off by %g", i, j, c[i*n+j], d)
			}
		}
	}
}
