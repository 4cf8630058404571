package rangeprop

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// climbed follows the gradient of the sum of f under weights from a unit on, and returns the vectors of the
// ball on the way.
func (b *ball) climbed(f func(Range) Range, weights, unit []float64) [][]float64 {
	var list [][]float64
	for range 12 {
		s := length(unit)
		if s == 0 {
			break
		}
		for i := range unit {
			unit[i] *= b.radius[0] / s
		}
		x := b.m.imageOf(unit)
		slopes := make([]float64, len(x))
		for i := range x {
			x[i] += b.center[i]
			slopes[i] = weights[i] * (f(Range{x[i] + 1e-6, x[i] + 1e-6}).Lo - f(Range{x[i], x[i]}).Lo) * 1e6
		}
		for i, k := range slopes { // what is lost is lost where it counts
			x[i] += b.loss * k / math.Max(length(slopes), 1e-30)
		}
		list, unit = append(list, x), b.m.times(slopes)
	}
	return list
}

// TestAlone: the sums stay below their bounds, for units that climb.
func TestAlone(t *testing.T) {
	for name, f := range bends() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				b := drawBall(rt, 7, 1, rapid.IntRange(1, 5).Draw(rt, "rows"))
				w := drawMatrix(rt, 7, 1)
				k, ok := b.kink(f)
				if !ok {
					return
				}
				weights := columnOf(w, 0)
				sign := rapid.SampledFrom([]float64{1, -1}).Draw(rt, "sign")
				for i := range weights {
					weights[i] *= sign
				}
				most := b.alone(k, w, 0, sign)
				list := b.vectors(rt, weights)
				for range 4 {
					list = append(list, b.climbed(f, weights, drawVector(rt, b.m.rows, "unit"))...)
				}
				for _, x := range list {
					sum := 0.0
					for i, y := range x {
						sum += weights[i] * f(Range{y, y}).Lo
					}
					if sum > most+1e-9*(1+math.Abs(sum)) {
						rt.Fatalf("the sum is %v, bounded by %v", sum, most)
					}
				}
			})
		})
	}
}

// TestStandouts: a sum that reads few arguments, of a map that stretches others, comes out close to what it
// can be; the sums that do not stand out keep their bounds.
func TestStandouts(t *testing.T) {
	n := 40
	b := newBall([]int{1}, []int{n}, make([]float64, n), 8)
	b.m = &matrix{rows: n, cols: n, a: make([]float32, n*n)}
	w := &matrix{rows: n, cols: 6, a: make([]float32, n*6)}
	for i := range n {
		b.m.a[i*n+i] = 1 + float32(i)/4
		w.a[i*6+i%6] = 0.1
	}
	w.a[0] = 100
	k, ok := piecesOf(bends()["relu"], Range{-100, 100}).kink()
	if !ok {
		t.Fatal("no bend")
	}
	lo, hi := b.bent(k, w)
	was, few := hi[0], hi[1]
	b.standouts(k, w, lo, hi)
	if top := 800.0; hi[0] < top || hi[0] > 1.2*top || was < 2*hi[0] { // 100 times the 8 of the first argument
		t.Errorf("bound %v after %v, want little above %v", hi[0], was, top)
	}
	if hi[1] > few || lo[0] > 0 || lo[0] < -10 {
		t.Errorf("bounds %v and from %v, had %v", hi[1], lo[0], few)
	}
}
