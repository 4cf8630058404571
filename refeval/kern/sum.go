package kern

import "github.com/amplint/amplint/numfmt"

// Sum says how a sum of products is rounded on its way. The zero value, and any with FP32 or FP64,
// is the chain of fused multiply-adds. In other formats each product is rounded to float32 and to
// the format, then each partial sum likewise, one after the other in the order of k. For operands
// of FP16 and BF16 that is what a multiplication and an addition in the format give.
type Sum struct {
	Format numfmt.Format
	// Block, if it is not 0, is how many terms are added before another partial sum is begun.
	// Partial sums are rounded as above within the block, and then added in order, each sum rounded.
	Block int
	// Flush turns subnormals of the format to zero wherever a number is rounded.
	Flush bool
}

// low tells whether partial sums are rounded to a format narrower than float32.
func (s Sum) low() bool {
	return s.Format != numfmt.Invalid && s.Format != numfmt.FP32 && s.Format != numfmt.FP64
}

// GemmSum is Gemm whose sums are rounded as s says. It does not add to c.
func (e *Engine) GemmSum(s Sum, c []float32, ldc int, a, b Matrix, m, n, k int) {
	switch {
	case !s.low():
		e.Gemm(c, ldc, a, b, m, n, k, false)
		return
	case m == 0 || n == 0:
		return
	}
	if k == 0 {
		(&gemm{c: c, ldc: ldc, m: m, n: n}).zero()
		return
	}
	x, px := rowMajor(a, m, k)
	y, py := rowMajor(b, k, n)
	main := strip{x: y.X, off: evenly(k, y.Row), n: n &^ 15}
	rest, pr := newStrip(y, main.n, n, k)
	e.Parallel(m, 1, n*k, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			w, row := x.X[i*x.Row:][:k], c[i*ldc:][:n]
			e.sweep(s, row[:main.n], main.x, main.off, w)
			var last [stripN]float32
			if rest.n > 0 {
				e.sweep(s, last[:], rest.x, rest.off, w)
				copy(row[main.n:], last[:])
			}
		}
	})
	release(px, py, pr)
}

// strip is some columns of a matrix, whose rows are found by offsets.
type strip struct {
	x   []float32
	off []int
	n   int
}

// stripN is a number of columns that every kernel can take.
const stripN = 16

// newStrip copies columns from to n of k rows, fewer than stripN, to a strip that is filled up with
// zeros.
func newStrip(b Matrix, from, n, k int) (strip, *[]float32) {
	if from == n {
		return strip{}, nil
	}
	p := getFloats(k * stripN)
	clear(*p)
	for i := range k {
		copy((*p)[i*stripN:], b.X[i*b.Row+from:i*b.Row+n])
	}
	return strip{x: *p, off: evenly(k, stripN), n: n - from}, p
}

// evenly returns the offsets of k rows a stride apart.
func evenly(k, stride int) []int {
	off := make([]int, k)
	for i := range off {
		off[i] = i * stride
	}
	return off
}

// rowMajor returns the matrix itself if its columns are next to each other, else a copy to release.
func rowMajor(x Matrix, m, n int) (Matrix, *[]float32) {
	if x.Col == 1 {
		return x, nil
	}
	p := getFloats(m * n)
	copyMatrix(*p, x, m, n)
	return Rows(*p, n), p
}

func release(list ...*[]float32) {
	for _, p := range list {
		if p != nil {
			putFloats(p)
		}
	}
}

// sweep sets dst[j] to the sum over k of w[k] * src[off[k]+j].
func (e *Engine) sweep(s Sum, dst, src []float32, off []int, w []float32) {
	block := BlockK
	if s.low() {
		if block = s.Block; block <= 0 || block >= len(w) {
			e.sweepBlock(s, dst, src, off, w)
			return
		}
	}
	if len(w) <= block {
		e.sweepBlock(s, dst, src, off, w)
		return
	}
	part := getFloats(len(dst))
	defer putFloats(part)
	for k := 0; k < len(w); k += block {
		to := min(k+block, len(w))
		if k == 0 {
			e.sweepBlock(s, dst, src, off[:to], w[:to])
			continue
		}
		e.sweepBlock(s, *part, src, off[k:to], w[k:to])
		addGo(dst, dst, *part)
		if s.low() {
			e.round(s.Format, s.Flush, dst)
		}
	}
}

// sweepBlock is sweep without partial sums.
func (e *Engine) sweepBlock(s Sum, dst, src []float32, off []int, w []float32) {
	done := e.level.sweep(s, dst, src, off, w)
	if done == len(dst) {
		return
	}
	dst, src = dst[done:], src[done:]
	if !s.low() {
		sweepFused(dst, src, off, w)
		return
	}
	sweepLow(s, dst, src, off, w)
}

// lowColumns is how many columns are rounded at a time.
const lowColumns = 256

// sweepLow rounds each product and each sum.
func sweepLow(s Sum, dst, src []float32, off []int, w []float32) {
	var tmp [lowColumns]float32
	for j := 0; j < len(dst); j += lowColumns {
		d := dst[j:min(j+lowColumns, len(dst))]
		p := tmp[:len(d)]
		clear(d)
		for k, at := range off {
			x, row := w[k], src[at+j:][:len(d)]
			for i, v := range row {
				p[i] = x * v
			}
			roundGo(s.Format, s.Flush, p)
			for i, v := range p {
				d[i] += v
			}
			roundGo(s.Format, s.Flush, d)
		}
	}
}
