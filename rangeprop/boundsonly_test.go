package rangeprop_test

import (
	"math"
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// TestBoundsOnly: what is known of the operators that the evaluator has not holds what onnxruntime gives for
// inputs in these ranges, or what the formula of its documentation gives for x at its ends; within is what
// bounds that are of use keep to.
func TestBoundsOnly(t *testing.T) {
	lowest := -math.MaxFloat32
	for _, c := range []struct {
		body         string
		x            rangeprop.Range
		want, within rangeprop.Range
	}{
		{"(float[1,1,4,4] x, float[1,4] r, int32[1] b) => (float[1,1,3,3] y) <int32[2] s = {3, 3}> { y = com.microsoft.CropAndResize<extrapolation_value = -7.0>(x, r, b, s) }",
			rangeprop.Range{Lo: 1, Hi: 16}, rangeprop.Range{Lo: -7, Hi: 16}, rangeprop.Range{Lo: -7.01, Hi: 16.01}},
		{"(float[2,3] x) => (float[2,1] y) <float[3,1] w = {1, -1, 2}, float[1] b = {0.5}> { y = com.microsoft.GemmFastGelu(x, w, b) }",
			rangeprop.Range{Lo: -1, Hi: 2}, rangeprop.Range{Lo: -0.17, Hi: 7.5}, rangeprop.Range{Lo: -0.171, Hi: 7.51}},
		{"(float[1,1,6] x, int32[1,1,6] m) => (float[1,1,3] y) { y = com.microsoft.MaxpoolWithMask<kernel_shape = [2], strides = [2]>(x, m) }",
			rangeprop.Range{Lo: -6, Hi: -1}, rangeprop.Range{Lo: lowest, Hi: -1}, rangeprop.Range{Lo: lowest, Hi: -1}},
		{"(float[1,8] x) => (float[1,5,2] y) { y = com.microsoft.Rfft<signal_ndim = 1, onesided = 1, normalized = 0>(x) }",
			rangeprop.Range{Lo: -1, Hi: 1}, rangeprop.Range{Lo: -8, Hi: 8}, rangeprop.Range{Lo: -12, Hi: 12}},
		{"(float[1,5,2] x) => (float[1,8] y) { y = com.microsoft.Irfft<signal_ndim = 1, onesided = 1, normalized = 0>(x) }",
			rangeprop.Range{Lo: -1, Hi: 1}, rangeprop.Range{Lo: -8, Hi: 8}, rangeprop.Range{Lo: -15, Hi: 15}},
		{"(float[t,4] x, float[t,4] v, int32[1,5] at, int32[2] ends) => (float[t,4] y) <float[12] b = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}> { w = Tanh(v) y = com.microsoft.PackedMultiHeadAttention<num_heads = 2>(x, x, w, b, at, ends) }",
			rangeprop.Range{Lo: -9, Hi: 9}, rangeprop.Range{Lo: 0, Hi: 2}, rangeprop.Range{Lo: -1.01, Hi: 2.01}},
	} {
		m, res := analyze(t, `<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g `+c.body, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(c.x.Lo, c.x.Hi)}})
		if h := res.Val(m.Graph.Outputs[0]).Hull(); !h.Contains(c.want) || !c.within.Contains(h) {
			t.Errorf("%s for %v: %v, want %v, and no more than %v", c.body, c.x, h, c.want, c.within)
		}
	}
}

// TestPackedBias: a bias of -Inf added to the scores makes NaN of a row that it hides.
func TestPackedBias(t *testing.T) {
	for bias, nan := range map[string]bool{"": false, ", bias": true} {
		m, res := analyze(t, `<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[t,4] x, int32[1,5] at, int32[2] ends) => (float[t,4] y) <float[1,1,1,1] bias = {-inf}>
{ y = com.microsoft.PackedMultiHeadAttention<num_heads = 2>(x, x, x, , at, ends`+bias+`) }`,
			rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-1, 1)}})
		if v := res.Val(m.Graph.Outputs[0]); v.NaN() != nan {
			t.Errorf("bias %q: NaN %v", bias, v.NaN())
		}
	}
}

// TestUnknownMayBeAnything: nothing is claimed of operators whose results are not followed.
func TestUnknownMayBeAnything(t *testing.T) {
	for _, body := range []string{
		"(float[1,1,8] x, float[1,2,3,4] k) => (float[1,1,8] y) { y = com.microsoft.DecoderMaskedMultiHeadAttention<num_heads = 2>(x, k, k) }",
		"(float[2,8] x, uint8[100] w) => (float[2,7] y) <int64[2] s = {8, 7}> { y = com.microsoft.MatMulFpQ4(x, w, s) }",
	} {
		m, res := analyze(t, `<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g `+body, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-1, 1)}})
		if v := res.Val(m.Graph.Outputs[0]); v.Hull().Bounded() || !v.NaN() {
			t.Errorf("%s: %v", body, v.Hull())
		}
	}
}
