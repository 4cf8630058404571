package rangeprop_test

import (
	"math"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
)

// TestSupposed estimates what a convolution over a signal of open length gives as over one of the length that
// the rest of the graph demands, and bounds it as over any.
func TestSupposed(t *testing.T) {
	const conv = `c = Conv<pads = [1, 1], strides = [2]>(x, k) `
	const squeezed = `l = Constant<value = int64[1] {-1}>() h = Shape(c) d = Gather(h, l) o = Constant<value = int64[1] {1}>() q = Equal(d, o)
  y = If(q) <then_branch = t () => (float[A, B] s) { s = Squeeze(c, l) }, else_branch = e () => (float[A, B, C] i) { i = Identity(c) }>`
	for _, c := range []struct {
		name, length, body string
		mean               float64
	}{
		{"one position", "2", conv + squeezed, 4 * (1 + 3)},
		{"one position, not known", "n", conv + squeezed, 4 * (1 + 3)},
		{"as many as a matrix has rows", "n", conv + `f = Flatten(c) y = MatMul(f, w)`, 4 * (4 + 13 + 13) / 3.},
		{"moved", "n", conv + `f = Transpose<perm = [0, 2, 1]>(c) y0 = Relu(f) g = Flatten(c) y = MatMul(g, w)`, 4 * (4 + 13 + 13) / 3.},
		{"two layers", "n", `b = Conv<pads = [1, 1], strides = [2]>(x, k) i = Identity(b) c = Conv<pads = [1, 1], strides = [2]>(i, k) ` + squeezed, 4 * (1 + 3 + 3*13)},
		{"nothing demanded", "n", conv + `y = Identity(c)`, 4 * (9 + 1 + 3)},
		{"inside of a branch", "n", `b = ReduceMax<keepdims = 0>(x) z = Constant<value = float {5}>() g = Greater(b, z)
  y = If(g) <then_branch = t () => (float[A] s) { l = Constant<value = int64[1] {-1}>() ` + conv + `s = Squeeze(c, l) }, else_branch = e () => (float[A] i) { i = Identity(x) }>`, 4 * (1 + 3)},
	} {
		src := header + `m (float[1, 1, ` + c.length + `] x) => (float[M] y) <float[1, 1, 3] k = {9, 1, 3}, float[3, 1] w = {1, 1, 1}> {` + c.body + `}`
		m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-2, 10)}})
		var last *graph.Node
		for n := range m.Nodes() {
			if n.Op == "Conv" {
				last = n
			}
		}
		v := r.Val(last.Out(0))
		if mean, _, ok := v.Moments(); !ok || math.Abs(mean-c.mean) > 0.01*c.mean {
			t.Errorf("%s: mean %v, %v, want %v", c.name, mean, ok, c.mean)
		}
		if c.length == "n" && v.Hull().Hi < 130 {
			t.Errorf("%s: a bound of %v for a length that is only supposed", c.name, v.Hull())
		}
	}
}
