package refeval

import "github.com/amplint/amplint/refeval/kern"

// factor is the transpose of weights, n rows of k, by which the state of every step is multiplied. To lay it out
// takes the kernels longer than a product with one state does, so that it is done once for all steps.
type factor[T floating] struct {
	c      *Call
	w      []T
	n, k   int
	packed *kern.Packed // for sums in float32
	rows   []float32    // for sums that are rounded on the way
}

// newFactor lays out weights for so many products.
func newFactor[T floating](c *Call, w []T, n, k, products int) factor[T] {
	f := factor[T]{c: c, w: w, n: n, k: k}
	x, single := any(w).([]float32)
	switch {
	case !single || products < 2:
	case c.accum().low():
		f.rows = make([]float32, len(x))
		for j := range n {
			for p, v := range x[j*k : (j+1)*k] {
				f.rows[p*n+j] = v
			}
		}
	default:
		f.packed = kern.Pack(kern.Matrix{X: x, Row: 1, Col: k}, k, n)
	}
	return f
}

// times sets dst to the product of x, m rows, with the factor.
func (f *factor[T]) times(dst, x []T, m int) {
	to, _ := any(dst).([]float32)
	from, _ := any(x).([]float32)
	switch {
	case f.packed != nil:
		f.c.engine().GemmPacked(to, f.n, kern.Rows(from, f.k), f.packed, m, false)
	case f.rows != nil:
		f.c.gemm(to, matrix{from, f.k, 1}, matrix{f.rows, f.n, 1}, m, f.n, f.k)
	default:
		timesTurned(f.c, dst, x, f.w, m, f.n, f.k)
	}
}
