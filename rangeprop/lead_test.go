package rangeprop

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawVector draws numbers of both signs.
func drawVector(t *rapid.T, n int, name string) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rapid.Float64Range(-1, 1).Draw(t, name)
	}
	return x
}

// imagesOf returns Mᵀu for some u of length 1: random ones, and those that weights a are most along.
func imagesOf(t *rapid.T, m *matrix, a []float64) [][]float64 {
	var list [][]float64
	for k := range 6 {
		u := drawVector(t, m.rows, "direction")
		for range k { // climb: the sum of a|Mᵀu| grows along the weights with the signs of what they meet
			y := m.imageOf(u)
			for i := range u {
				u[i] = 0
				for j, x := range m.a[i*m.cols : (i+1)*m.cols] {
					u[i] += float64(x) * math.Copysign(a[j], y[j])
				}
			}
		}
		s := length(u)
		if s < 1e-100 { // its square is none of full precision
			continue
		}
		for i := range u {
			u[i] /= s
		}
		list = append(list, m.imageOf(u))
	}
	return list
}

// TestLeading: sums of magnitudes under weights stay below the direction's share and the rest's, and the
// norm of all below that of both together.
func TestLeading(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := drawMatrix(rt, rapid.IntRange(1, 6).Draw(rt, "rows"), rapid.IntRange(1, 9).Draw(rt, "columns"))
		l := m.leading()
		a := drawVector(rt, m.cols, "weight")
		share := 0.0
		for j := range a {
			a[j] = math.Abs(a[j])
			share += a[j] * math.Abs(l.image[j])
		}
		most := math.Hypot(share, l.tail*length(a)) * grow
		for _, y := range imagesOf(rt, m, a) {
			sum := 0.0
			for j, x := range y {
				sum += a[j] * math.Abs(x)
			}
			if sum > most+1e-30 || m.splits() && length(y) > l.whole*grow {
				rt.Fatalf("a sum of %v and a norm of %v, bounded by %v and %v", sum, length(y), most, l.whole)
			}
		}
	})
}

// TestLeadingOutlier: where one direction stands out, the rest has the norm of the rest.
func TestLeadingOutlier(t *testing.T) {
	m := &matrix{rows: 40, cols: 50, a: make([]float32, 2000)}
	for i := range m.rows {
		m.a[i*m.cols+i] = 1
	}
	m.a[7*m.cols+7] = 30
	l := m.leading()
	if l.tail > 1.6 || l.whole < 30 || l.whole > 30.1 || math.Abs(l.image[7]) < 29.99 {
		t.Errorf("norm %v, image %v and rest %v, want 30, 30 and little above 1", l.whole, l.image[7], l.tail)
	}
}
