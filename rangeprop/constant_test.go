package rangeprop_test

import (
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// TestConstantsByChannel holds the bounds of constants too large to be kept whole against their elements: each
// channel has its own, along the second axis of images and the last of others.
func TestConstantsByChannel(t *testing.T) {
	for _, dims := range [][]int{{2, 70, 6, 6}, {3, 5, 2, 9, 20}, {70, 60}, {2, 60, 40}, {2, 70, 36, 1}} {
		rng := rand.New(rand.NewSource(1))
		n, axis := 1, len(dims)-1
		if len(dims) >= 4 {
			axis = 1
		}
		for _, d := range dims {
			n *= d
		}
		step := 1
		for _, d := range dims[axis+1:] {
			step *= d
		}
		lo, hi := make([]float64, dims[axis]), make([]float64, dims[axis])
		words := make([]string, n)
		for i := range words {
			x, c := float64(float32(rng.NormFloat64())), i/step%dims[axis]
			words[i] = fmt.Sprint(float32(x))
			if i/step < dims[axis] && i%step == 0 {
				lo[c], hi[c] = x, x
			}
			lo[c], hi[c] = math.Min(lo[c], x), math.Max(hi[c], x)
		}
		shape := strings.Trim(strings.ReplaceAll(fmt.Sprint(dims), " ", ","), "[]")
		m, res := analyze(t, header+"g (float x) => (float["+shape+"] y) <float["+shape+"] w = {"+strings.Join(words, ", ")+"}> { y = Mul(x, w) }", rangeprop.Options{})
		l, h, at := res.Val(m.Graph.Lookup("w")).Channels()
		if at != axis || len(l) != len(lo) {
			t.Errorf("%v: %d channels of axis %d, want %d of %d", dims, len(l), at, len(lo), axis)
			continue
		}
		for c := range l {
			if l[c] != lo[c] || h[c] != hi[c] {
				t.Errorf("%v: channel %d in [%g, %g], want [%g, %g]", dims, c, l[c], h[c], lo[c], hi[c])
				break
			}
		}
	}
}
