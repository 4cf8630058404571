package rangeprop_test

import (
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// TestTimeStep holds that of a single number, or one for each of a batch.
func TestTimeStep(t *testing.T) {
	_, r := analyze(t, header+`g (float[N] s) => (float[N, 4] y) <float[4] w = {1, 0.1, 0.01, 0.001}, int64[1] a = {1}> { u = Unsqueeze(s, a) m = Mul(u, w) y = Sin(m) }`, rangeprop.Options{})
	if in := r.Inputs()[0]; in.Range != (rangeprop.Range{Lo: 0, Hi: 999}) || in.Basis != rangeprop.Default {
		t.Errorf("%v (%v)", in.Range, in.Basis)
	}
}

// TestGuesses holds what the readers of an integer input tell of it.
func TestGuesses(t *testing.T) {
	const fused = `com.microsoft.EmbedLayerNormalization(i, , e, p, , w, w, `
	for _, c := range []struct {
		name, body string
		hi         float64
		basis      rangeprop.Basis
	}{
		{"truth values", `b = Cast<to = 9>(i) y = Where(b, one, zero)`, 1, rangeprop.Default},
		{"truth values behind movement", `m = Unsqueeze(i, axis) b = Cast<to = 9>(m) y = Where(b, one, zero)`, 1, rangeprop.Default},
		{"compared with zero", `b = Equal(i, none) y = Where(b, one, zero)`, 1, rangeprop.Default},
		{"compared with another number", `b = Equal(i, two) y = Where(b, one, zero)`, 0, rangeprop.Unknown},
		{"rows of a table", `y = Gather(e, i)`, 2, rangeprop.Default},
		{"rows, and a padding of 0", `b = Equal(i, none) r = Gather(e, i) m = Unsqueeze(b, two1) y = Where(m, zero, r)`, 2, rangeprop.Default},
		{"rows of a fused embedding", `y, n = ` + fused + `)`, 2, rangeprop.Default},
		{"segments of a fused embedding", `y, n = com.microsoft.EmbedLayerNormalization(two2, i, e, p, s, w, w)`, 1, rangeprop.Default},
		{"mask of a fused embedding", `y, n = com.microsoft.EmbedLayerNormalization(two2, , e, p, , w, w, i)`, 1, rangeprop.Default},
		{"positions", `f = Cast<to = 1>(i) u = Unsqueeze(f, two1) a = Mul(u, w) c = Concat<axis = -1>(a, a) y = Cos(c)`, 32767, rangeprop.Default},
		{"positions of a rotary operator", `y = RotaryEmbedding<num_heads = 1>(x, p2, p2, i)`, 1, rangeprop.Default},
		{"positions of a fused rotary operator", `y = com.microsoft.RotaryEmbedding(x, i, p2, p2)`, 1, rangeprop.Default},
		{"no angle", `f = Cast<to = 1>(i) a = Mul(f, one) y = Tanh(a)`, 0, rangeprop.Unknown},
		{"mask of a fused attention", `y = com.microsoft.Attention<num_heads = 1>(x, q, b3, i)`, 1, rangeprop.Default},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, r := analyze(t, header+`g (int32[2, 2] i, float[2, 2, 4] x) => (float y)
<float one = {1}, float zero = {0}, int32 two = {2}, int32 none = {0}, int64[1] axis = {0}, int64[1] two1 = {2}, int32[2, 2] two2 = {0, 1, 1, 0},
 float[2, 2] p2 = {1, 2, 3, 4}, float[3, 4] e = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}, float[2, 4] p = {1, 2, 3, 4, 5, 6, 7, 8}, float[2, 4] s = {1, 2, 3, 4, 5, 6, 7, 8}, float[4] w = {1, 1, 1, 1},
 float[4, 12] q = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3},
 float[12] b3 = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3}>
{ `+c.body+` }`, rangeprop.Options{})
			for _, in := range r.Inputs() {
				if in.Value.Name != "i" {
					continue
				}
				if in.Basis != c.basis || c.basis == rangeprop.Default && in.Range != (rangeprop.Range{Lo: 0, Hi: c.hi}) {
					t.Errorf("%v (%d, %s), want up to %g", in.Range, in.Basis, in.Note, c.hi)
				}
			}
		})
	}
}
