//go:build !arm64

package kern

import (
	"math"
	"sync"
)

// wide holds the operands of a tile in float64: b in stripes of two columns, four rows of a side by
// side.
type wide struct {
	b [panelN / 2][BlockK * 2]float64
	a [BlockK * 4]float64
}

var wides = sync.Pool{New: func() any { return new(wide) }}

// multiplyGo is multiply for every processor.
func (t *tile) multiplyGo() {
	w := wides.Get().(*wide)
	defer wides.Put(w)
	w.loadB(t)
	depth := len(t.off)
	low := math.Inf(1)
	for j := 0; j < t.n; j += 2 {
		low = min(low, least(w.b[j/2][:2*depth]))
	}
	for i := 0; i < t.m; i += 4 {
		w.loadA(t, i)
		a := w.a[:4*depth]
		safe := least(a)*low >= safeProduct
		for j := 0; j < t.n; j += 2 {
			var s [8]float64
			b := w.b[j/2][:2*depth]
			if done := 0; safe {
				done = chains(a, b, &s)
				chainsChecked(a[4*done:], b[2*done:], &s)
			} else {
				chainsExact(a, b, &s)
			}
			t.put8(i, j, &s)
		}
	}
}

// put8 stores four rows of two sums, as far as they are in the tile.
func (t *tile) put8(i, j int, s *[8]float64) {
	for r := range min(4, t.m-i) {
		for c := range min(2, t.n-j) {
			t.put(i+r, j+c, float32(s[2*r+c]))
		}
	}
}

// loadB fills b; a column past the last is zero.
func (w *wide) loadB(t *tile) {
	for j := 0; j < t.n; j += 2 {
		dst := w.b[j/2][:]
		if j+1 == t.n {
			for k, at := range t.off {
				dst[2*k], dst[2*k+1] = float64(t.b[at+j]), 0
			}
			return
		}
		for k, at := range t.off {
			row := t.b[at+j:][:2]
			dst[2*k], dst[2*k+1] = float64(row[0]), float64(row[1])
		}
	}
}

// loadA fills a with rows i to i+3, those past the last with zeros.
func (w *wide) loadA(t *tile, i int) {
	if i+4 > t.m {
		clear(w.a[:])
	}
	for r := range min(4, t.m-i) {
		for k, v := range t.a[(i+r)*t.lda:][:len(t.off)] {
			w.a[4*k+r] = float64(v)
		}
	}
}

// chainsExact runs eight chains, four rows by two columns.
func chainsExact(a, b []float64, s *[8]float64) {
	for len(a) >= 4 && len(b) >= 2 {
		for i := range s {
			p := a[i/2] * b[i%2]
			s[i] = narrow(toOdd(s[i], p, s[i]+p))
		}
		a, b = a[4:], b[2:]
	}
}

// chainsChecked is chainsExact where no product is below safeProduct.
func chainsChecked(a, b []float64, s *[8]float64) {
	for len(a) >= 4 && len(b) >= 2 {
		for i, c := range s {
			p := a[i/2] * b[i%2]
			z := c + p
			if isTie(z) {
				z = toOdd(c, p, z)
			}
			s[i] = narrow(z)
		}
		a, b = a[4:], b[2:]
	}
}

// chains is chainsChecked as long as no sum is a tie. It returns how many rows of b it has done. To
// leave at the first tie keeps the loop free of calls, and so its numbers in registers.
func chains(a, b []float64, s *[8]float64) int {
	var c0, c1, d0, d1, e0, e1, f0, f1 float64
	done := 0
	for len(a) >= 4 && len(b) >= 2 {
		r0, r1 := c0+a[0]*b[0], c1+a[0]*b[1]
		s0, s1 := d0+a[1]*b[0], d1+a[1]*b[1]
		t0, t1 := e0+a[2]*b[0], e1+a[2]*b[1]
		u0, u1 := f0+a[3]*b[0], f1+a[3]*b[1]
		if isTie(r0) || isTie(r1) || isTie(s0) || isTie(s1) || isTie(t0) || isTie(t1) || isTie(u0) || isTie(u1) {
			break
		}
		c0, c1, d0, d1 = narrow(r0), narrow(r1), narrow(s0), narrow(s1)
		e0, e1, f0, f1 = narrow(t0), narrow(t1), narrow(u0), narrow(u1)
		a, b = a[4:], b[2:]
		done++
	}
	*s = [8]float64{c0, c1, d0, d1, e0, e1, f0, f1}
	return done
}

func narrow(x float64) float64 { return float64(float32(x)) }

// sweepFused runs chains of fused multiply-adds.
func sweepFused(dst, src []float32, off []int, w []float32) {
	clear(dst)
	for k, at := range off {
		x, row := float64(w[k]), src[at:][:len(dst)]
		for j, v := range row {
			p, c := x*float64(v), float64(dst[j])
			s := c + p
			if isTie(s) || isTiny(s) {
				s = toOdd(c, p, s)
			}
			dst[j] = float32(s)
		}
	}
}

// isTie tells whether a float64 lies halfway between two float32 numbers that are not subnormal. Of
// sums of such size only these may be rounded wrongly by rounding twice: any other lies on the
// same side of the halfway point before and after it is rounded to float64.
func isTie(s float64) bool { return uint32(math.Float64bits(s))<<3 == 1<<31 }

// isTiny tells whether a sum is below the least normal float32, but not 0. The subtraction makes 0
// the greatest.
func isTiny(s float64) bool {
	const normal = (1023 - 126) << 53
	return math.Float64bits(s)<<1-1 < normal-1
}

// safeProduct bounds products from below. If each is at least so large or 0, all bits of a sum
// below the least normal float32 lie within the 53 of a float64, so that it is exact and rounded
// only once: the product ends above 2^-179, a factor of 2^53 below 2^-126.
const safeProduct = 0x1p-131

// least returns the least magnitude of x that is not zero, +Inf if there is none.
func least(x []float64) float64 {
	m := math.Inf(1)
	for _, v := range x {
		if a := math.Abs(v); a < m && a != 0 {
			m = a
		}
	}
	return m
}
