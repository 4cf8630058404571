package rangeprop

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// bends are functions with a bend at 0, with their own bounds over an interval.
func bends() map[string]func(x Range) Range {
	rising := func(f func(float64) float64) func(x Range) Range { return monotone(f) }
	return map[string]func(x Range) Range{
		"relu":  rising(func(x float64) float64 { return math.Max(x, 0) }),
		"leaky": rising(func(x float64) float64 { return math.Max(x, x/4) }),
		"gelu":  valley(gelu, geluLeast),
		"silu":  valley(func(x float64) float64 { return x * logistic(x) }, -1.2784645),
		"down":  func(x Range) Range { return neg(Range{math.Max(x.Lo, 0), math.Max(x.Hi, 0)}) },
		"tanh":  tanh,
	}
}

// piecesOf carries a function over the pieces of a range.
func piecesOf(f func(Range) Range, r Range) *pieces {
	p := &pieces{seed: cutUp(r, 1e-45)}
	p.v = map1(p.seed, f)
	return p
}

// TestKink: the function stays where its bend says.
func TestKink(t *testing.T) {
	for name, f := range bends() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				r := Range{-rapid.Float64Range(0.01, 60).Draw(rt, "lo"), rapid.Float64Range(0.01, 60).Draw(rt, "hi")}
				k, ok := piecesOf(f, r).kink()
				if !ok {
					return
				}
				for range 20 {
					y := rapid.Float64Range(r.Lo, r.Hi).Draw(rt, "y")
					off := f(Range{y, y}).Lo - k.slope*y
					if e := 1e-12 * math.Abs(y); off < -k.below-e || off > k.more*math.Abs(y)+k.above+e {
						rt.Fatalf("f(%v) is %v off its slope, bounded by %+v", y, off, k)
					}
				}
			})
		})
	}
}

// TestKinkFound: rectifiers have a bend of a half on a half, and what bends otherwise has none.
func TestKinkFound(t *testing.T) {
	for name, want := range map[string]bool{"relu": true, "gelu": true, "silu": true, "leaky": true, "down": false, "tanh": false} {
		k, ok := piecesOf(bends()[name], Range{-50, 40}).kink()
		if ok != want || ok && name != "leaky" && (math.Abs(k.slope-0.5) > 0.01 || math.Abs(k.more-0.5) > 0.01) {
			t.Errorf("%s: %+v, %v", name, k, ok)
		}
	}
}

// kink is that of a function over all that a ball's elements can be.
func (b *ball) kink(f func(Range) Range) (k kink, ok bool) {
	reach := b.norm()
	if reach == 0 {
		return k, false
	}
	return piecesOf(f, Range{-reach, reach}).kink()
}

// TestBent: sums of a function of a ball's elements stay between the bounds, for units along the weights
// and along those that the function lets through.
func TestBent(t *testing.T) {
	for name, f := range bends() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				b := drawBall(rt, 6, rapid.SampledFrom([]int{1, 1, 2}).Draw(rt, "groups"), rapid.SampledFrom([]int{0, 1, 3, 5}).Draw(rt, "rows"))
				w := drawMatrix(rt, 6, rapid.IntRange(1, 4).Draw(rt, "columns"))
				k, ok := b.kink(f)
				if !ok {
					return
				}
				lo, hi := b.bent(k, w)
				for j := range w.cols {
					weights := columnOf(w, j)
					let := make([]float64, len(weights))
					for i, x := range weights {
						let[i] = math.Max(x, 0)
					}
					for _, x := range append(b.vectors(rt, weights), b.vectors(rt, let)...) {
						sum := 0.0
						for i, y := range x {
							sum += weights[i] * f(Range{y, y}).Lo
						}
						if e := 1e-6 * (1 + math.Abs(sum)); sum < lo[j]-e || sum > hi[j]+e {
							rt.Fatalf("sum %d is %v, bounded by %v and %v", j, sum, lo[j], hi[j])
						}
					}
				}
			})
		})
	}
}

// TestBentTight: weights of one sign see half of a rectified vector for the other end of the sum, and the
// outlier of the map counts for what it does.
func TestBentTight(t *testing.T) {
	n := 64
	m := &matrix{rows: n, cols: n, a: make([]float32, n*n)}
	w := &matrix{rows: n, cols: 1, a: make([]float32, n)}
	for i := range n {
		m.a[i*n+i], w.a[i] = 1, 1
	}
	m.a[0] = 10
	b := newBall([]int{1}, []int{n}, make([]float64, n), 8)
	b.m = m
	k, ok := piecesOf(bends()["relu"], Range{-80, 80}).kink()
	if !ok {
		t.Fatal("no bend")
	}
	lo, hi := b.bent(k, w)
	// at most 8·√(10² + 63), which a unit along the sums reaches, where the norms say 10·8·√64 = 640
	if top := 8 * math.Sqrt(163); hi[0] < top || hi[0] > 1.5*top {
		t.Errorf("upper bound %v, want little above %v", hi[0], top)
	}
	if lo[0] < -0.6*hi[0] {
		t.Errorf("lower bound %v of a sum of what is never negative, upper bound %v", lo[0], hi[0])
	}
}
