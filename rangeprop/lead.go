package rangeprop

import (
	"math"

	"github.com/amplint/amplint/refeval/kern"
)

// lead splits a map at the direction that it stretches most. With t = v·u and u' = u - tv:
//
//	Mᵀu = image·t + Mᵀu',  ‖Mᵀu'‖ ≤ tail·‖u'‖
//
// In trained models one direction often is stretched twice as much as all others, since a scale of the
// normalisation before stands out. It costs little to follow that direction by itself; what is left
// has a smaller norm. Any unit vector v makes a sound split, so that v need not be exact.
type lead struct {
	v     []float64 // the direction, nil where none is taken
	image []float64 // Mᵀv
	tail  float64
	whole float64 // bound of the norm of the map
}

// leading returns the split of the map, one without a direction where it has more rows than columns or
// too many.
func (m *matrix) leading() *lead {
	if m.split == nil {
		m.split = m.splitUp(2)
	}
	return m.split
}

// splits tells whether the map has a direction of its own.
func (m *matrix) splits() bool {
	f := m.frobenius()
	return m.rows >= 2 && m.rows <= m.cols && m.rows <= maxGram && f > 0 && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// splitUp is leading with the bound of what is left squared a few times.
func (m *matrix) splitUp(squarings int) *lead {
	if !m.splits() {
		return &lead{image: make([]float64, m.cols), tail: m.spectral()}
	}
	return m.norms.split(m, squarings, func() *lead { return m.newLead(squarings) })
}

func (m *matrix) newLead(squarings int) *lead {
	x, k := normalised(m.a)
	g := symmetric(kern.Rows(x, m.cols), kern.Rows(transposed(x, m.rows, m.cols), m.rows), m.rows, m.cols)
	f, v := frobenius32(x), direction(g, m.rows)
	most, cross := deflate(g, v)
	left := normOf(g, m.rows, squarings) + 0x1.1p-24*frobenius32(g) // what is left is rounded to float32
	root := func(norm float64) float64 { return math.Min(m.frobenius(), k*rootOf(norm, f, m.rows, m.cols)) }
	return &lead{v: v, image: m.imageOf(v), tail: root(left), whole: root(ofTwo(most, cross, left))}
}

// direction returns a unit vector close to the one that a symmetric positive matrix stretches most: a
// few steps of a power iteration, which are enough where one direction stands out.
func direction(g []float32, n int) []float64 {
	top := 0
	for i := range n {
		if g[i*n+i] > g[top*n+top] {
			top = i
		}
	}
	v, square := make([]float64, n), &matrix{rows: n, cols: n, a: g}
	v[top] = 1
	for range 6 {
		w := square.times(v)
		k := length(w)
		if k == 0 || math.IsInf(k, 0) || math.IsNaN(k) {
			break
		}
		for i := range w {
			v[i] = w[i] / k
		}
	}
	return v
}

// deflate takes a direction out of a symmetric matrix G, in place: what is left is PGP for P = 1 - vvᵀ.
// It returns vᵀGv and ‖PGv‖.
func deflate(g []float32, v []float64) (most, cross float64) {
	n := len(v)
	b := (&matrix{rows: n, cols: n, a: g}).times(v)
	for i, x := range b {
		most += x * v[i]
	}
	for i := range b {
		b[i] -= most * v[i]
	}
	for i := range n {
		row, vi, bi := g[i*n:(i+1)*n], v[i], b[i]
		for j := range row {
			row[j] = float32(float64(row[j]) - vi*(b[j]+most*v[j]) - bi*v[j])
		}
	}
	return most, length(b)
}

// ofTwo is the greater eigenvalue of the symmetric matrix [[a, b], [b, c]]: the norm of a matrix of
// blocks is at most that of the blocks' norms.
func ofTwo(a, b, c float64) float64 {
	return (a+c)/2 + math.Hypot((a-c)/2, b)
}

// times returns Mv, summed in four chains that do not wait for each other.
func (m *matrix) times(v []float64) []float64 {
	y := make([]float64, m.rows)
	for i := range y {
		row, s := m.a[i*m.cols:(i+1)*m.cols], [4]float64{}
		j := 0
		for ; j+4 <= len(row); j += 4 {
			x, e := row[j:j+4:j+4], v[j:j+4:j+4]
			s[0] += float64(x[0]) * e[0]
			s[1] += float64(x[1]) * e[1]
			s[2] += float64(x[2]) * e[2]
			s[3] += float64(x[3]) * e[3]
		}
		for ; j < len(row); j++ {
			s[0] += float64(row[j]) * v[j]
		}
		y[i] = s[0] + s[1] + s[2] + s[3]
	}
	return y
}

// imageOf returns Mᵀv.
func (m *matrix) imageOf(v []float64) []float64 {
	y := make([]float64, m.cols)
	for i, x := range v {
		for j, e := range m.a[i*m.cols : (i+1)*m.cols] {
			y[j] += x * float64(e)
		}
	}
	return y
}
