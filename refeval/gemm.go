package refeval

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval/kern"
)

// matrix is a view of numbers as rows and columns, each a stride apart: transposing one swaps the
// strides.
type matrix struct {
	x        []float32
	row, col int
}

func (m matrix) kern() kern.Matrix { return kern.Matrix{X: m.x, Row: m.row, Col: m.col} }

// gemm sets dst, m rows of n in row-major order, to the product of a (m by k) and b (k by n).
func (c *Call) gemm(dst []float32, a, b matrix, m, n, k int) {
	c.engine().GemmSum(c.accum().products(), dst, n, a.kern(), b.kern(), m, n, k)
}

// products says how the kernels round sums of products.
func (a accum) products() kern.Sum {
	if !a.low() {
		return kern.Sum{}
	}
	return kern.Sum{Format: a.format, Block: a.block, Flush: a.flush}
}

// gemm64 is gemm in double, gemmInt in wrapping integers; both add to dst.
func gemm64(dst, a, b []float64, m, n, k int) { gemmOf(dst, a, b, m, n, k) }
func gemmInt(dst, a, b []int64, m, n, k int)  { gemmOf(dst, a, b, m, n, k) }

func gemmOf[T float64 | int64](dst, a, b []T, m, n, k int) {
	for i := range m {
		row := dst[i*n : (i+1)*n]
		for p := range k {
			x, from := a[i*k+p], b[p*n:(p+1)*n]
			for j, v := range from {
				row[j] += x * v
			}
		}
	}
}

// matmulOf multiplies two matrices of one type, in row-major order, into dst of that type.
func (c *Call) matmulOf(dst *Tensor, d int, x *Tensor, i int, y *Tensor, j, m, n, k int) {
	c.matmulOn(c.engine(), dst, d, x, i, y, j, m, n, k)
}

// matmulOn is matmulOf on an engine.
func (c *Call) matmulOn(e *kern.Engine, dst *Tensor, d int, x *Tensor, i int, y *Tensor, j, m, n, k int) {
	switch storeOf(dst.Elem) {
	case storeF:
		a, b := kern.Rows(x.F[i:i+m*k], k), kern.Rows(y.F[j:j+k*n], n)
		e.GemmSum(c.accum().products(), dst.F[d:d+m*n], n, a, b, m, n, k)
	case storeD:
		gemm64(dst.D[d:d+m*n], x.D[i:i+m*k], y.D[j:j+k*n], m, n, k)
	case storeI:
		to, a, b := dst.I[d:d+m*n], x.I[i:i+m*k], y.I[j:j+k*n]
		if !gemmSmall(e, to, a, b, m, n, k) {
			gemmInt(to, a, b, m, n, k)
		}
		wrapAll(dst.I[d:d+m*n], dst.Elem)
	default:
		refuse("no products of %s", dst.Elem)
	}
}

// places are where the operands of a product in a stack begin.
type places struct{ x, y int }

// multiply sets dst to the products of matrices one after the other. Many small ones are computed at
// the same time, few large ones each by all threads.
func (c *Call) multiply(dst, x, y *Tensor, list []places, m, n, k int) {
	e := c.engine()
	if len(list) < e.Threads() {
		for i, at := range list {
			c.matmulOn(e, dst, i*m*n, x, at.x, y, at.y, m, n, k)
		}
		return
	}
	c.parallel(len(list), m*n*k/8, func(lo, hi int) {
		s := e.Serial()
		for i := lo; i < hi; i++ {
			c.matmulOn(s, dst, i*m*n, x, list[i].x, y, list[i].y, m, n, k)
		}
	})
}

// sameType refuses inputs of different element types.
func sameType(x, y *Tensor) graph.ElemType {
	if x.Elem != y.Elem {
		refuse("inputs of types %s and %s", x.Elem, y.Elem)
	}
	return x.Elem
}
