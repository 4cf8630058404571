package refeval

import "github.com/amplint/amplint/graph"

// matrix is a view of numbers as rows and columns, each a stride apart: transposing one swaps the
// strides.
type matrix struct {
	x        []float32
	row, col int
}

// at returns the element of a row and a column.
func (m matrix) at(i, j int) float32 { return m.x[i*m.row+j*m.col] }

// gemm sets dst, m rows of n in row-major order, to the product of a (m by k) and b (k by n). It is
// the one place where products of matrices and convolutions do their work.
func (c *Call) gemm(dst []float32, a, b matrix, m, n, k int) {
	acc := c.accum()
	c.parallel(m, n*k, func(lo, hi int) {
		row := make([]float32, n)
		for i := lo; i < hi; i++ {
			acc.rowTimes(dst[i*n:(i+1)*n], row, a, b, i, k)
		}
	})
}

// rowTimes sets dst to row i of a times b. Columns side by side share the rounding of a partial
// product, which is what makes rounding affordable.
func (acc accum) rowTimes(dst, tmp []float32, a, b matrix, i, k int) {
	block := k
	if acc.low() && acc.block > 0 {
		block = acc.block
	}
	clear(dst)
	part := dst
	if block < k {
		part = make([]float32, len(dst))
	}
	for p := 0; p < k; p++ {
		acc.addRow(part, tmp, a.at(i, p), b, p)
		if block < k && (p+1)%block == 0 || block < k && p == k-1 {
			for j, v := range part {
				dst[j] += v
			}
			acc.roundAll(dst)
			clear(part)
		}
	}
}

// addRow adds x times row p of b to dst. The conversion keeps product and sum from being fused.
func (acc accum) addRow(dst, tmp []float32, x float32, b matrix, p int) {
	at := p * b.row
	if !acc.low() {
		for j := range dst {
			dst[j] += float32(x * b.x[at])
			at += b.col
		}
		return
	}
	for j := range tmp {
		tmp[j] = x * b.x[at]
		at += b.col
	}
	acc.roundAll(tmp)
	for j, v := range tmp {
		dst[j] += v
	}
	acc.roundAll(dst)
}

// gemm64 is gemm in double, gemmInt in wrapping integers.
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
	switch storeOf(dst.Elem) {
	case storeF:
		c.gemm(dst.F[d:d+m*n], matrix{x.F[i : i+m*k], k, 1}, matrix{y.F[j : j+k*n], n, 1}, m, n, k)
	case storeD:
		gemm64(dst.D[d:d+m*n], x.D[i:i+m*k], y.D[j:j+k*n], m, n, k)
	case storeI:
		gemmInt(dst.I[d:d+m*n], x.I[i:i+m*k], y.I[j:j+k*n], m, n, k)
		wrapAll(dst.I[d:d+m*n], dst.Elem)
	default:
		refuse("no products of %s", dst.Elem)
	}
}

// sameType refuses inputs of different element types.
func sameType(x, y *Tensor) graph.ElemType {
	if x.Elem != y.Elem {
		refuse("inputs of types %s and %s", x.Elem, y.Elem)
	}
	return x.Elem
}
