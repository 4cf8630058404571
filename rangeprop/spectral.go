package rangeprop

import (
	"math"
	"sync"

	"github.com/amplint/amplint/refeval/kern"
)

// Spectral norms of large matrices are computed in float32 by the kernels of the evaluator, some
// twenty times as fast as float64 in Go. What the kernels may have lost is added: a computed product
// of A and B is off by at most γ‖a_i‖‖b_j‖ in element i, j, so in norm by at most γ‖A‖‖B‖ of
// Frobenius. The kernels give the same bits on every processor, and so does this.

// engine is the one set of threads of all analyses. It is made once and never changed.
var engine = sync.OnceValue(func() *kern.Engine { return kern.New(0) })

// largeNorm is an upper bound of the spectral norm: the root of that of the Gram matrix on the short
// side.
func (m *matrix) largeNorm() float64 {
	x, k := normalised(m.a)
	n, depth := m.rows, m.cols
	a, b := kern.Rows(x, m.cols), kern.Rows(transposed(x, m.rows, m.cols), m.rows)
	if m.cols < m.rows {
		n, depth, a, b = m.cols, m.rows, b, a
	}
	return k * rootOf(normOf(symmetric(a, b, n, depth), n, 2), frobenius32(x), n, depth)
}

// largeGram returns MᵀM computed by the kernels, with what they may have lost of it added to the diagonal.
func (m *matrix) largeGram() []float64 {
	x, k := normalised(m.a)
	n := m.cols
	g := symmetric(kern.Rows(transposed(x, m.rows, n), m.rows), kern.Rows(x, n), n, m.rows)
	lost := lostOf(frobenius32(x), n, m.rows)
	out := make([]float64, n*n)
	for i, e := range g {
		if i%(n+1) == 0 {
			out[i] = lost
		}
		out[i] = (out[i] + float64(e)) * k * k
	}
	return out
}

// normOf bounds the spectral norm of a square matrix that is symmetric: after some squarings by the
// smaller of its Frobenius norm and its greatest row sum.
func normOf(g []float32, n, squarings int) float64 {
	f := frobenius32(g)
	if squarings == 0 || f == 0 {
		return math.Min(f, rowSum32(g, n)) * (1 + 1e-9)
	}
	x, k := normalised(g)
	h := symmetric(kern.Rows(x, n), kern.Rows(x, n), n, n)
	return k * rootOf(normOf(h, n, squarings-1), f/k, n, n)
}

// symmetric multiplies a, n rows, with b, where the product is known to be symmetric: half of it is
// computed.
func symmetric(a, b kern.Matrix, n, depth int) []float32 {
	g := make([]float32, n*n)
	upperHalf(g, n, a, b, n, depth)
	for i := range n {
		for j := range i {
			g[i*n+j] = g[j*n+i]
		}
	}
	return g
}

// upperHalf sets what lies on and above the diagonal of a product, and some of what lies below: the
// upper right quarter, and both on the diagonal likewise while they are large enough for the kernels.
func upperHalf(c []float32, ldc int, a, b kern.Matrix, n, depth int) {
	h := (n/2 + 31) / 32 * 32
	if n < 192 {
		engine().Gemm(c, ldc, a, b, n, n, depth, false)
		return
	}
	right, below := b, a
	right.X, below.X = b.X[h*b.Col:], a.X[h*a.Row:]
	engine().Gemm(c[h:], ldc, a, right, h, n-h, depth, false)
	upperHalf(c, ldc, a, b, h, depth)
	upperHalf(c[h*ldc+h:], ldc, below, right, n-h, depth)
}

// transposed returns a matrix with rows and columns exchanged, block by block for the cache's sake.
func transposed(x []float32, rows, cols int) []float32 {
	const block = 32
	y := make([]float32, len(x))
	for i0 := 0; i0 < rows; i0 += block {
		for j0 := 0; j0 < cols; j0 += block {
			for i := i0; i < min(i0+block, rows); i++ {
				for j, v := range x[i*cols+j0 : i*cols+min(j0+block, cols)] {
					y[(j0+j)*rows+i] = v
				}
			}
		}
	}
	return y
}

// rootOf turns the norm of a computed product of a matrix with itself into a bound of its own. f is
// its Frobenius norm and depth the length of the sums; the last term is what numbers below the least
// normal one lose.
func rootOf(norm, f float64, n, depth int) float64 {
	return (math.Sqrt(norm+lostOf(f, n, depth)) + math.Sqrt(float64(n)*float64(depth))*0x1p-148) * (1 + 1e-9)
}

// lostOf bounds the norm of what the kernels lose of the product of a matrix with itself.
func lostOf(f float64, n, depth int) float64 {
	return sumSteps(depth)*0x1.01p-24*f*f + float64(n)*float64(depth)*0x1p-147
}

// sumSteps is the number of roundings that a term of a sum goes through in the kernels.
func sumSteps(depth int) float64 {
	return float64(min(depth, kern.BlockK) + (depth+kern.BlockK-1)/kern.BlockK + 2)
}

// normalised returns numbers that can be squared and summed in float32, and the power of two that
// they were divided by.
func normalised(a []float32) (x []float32, k float64) {
	high := uint32(0) // magnitudes are ordered as their bits are
	for _, v := range a {
		high = max(high, math.Float32bits(v)&^(1<<31))
	}
	top := math.Float32frombits(high)
	if top == 0 || top > 0x1p-20 && top < 0x1p20 {
		return a, 1
	}
	_, e := math.Frexp(float64(top))
	x = make([]float32, len(a))
	for i, v := range a {
		x[i] = float32(math.Ldexp(float64(v), -e))
	}
	return x, math.Ldexp(1, e)
}

func frobenius32(a []float32) float64 {
	s := 0.0
	for _, x := range a {
		s += float64(x) * float64(x)
	}
	return math.Sqrt(s) * (1 + 1e-9)
}

func rowSum32(g []float32, n int) float64 {
	top := 0.0
	for i := range n {
		s := 0.0
		for _, x := range g[i*n : (i+1)*n] {
			s += math.Abs(float64(x))
		}
		top = math.Max(top, s)
	}
	return top
}
