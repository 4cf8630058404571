package kern

import (
	"math"
	"sync"
)

// tile is the product of m rows of a with a panel of b of at most BlockK rows: row k of it is
// panelN numbers at off[k] in b, of which n count. It is set in c, or added to it.
type tile struct {
	a   []float32
	lda int
	m   int
	b   []float32
	off []int
	c   []float32
	ldc int
	n   int
	add bool
}

// panelRows are the offsets of the rows of a packed panel.
var panelRows = sync.OnceValue(func() []int {
	t := make([]int, BlockK)
	for i := range t {
		t[i] = i * panelN
	}
	return t
})

// put stores a chain's sum.
func (t *tile) put(i, j int, s float32) {
	at := i*t.ldc + j
	if t.add {
		s += t.c[at]
	}
	t.c[at] = s
}

// wide holds the operands of a tile in float64: b in stripes of four columns, two rows of a in
// pairs.
type wide struct {
	b [panelN / 4][BlockK * 4]float64
	a [BlockK * 2]float64
}

var wides = sync.Pool{New: func() any { return new(wide) }}

// multiplyGo is multiply for every processor.
func (t *tile) multiplyGo() {
	w := wides.Get().(*wide)
	defer wides.Put(w)
	low := w.loadB(t)
	depth := len(t.off)
	for i := 0; i < t.m; i += 2 {
		w.loadA(t, i)
		chains := chains2x4
		if least(w.a[:2*depth])*low < safeProduct {
			chains = chainsExact
		}
		for j := 0; j < t.n; j += 4 {
			var s [8]float64
			chains(w.a[:2*depth], w.b[j/4][:4*depth], &s)
			t.put8(i, j, &s)
		}
	}
}

// put8 stores two rows of four sums, as far as they are in the tile.
func (t *tile) put8(i, j int, s *[8]float64) {
	for r := range min(2, t.m-i) {
		for c := range min(4, t.n-j) {
			t.put(i+r, j+c, float32(s[4*r+c]))
		}
	}
}

// loadB fills b and returns its least magnitude.
func (w *wide) loadB(t *tile) float64 {
	low := math.Inf(1)
	for k, at := range t.off {
		for j, v := range t.b[at:][:t.n] {
			x := float64(v)
			w.b[j/4][4*k+j%4] = x
			if x = math.Abs(x); x < low && x != 0 {
				low = x
			}
		}
	}
	return low
}

// loadA fills a with rows i and i+1, the latter with zeros if there is none.
func (w *wide) loadA(t *tile, i int) {
	for k, v := range t.a[i*t.lda:][:len(t.off)] {
		w.a[2*k], w.a[2*k+1] = float64(v), 0
	}
	if i+1 < t.m {
		for k, v := range t.a[(i+1)*t.lda:][:len(t.off)] {
			w.a[2*k+1] = float64(v)
		}
	}
}

// chainsExact runs eight chains, two rows by four columns.
func chainsExact(a, b []float64, s *[8]float64) {
	for len(a) >= 2 && len(b) >= 4 {
		for i := range s {
			p := a[i/4] * b[i%4]
			s[i] = float64(float32(toOdd(s[i], p, s[i]+p)))
		}
		a, b = a[2:], b[4:]
	}
}

// chains2x4 is chainsExact where no product is below safeProduct. It takes as it is a sum that is
// rounded rightly anyway.
func chains2x4(a, b []float64, s *[8]float64) {
	var c0, c1, c2, c3, d0, d1, d2, d3 float64
	for len(a) >= 2 && len(b) >= 4 {
		x, y := a[0], a[1]
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		s0, s1, s2, s3 := c0+x*b0, c1+x*b1, c2+x*b2, c3+x*b3
		t0, t1, t2, t3 := d0+y*b0, d1+y*b1, d2+y*b2, d3+y*b3
		if isTie(s0) {
			s0 = toOdd(c0, x*b0, s0)
		}
		if isTie(s1) {
			s1 = toOdd(c1, x*b1, s1)
		}
		if isTie(s2) {
			s2 = toOdd(c2, x*b2, s2)
		}
		if isTie(s3) {
			s3 = toOdd(c3, x*b3, s3)
		}
		if isTie(t0) {
			t0 = toOdd(d0, y*b0, t0)
		}
		if isTie(t1) {
			t1 = toOdd(d1, y*b1, t1)
		}
		if isTie(t2) {
			t2 = toOdd(d2, y*b2, t2)
		}
		if isTie(t3) {
			t3 = toOdd(d3, y*b3, t3)
		}
		c0, c1, c2, c3 = narrow(s0), narrow(s1), narrow(s2), narrow(s3)
		d0, d1, d2, d3 = narrow(t0), narrow(t1), narrow(t2), narrow(t3)
		a, b = a[2:], b[4:]
	}
	*s = [8]float64{c0, c1, c2, c3, d0, d1, d2, d3}
}

func narrow(x float64) float64 { return float64(float32(x)) }
