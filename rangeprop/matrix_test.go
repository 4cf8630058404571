package rangeprop

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/amplint/amplint/graph"
)

// drawMatrix draws a small matrix, often with one direction that dominates.
func drawMatrix(t *rapid.T, rows, cols int) *matrix {
	m := &matrix{rows: rows, cols: cols, a: make([]float32, rows*cols)}
	k := rapid.Float64Range(-3, 3).Draw(t, "common part")
	for i := range m.a {
		m.a[i] = float32(rapid.Float64Range(-1, 1).Draw(t, "element") + k)
	}
	return m
}

// stretchOf returns ‖Mᵀu‖/‖u‖ for the best u of a power iteration: a lower bound of the norm.
func stretchOf(m *matrix) float64 {
	u := make([]float64, m.rows)
	for i := range u {
		u[i] = 1 + 0.1*float64(i)
	}
	best := 0.0
	for range 60 {
		y := make([]float64, m.cols)
		for i, x := range u {
			for j := range y {
				y[j] += float64(m.a[i*m.cols+j]) * x
			}
		}
		if length(u) == 0 {
			return best
		}
		best = math.Max(best, length(y)/length(u))
		k := length(y)
		if k == 0 {
			return best
		}
		for i := range u {
			u[i] = 0
			for j, v := range y {
				u[i] += float64(m.a[i*m.cols+j]) * v / k
			}
		}
	}
	return best
}

// TestSpectral: the bound is above every stretch, and not far above.
func TestSpectral(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := drawMatrix(rt, rapid.IntRange(1, 9).Draw(rt, "rows"), rapid.IntRange(1, 9).Draw(rt, "columns"))
		low, high := stretchOf(m), m.spectral()
		if high < low*(1-1e-9) || high > 1.2*low+1e-6 {
			rt.Fatalf("norm bounded by %v, a vector is stretched by %v", high, low)
		}
	})
}

// TestProductNorm: |uᵀA Bᵀv| is bounded for the vectors that stretch most.
func TestProductNorm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "length")
		a, b := drawMatrix(rt, rapid.IntRange(1, 6).Draw(rt, "rows"), n), drawMatrix(rt, rapid.IntRange(1, 6).Draw(rt, "rows"), n)
		p := &matrix{rows: a.rows, cols: b.rows, a: make([]float32, a.rows*b.rows)}
		for i := range a.rows {
			for k := range b.rows {
				for j := range n {
					p.a[i*b.rows+k] += a.a[i*n+j] * b.a[k*n+j]
				}
			}
		}
		if low, high := stretchOf(p), productNorm(a.columnGram(), b.columnGram(), n); high < low*(1-1e-4)-1e-4 {
			rt.Fatalf("norm of the product bounded by %v, a vector is stretched by %v", high, low)
		}
	})
}

// TestReshape carries bounds into other shapes.
func TestReshape(t *testing.T) {
	v := &Val{dims: []int{1, 6}, lo: []float64{0, 1, 2, 3, 4, 5}, basis: Constant}
	v.hi = v.lo
	for _, c := range []struct {
		name     string
		from, to []int64
		dims     []int
		first    []float64 // the lowest bounds that must be kept apart
	}{
		{"split", []int64{-1, 6}, []int64{-1, 2, 3}, []int{1, 2, 3}, []float64{0, 1, 2, 3, 4, 5}},
		{"an axis put in", []int64{5, 6}, []int64{5, 1, 6}, []int{1, 1, 6}, []float64{0, 1, 2, 3, 4, 5}},
		{"joined with positions", []int64{5, 6}, []int64{30}, []int{1}, []float64{0}},
	} {
		from, to := shapeOf(c.from), shapeOf(c.to)
		w := reshape(v, from, to)
		if len(w.lo) != len(c.first) || size(w.dims) != size(c.dims) {
			t.Errorf("%s: got %v %v", c.name, w.dims, w.lo)
			continue
		}
		for i, x := range c.first {
			if w.lo[i] != x {
				t.Errorf("%s: element %d is %v, want %v", c.name, i, w.lo[i], x)
			}
		}
	}
}

// shapeOf makes a shape; -1 is the batch.
func shapeOf(dims []int64) graph.Shape {
	s := graph.ShapeOf(dims...)
	for i, d := range dims {
		if d < 0 {
			s[i] = graph.Dim{N: -1, Sym: "batch"}
		}
	}
	return s
}
