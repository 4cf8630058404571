package kern

import (
	"math"
	"math/rand"
	"slices"
	"testing"
)

// boundInputs are doubles of many magnitudes, zeros of both signs and, where special is set, NaN and
// infinities.
func boundInputs(n int, special bool) []float64 {
	rng := rand.New(rand.NewSource(int64(n)))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64() * math.Ldexp(1, rng.Intn(80)-40)
		switch k := rng.Intn(20); {
		case k == 0:
			x[i] = 0
		case k == 1:
			x[i] = math.Copysign(0, -1)
		case k == 2 && special:
			x[i] = math.NaN()
		case k == 3 && special:
			x[i] = math.Inf(1 - 2*rng.Intn(2))
		}
	}
	return x
}

// TestBounds: every level gives the bits of the one without assembly.
func TestBounds(t *testing.T) {
	for _, l := range Levels() {
		e, plain := NewAt(l, 1), NewAt(Go, 1)
		for _, n := range []int{0, 1, 3, 4, 7, 64, 259} {
			w, x := boundInputs(n, false), boundInputs(n, true)
			a, b := make([]float64, 3*n), make([]float64, 3*n)
			for range 3 {
				e.Dots(a[:n], a[n:2*n], a[2*n:], w, 0.3, 1.7)
				plain.Dots(b[:n], b[n:2*n], b[2*n:], w, 0.3, 1.7)
			}
			sameDoubles(t, l, "dots", a, b)
			e.Extremes(a[:n], a[n:2*n], x)
			plain.Extremes(b[:n], b[n:2*n], x)
			sameDoubles(t, l, "extremes", a, b)
			for _, v := range [][]float64{w, x} {
				low, nan := e.Least(math.Inf(1), v)
				want, wantNaN := plain.Least(math.Inf(1), v)
				if low != want || nan != wantNaN || nan != slices.ContainsFunc(v, math.IsNaN) {
					t.Errorf("%s: least of %d is %v, %v, want %v, %v", l, n, low, nan, want, wantNaN)
				}
			}
		}
	}
}

// TestDoubles: every level gives the bits of the language's conversion, behind the end nothing is
// written.
func TestDoubles(t *testing.T) {
	for _, l := range Levels() {
		for _, n := range []int{0, 1, 7, 8, 9, 64, 259} {
			x, got, want := make([]float32, n), make([]float64, n+8), make([]float64, n+8)
			for i, v := range boundInputs(n, true) {
				x[i] = float32(v)
				want[i] = float64(x[i])
			}
			NewAt(l, 1).Doubles(got[:n], x)
			sameDoubles(t, l, "doubles", got, want)
		}
	}
}

// TestBoundRows: every level gives what one row after the other gives.
func TestBoundRows(t *testing.T) {
	for _, l := range Levels() {
		e := NewAt(l, 1)
		for _, n := range []int{1, 7, 8, 9, 64, 259} {
			for _, rows := range []int{1, 7, 8, 21} {
				x := make([]float32, n*rows)
				for i, v := range boundInputs(n*rows, false) {
					x[i] = float32(v)
				}
				by := [3][]float64{boundInputs(rows, false), boundInputs(rows, false), boundInputs(rows, false)}
				got, want := make([]float64, 3*n), make([]float64, 3*n)
				e.DotRows(&RowSums{got[:n], got[n : 2*n], got[2*n:]}, x, by[0], by[1], by[2])
				for i, v := range x {
					w, row, col := float64(v), i/n, i%n
					for k, y := range []float64{w, math.Abs(w), math.Abs(w)} {
						want[k*n+col] += float64(y * by[k][row])
					}
				}
				sameDoubles(t, l, "dots of rows", got, want)
				x[len(x)/2] = float32(math.NaN())
				least, greatest := make([]float32, 2*n), make([]float32, 2*n)
				e.ExtremeRows(least[:n], greatest[:n], x)
				for i := range rows {
					extremeRowGo(least[n:], greatest[n:], x[i*n:(i+1)*n])
				}
				if !slices.Equal(least[:n], least[n:]) || !slices.Equal(greatest[:n], greatest[n:]) {
					t.Errorf("%s: extremes of %d rows of %d differ", l, rows, n)
				}
			}
		}
	}
}

func sameDoubles(t *testing.T, l Level, what string, got, want []float64) {
	t.Helper()
	for i, g := range got {
		if math.Float64bits(g) != math.Float64bits(want[i]) {
			t.Fatalf("%s: %s: element %d is %v, want %v", l, what, i, g, want[i])
		}
	}
}
