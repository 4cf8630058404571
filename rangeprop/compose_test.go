package rangeprop

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawBall draws a ball of n elements in some parts: with a map of rows, or one factor for each element
// where rows is 0.
func drawBall(t *rapid.T, n, groups, rows int) *ball {
	b := newBall([]int{1}, []int{n}, drawVector(t, n, "center"), 0)
	b.groups, b.radius = groups, make([]float64, groups)
	for g := range b.radius {
		b.radius[g] = rapid.Float64Range(0, 4).Draw(t, "radius")
	}
	b.loss = rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "loss")
	if b.diag = drawVector(t, n, "factor"); rows > 0 {
		b.diag, b.m = nil, drawMatrix(t, rows, n)
	}
	return b
}

// vectors returns elements of a ball: the units of each part point along weights, then a random way, and
// what is lost along the weights.
func (b *ball) vectors(t *rapid.T, w []float64) [][]float64 {
	var list [][]float64
	for k := range 3 {
		x := make([]float64, b.n())
		for g := range b.groups {
			from, to := b.part(g)
			b.point(x, from, to, b.radius[g], w, drawVector(t, 16, "unit"), k)
		}
		for i, s := range w {
			x[i] += b.center[i] + b.loss*s/math.Max(length(w), 1e-30)
		}
		list = append(list, x)
	}
	return list
}

// point sets elements from..to to the image of a unit: along w for k = 0, against it for 1, else random.
func (b *ball) point(x []float64, from, to int, radius float64, w, unit []float64, k int) {
	rows := to - from
	if b.m != nil {
		rows = b.m.rows
	}
	entry := func(i, j int) float64 {
		switch {
		case b.m != nil:
			return float64(b.m.a[i*b.m.cols+j])
		case i+from == j:
			return b.diag[j]
		}
		return 0
	}
	u := unit[:rows]
	if k < 2 {
		for i := range u {
			u[i] = 0
			for j := from; j < to; j++ {
				u[i] += entry(i, j) * w[j] * float64(1-2*k)
			}
		}
	}
	s := math.Max(length(u), 1e-30)
	for j := from; j < to; j++ {
		for i := range u {
			x[j] += radius * u[i] / s * entry(i, j)
		}
	}
}

func columnOf(m *matrix, j int) []float64 {
	w := make([]float64, m.rows)
	for i := range w {
		w[i] = float64(m.a[i*m.cols+j])
	}
	return w
}

func dot(x, y []float64) float64 {
	s := 0.0
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

// TestComposed: no vector of the ball leaves the bounds, and the one along the weights reaches them.
func TestComposed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		groups := rapid.SampledFrom([]int{1, 2, 3}).Draw(rt, "groups")
		b := drawBall(rt, 6, groups, rapid.IntRange(1, 5).Draw(rt, "rows"))
		w := drawMatrix(rt, 6, rapid.IntRange(1, 4).Draw(rt, "columns"))
		x := b.composed(w)
		for j := range w.cols {
			weights := columnOf(w, j)
			still := dot(weights, b.center)
			most := 0.0
			for _, v := range b.vectors(rt, weights) {
				d := dot(weights, v) - still
				if e := 1e-5 * (1 + math.Abs(still)); d > x.up[j]+e || d < -x.down[j]-e {
					rt.Fatalf("sum %d is off by %v, bounded by -%v and %v", j, d, x.down[j], x.up[j])
				}
				most = math.Max(most, d)
			}
			if most < x.up[j]*(1-1e-3)-1e-3 {
				rt.Fatalf("sum %d reaches %v, bounded by %v", j, most, x.up[j])
			}
		}
	})
}

// TestLargeGram: what is on top of the products of all columns is little.
func TestLargeGram(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := drawMatrix(rt, rapid.IntRange(1, 9).Draw(rt, "rows"), rapid.IntRange(1, 9).Draw(rt, "columns"))
		f := m.frobenius()
		g := m.largeGram()
		for i := range m.cols {
			for j := range m.cols {
				d := g[i*m.cols+j] - dot(columnOf(m, i), columnOf(m, j))
				if e := 1e-40 + 1e-12*f*f; math.Abs(d) > 1e-4*f*f+e || i == j && d < -e {
					rt.Fatalf("element %d, %d is off by %v", i, j, d)
				}
			}
		}
	})
}
