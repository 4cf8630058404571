//go:build amd64 && !noasm

package kern

import (
	"slices"
	"sync"

	"golang.org/x/sys/cpu"

	"github.com/amplint/amplint/numfmt"
)

// supported is the highest level this processor has.
var supported = sync.OnceValue(func() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA || !x.HasF16C:
		return Go
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL:
		return AVX512
	}
	return AVX2
})

// Each of the following does as much from the front as the level has assembly for, and returns how
// much that was.

func (l Level) sweep(s Sum, dst, src []float32, off []int, w []float32) int {
	n := len(dst) &^ 15
	if l == Go || n == 0 || len(off) == 0 {
		return 0
	}
	d, x, o, f, k := &dst[0], &src[0], &off[0], &w[0], len(off)
	wide := l == AVX512
	switch {
	case !s.low():
		sweepFusedAsm(wide, n, d, x, o, f, k)
	case s.Format == numfmt.FP16:
		sweepFP16Asm(wide, s.Flush, n, d, x, o, f, k)
	case s.Format == numfmt.BF16:
		sweepBF16Asm(wide, s.Flush, n, d, x, o, f, k)
	default:
		return 0
	}
	return n
}

func sweepFusedAsm(wide bool, n int, dst, src *float32, off *int, w *float32, k int) {
	if wide {
		sweepFusedAVX512(n, dst, src, off, w, k)
	} else {
		sweepFusedAVX2(n, dst, src, off, w, k)
	}
}

func sweepFP16Asm(wide, flush bool, n int, dst, src *float32, off *int, w *float32, k int) {
	switch {
	case wide && flush:
		sweepFP16FlushAVX512(n, dst, src, off, w, k)
	case wide:
		sweepFP16AVX512(n, dst, src, off, w, k)
	case flush:
		sweepFP16FlushAVX2(n, dst, src, off, w, k)
	default:
		sweepFP16AVX2(n, dst, src, off, w, k)
	}
}

func sweepBF16Asm(wide, flush bool, n int, dst, src *float32, off *int, w *float32, k int) {
	switch {
	case wide && flush:
		sweepBF16FlushAVX512(n, dst, src, off, w, k)
	case wide:
		sweepBF16AVX512(n, dst, src, off, w, k)
	case flush:
		sweepBF16FlushAVX2(n, dst, src, off, w, k)
	default:
		sweepBF16AVX2(n, dst, src, off, w, k)
	}
}

// asmLen is how many of n numbers are done by kernels that take a multiple of step.
func (l Level) asmLen(n, step int) int {
	if l == Go {
		return 0
	}
	return n &^ (step - 1)
}

func (l Level) round(f numfmt.Format, flush bool, x []float32) int {
	n := l.asmLen(len(x), 8)
	switch {
	case n == 0:
	case f == numfmt.FP16 && flush:
		roundFP16Flush(n, &x[0])
	case f == numfmt.FP16:
		roundFP16(n, &x[0])
	case f == numfmt.BF16 && flush:
		roundBF16Flush(n, &x[0])
	case f == numfmt.BF16:
		roundBF16(n, &x[0])
	default:
		return 0
	}
	return n
}

func (l Level) binary(o op, dst, x, y []float32) int {
	n := l.asmLen(len(dst), 8)
	if n == 0 {
		return 0
	}
	x, y = x[:n], y[:n]
	switch o {
	case opAdd:
		addAVX2(n, &dst[0], &x[0], &y[0])
	case opSub:
		subAVX2(n, &dst[0], &x[0], &y[0])
	case opMul:
		mulAVX2(n, &dst[0], &x[0], &y[0])
	case opDiv:
		divAVX2(n, &dst[0], &x[0], &y[0])
	}
	return n
}

func (l Level) scalar(o op, dst, x []float32, y float32) int {
	n := l.asmLen(len(dst), 8)
	if n == 0 {
		return 0
	}
	x = x[:n]
	switch o {
	case opAdd:
		addScalarAVX2(n, &dst[0], &x[0], y)
	case opSub:
		subScalarAVX2(n, &dst[0], &x[0], y)
	case opMul:
		mulScalarAVX2(n, &dst[0], &x[0], y)
	case opDiv:
		divScalarAVX2(n, &dst[0], &x[0], y)
	}
	return n
}

func (l Level) sigmoid(dst, x []float32) int {
	n := l.asmLen(len(dst), 8)
	if n > 0 {
		x = x[:n]
		sigmoidAVX2(n, &dst[0], &x[0])
	}
	return n
}

func (l Level) normalize(dst, x, scale, bias []float32, mean, inv float32) int {
	n := l.asmLen(len(dst), 8)
	if n > 0 {
		x, scale, bias = x[:n], scale[:n], bias[:n]
		normalizeAVX2(n, &dst[0], &x[0], &scale[0], &bias[0], mean, inv)
	}
	return n
}

func (l Level) clip(dst, x []float32, lo, hi float32) int {
	n := l.asmLen(len(dst), 8)
	if n > 0 {
		x = x[:n]
		clipAVX2(n, &dst[0], &x[0], lo, hi)
	}
	return n
}

func (l Level) exp(dst, x []float32, m float32) int {
	n := l.asmLen(len(dst), 8)
	if n > 0 {
		x = x[:n]
		expAVX2(n, &dst[0], &x[0], m)
	}
	return n
}

func (l Level) rational(f *form, dst, x []float32) int {
	n := l.asmLen(len(dst), 16)
	if n > 0 {
		x = x[:n]
		rationalAVX2(n, &dst[0], &x[0], &f.bound)
	}
	return n
}

func (l Level) sum(s *lanes, x []float32) int {
	n := l.asmLen(len(x), Lanes)
	if n > 0 {
		sumAVX2(n, (*[Lanes]float32)(s), &x[0])
	}
	return n
}

func (l Level) squares(s *lanes, x []float32, m float32) int {
	n := l.asmLen(len(x), Lanes)
	if n > 0 {
		squaresAVX2(n, (*[Lanes]float32)(s), &x[0], m)
	}
	return n
}

func (l Level) max(s *lanes, x []float32) int {
	n := l.asmLen(len(x), Lanes)
	if n > 0 {
		maxAVX2(n, (*[Lanes]float32)(s), &x[0])
	}
	return n
}

func (l Level) total(s *lanes) float32 {
	if l == Go {
		return s.total()
	}
	return totalAVX2((*[Lanes]float32)(s))
}

func (l Level) top(s *lanes) float32 {
	if l == Go {
		return s.top()
	}
	return topAVX2((*[Lanes]float32)(s))
}

func (l Level) dots(lo, hi, total, w []float64, mid, rad float64) int {
	n := l.asmLen(len(w), 4)
	if n > 0 {
		dotsAVX2(n, &lo[:n][0], &hi[:n][0], &total[:n][0], &w[0], mid, rad)
	}
	return n
}

func (l Level) extremes(lo, hi, x []float64) int {
	n := l.asmLen(len(x), 4)
	if n > 0 {
		extremesAVX2(n, &lo[:n][0], &hi[:n][0], &x[0])
	}
	return n
}

func (l Level) dotRows(s *RowSums, x []float32, mid, rad, reach []float64) int {
	n := l.asmLen(len(s.Mids), 8)
	if n > 0 {
		rows := len(mid)
		dotRowsAVX2(n, rows, 4*len(s.Mids), &s.Mids[0], &s.Rads[:n][0], &s.Reaches[:n][0], &x[0], &mid[0], &rad[:rows][0], &reach[:rows][0])
	}
	return n
}

func (l Level) extremeRows(lo, hi, x []float32) int {
	n := l.asmLen(len(lo), 8)
	if n > 0 {
		extremeRowsAVX2(n, len(x)/len(lo), 4*len(lo), &lo[0], &hi[:n][0], &x[0])
	}
	return n
}

func (l Level) doubles(dst []float64, x []float32) int {
	n := l.asmLen(len(x), 8)
	if n > 0 {
		doublesAVX2(n, &dst[:n][0], &x[0])
	}
	return n
}

func (l Level) least(least float64, x []float64) (low float64, nan bool, n int) {
	if n = l.asmLen(len(x), 4); n == 0 {
		return least, false, 0
	}
	lanes, marks := [4]float64{least, least, least, least}, [4]uint64{}
	leastAVX2(n, &x[0], &lanes, &marks)
	return slices.Min(lanes[:]), marks != [4]uint64{}, n
}
