package rangeprop

import "math"

// matrix is a linear map from a vector of rows elements to one of cols elements, as rows of
// float32: y_j = Σ_i a[i][j] u_i.
type matrix struct {
	rows, cols int
	a          []float32
	norm       float64   // upper bound of the spectral norm, 0 until asked for
	squares    []float64 // of the columns' Euclidean norms, nil until asked for
	lengths    []float64 // of the columns
	gram       []float64 // of the columns, nil until asked for
	split      *lead     // at the direction that it stretches most, nil until asked for
	norms      *norms    // of all matrices of an analysis, nil where none are kept
	parts      []float64 // spectral norms of equal parts of the columns, as many as were asked for last
}

// columns returns the Euclidean norm of every column.
func (m *matrix) columns() []float64 {
	if m.lengths != nil {
		return m.lengths
	}
	m.lengths = make([]float64, m.cols)
	for j, s := range m.columnSquares() {
		m.lengths[j] = math.Sqrt(s) * (1 + 1e-6)
	}
	return m.lengths
}

// columnSquares returns the sum of squares of every column.
func (m *matrix) columnSquares() []float64 {
	if m.squares != nil {
		return m.squares
	}
	m.squares = make([]float64, m.cols)
	for i := range m.rows {
		row := m.a[i*m.cols : (i+1)*m.cols]
		squares := m.squares[:len(row)]
		for j, x := range row {
			squares[j] += float64(x) * float64(x)
		}
	}
	return m.squares
}

// pick returns the matrix of some columns.
func (m *matrix) pick(at []int) *matrix {
	out := &matrix{rows: m.rows, cols: len(at), norms: m.norms, a: make([]float32, m.rows*len(at))}
	for i := range m.rows {
		for j, k := range at {
			out.a[i*len(at)+j] = m.a[i*m.cols+k]
		}
	}
	return out
}

// scale returns the matrix with every column multiplied by a factor.
func (m *matrix) scale(k []float64) *matrix {
	out := &matrix{rows: m.rows, cols: m.cols, norms: m.norms, a: make([]float32, len(m.a))}
	for i, x := range m.a {
		out.a[i] = float32(float64(x) * k[i%m.cols])
	}
	return out
}

// maxGram is the side of the Gram matrix up to which spectral norms are computed: squaring it
// takes side³ multiplications.
const maxGram = 1024

// spectral returns an upper bound of the largest singular value. Power iteration would give a lower
// bound; ‖G^(2^k)‖^(1/2^(k+1)) of the Gram matrix G is above it for every k and every norm.
func (m *matrix) spectral() float64 {
	if m.norm == 0 {
		m.norm = m.bound()
	}
	return m.norm
}

// part returns an upper bound of the spectral norm of one of several equal parts of the columns.
func (m *matrix) part(from, to int) float64 {
	n := m.cols / (to - from)
	if len(m.parts) != n {
		m.parts = make([]float64, n)
	}
	p := &m.parts[from/(to-from)]
	if *p == 0 {
		*p = m.pick(seq(from, to)).spectral()
	}
	return *p
}

// frobenius is the root of the sum of squares of all elements, which is above the spectral norm.
func (m *matrix) frobenius() float64 {
	f := 0.0
	for _, s := range m.columnSquares() {
		f += s
	}
	return math.Sqrt(f) * (1 + 1e-6)
}

func (m *matrix) bound() float64 {
	frobenius := m.frobenius()
	n := min(m.rows, m.cols)
	if n < 2 || n > maxGram || frobenius == 0 || math.IsInf(frobenius, 0) || math.IsNaN(frobenius) {
		return frobenius
	}
	if n > 128 && m.splits() {
		return m.leading().whole
	}
	if n > 128 {
		l := m.norms.split(m, wholly, func() *lead { return &lead{whole: m.largeNorm()} })
		return math.Min(frobenius, l.whole)
	}
	return math.Min(frobenius, math.Sqrt(topEigenvalue(gramOf(m), n, 4)))
}

// gramOf multiplies the rows with each other, or the columns where those are fewer. Products of
// float32 are exact in float64.
func gramOf(m *matrix) []float64 {
	if m.rows > m.cols {
		return m.columnGram()
	}
	a := make([]float64, len(m.a))
	for i, x := range m.a {
		a[i] = float64(x)
	}
	return rowProducts(a, m.rows)
}

// columnGram returns MᵀM, of the side of the columns, or what is above it: a large one is that plus a
// multiple of 1, so that the norms of its products are above those of MᵀM.
func (m *matrix) columnGram() []float64 {
	if m.gram == nil && m.rows*m.cols*m.cols > 1<<20 && m.frobenius() < math.Inf(1) {
		m.gram = m.largeGram()
	}
	if m.gram == nil {
		a := make([]float64, len(m.a))
		for i := range m.rows {
			for j, x := range m.a[i*m.cols : (i+1)*m.cols] {
				a[j*m.rows+i] = float64(x)
			}
		}
		m.gram = rowProducts(a, m.cols)
	}
	return m.gram
}

// rowProducts returns the products of all pairs of n rows.
func rowProducts(a []float64, n int) []float64 {
	g, k := make([]float64, n*n), len(a)/n
	row := func(i int) []float64 { return a[i*k : (i+1)*k] }
	for i := range n {
		j := i
		for ; j+4 <= n; j += 4 {
			g[i*n+j], g[i*n+j+1], g[i*n+j+2], g[i*n+j+3] = dot4(row(i), row(j), row(j+1), row(j+2), row(j+3))
		}
		for ; j < n; j++ {
			g[i*n+j], _, _, _ = dot4(row(i), row(j), row(j), row(j), row(j))
		}
	}
	for i := range n {
		for j := range i {
			g[i*n+j] = g[j*n+i]
		}
	}
	return g
}

// dot4 multiplies one row with four: four sums that do not wait for each other, and a load less.
func dot4(x, a, b, c, d []float64) (p, q, r, s float64) {
	a, b, c, d = a[:len(x)], b[:len(x)], c[:len(x)], d[:len(x)]
	for i, v := range x {
		p += v * a[i]
		q += v * b[i]
		r += v * c[i]
		s += v * d[i]
	}
	return p, q, r, s
}

// topEigenvalue returns an upper bound of the largest eigenvalue of a symmetric positive matrix of
// side n. The matrix is divided by its norm before every squaring, since powers overflow.
func topEigenvalue(g []float64, n, squarings int) float64 {
	log, power := 0.0, 1.0
	for range squarings {
		f := frobeniusOf(g)
		if f == 0 {
			return 0
		}
		log += math.Log(f) / power
		g = squareOf(g, n, f)
		power *= 2
	}
	f := math.Min(frobeniusOf(g), rowSum(g, n))
	if f == 0 {
		return 0
	}
	return math.Exp(log+math.Log(f)/power) * (1 + float64(n)*0x1p-48)
}

func frobeniusOf(g []float64) float64 {
	s := 0.0
	for _, x := range g {
		s += x * x
	}
	return math.Sqrt(s)
}

func rowSum(g []float64, n int) float64 {
	top := 0.0
	for i := range n {
		s := 0.0
		for _, x := range g[i*n : (i+1)*n] {
			s += math.Abs(x)
		}
		top = math.Max(top, s)
	}
	return top
}

// squareOf returns (g/f)² of a symmetric matrix: the products of its rows.
func squareOf(g []float64, n int, f float64) []float64 {
	h := make([]float64, n*n)
	for i, x := range g {
		h[i] = x / f
	}
	return rowProducts(h, n)
}

// productNorm bounds the spectral norm of AᵀB for two maps onto vectors of one length, given A Aᵀ
// and B Bᵀ on that side: its square is the top eigenvalue of their product, which has no negative
// ones, so the trace of a power bounds it.
func productNorm(g, h []float64, n int) float64 {
	p := multiply(g, h, n)
	log, power := 0.0, 1.0
	for range 4 {
		f := frobeniusOf(p)
		if f == 0 {
			return 0
		}
		log += math.Log(f) / power
		for i := range p {
			p[i] /= f
		}
		p = multiply(p, p, n)
		power *= 2
	}
	trace := 0.0
	for i := range n {
		trace += p[i*n+i]
	}
	if trace <= 0 {
		trace = frobeniusOf(p)
	}
	return math.Sqrt(math.Exp(log+math.Log(trace+float64(n)*0x1p-40*frobeniusOf(p))/power)) * (1 + float64(n)*0x1p-40)
}

func multiply(g, h []float64, n int) []float64 {
	out := make([]float64, n*n)
	for i := range n {
		row := out[i*n : (i+1)*n]
		for j := range n {
			x := g[i*n+j]
			for l, y := range h[j*n : (j+1)*n] {
				row[l] += x * y
			}
		}
	}
	return out
}
