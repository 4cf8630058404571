package rangeprop_test

import (
	"math"
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// hulls are operators whose bounds are those of corners that inputs can be put at: nothing is left to
// tighten, and anything less is wrong.
var hulls = []struct {
	body string
	x    rangeprop.Range
	want rangeprop.Range
}{
	{"(float[3] x) => (float[1] y) { y = ReduceProd(x) }", rangeprop.Range{Lo: -2, Hi: 3}, rangeprop.Range{Lo: -18, Hi: 27}},
	{"(float[4] x) => (float[1] y) { y = ReduceProd(x) }", rangeprop.Range{Lo: -3, Hi: 2}, rangeprop.Range{Lo: -54, Hi: 81}},
	{"(float[5] x) => (float[1] y) { y = ReduceProd(x) }", rangeprop.Range{Lo: -3, Hi: 2}, rangeprop.Range{Lo: -243, Hi: 162}},
	{"(float[5] x) => (float[1] y) { y = ReduceProd(x) }", rangeprop.Range{Lo: -3, Hi: -2}, rangeprop.Range{Lo: -243, Hi: -32}},
	{"(float[1,2,6,3] x) => (float[1,2,6,1] y) { k = Constant<value_floats = [1.0, 20.0, 30.0]>() v = Mul(x, k) a = Attention(x, x, v) z = Constant<value_ints = [0]>() o = Constant<value_ints = [1]>() l = Constant<value_ints = [-1]>() y = Slice(a, z, o, l) }",
		rangeprop.Range{Lo: -1, Hi: 1}, rangeprop.Range{Lo: -1, Hi: 1}},
	{"(float[2,16] x) => (float[2,1] y) { p = Softmax(x) k = Constant<value_ints = [3]>() t, i = TopK(p, k) z = Constant<value_ints = [0]>() o = Constant<value_ints = [1]>() l = Constant<value_ints = [-1]>() y = Slice(t, z, o, l) }",
		rangeprop.Range{Lo: -100, Hi: 100}, rangeprop.Range{Lo: 1.0 / 16, Hi: 1}},
	{"(float[3] x) => (float[3] y) { y = Tanh(x) }", rangeprop.Range{Lo: -8.6, Hi: 8.5}, rangeprop.Range{Lo: -1 - 0x1p-22, Hi: 1 + 0x1p-22}}, // onnxruntime comes to that
	{"(int32[3] x) => (float[3] y) { y = BitCast<to = 1>(x) }", rangeprop.Range{Lo: 0, Hi: 1082130432}, rangeprop.Range{Lo: 0, Hi: 4}},
	{"(int32[3] x) => (float[3] y) { y = BitCast<to = 1>(x) }", rangeprop.Range{Lo: math.MinInt32, Hi: -1065353216}, rangeprop.Range{Lo: -4, Hi: 0}},
	{"(uint32[3] x) => (float[3] y) { y = BitCast<to = 1>(x) }", rangeprop.Range{Lo: 0x3f800000, Hi: 0xc0800000}, rangeprop.Range{Lo: -4, Hi: math.Inf(1)}},
	{"(int16[3] x) => (float16[3] y) { y = BitCast<to = 10>(x) }", rangeprop.Range{Lo: 0x3c00, Hi: 0x4400}, rangeprop.Range{Lo: 1, Hi: 4}},
	{"(int64[3] x) => (double[3] y) { y = BitCast<to = 11>(x) }", rangeprop.Range{Lo: 1 << 62, Hi: 1<<62 + 1<<54}, rangeprop.Range{Lo: 2, Hi: 32}},
}

func TestHulls(t *testing.T) {
	for _, c := range hulls {
		m, res := analyze(t, `<ir_version: 10, opset_import: ["" : 26]> g `+c.body, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(c.x.Lo, c.x.Hi)}})
		h := res.Val(m.Graph.Outputs[0]).Hull()
		if near := 1e-5 * c.want.MaxAbs(); !h.Contains(c.want) || h.Bounded() && (h.Lo < c.want.Lo-near || h.Hi > c.want.Hi+near) {
			t.Errorf("%s for %v: %v, want %v", c.body, c.x, h, c.want)
		}
	}
}

// Weights that a graph scales down still sum to no more than 1; of others as many count as there are keys.
func TestReweighted(t *testing.T) {
	for body, want := range map[string]rangeprop.Range{
		"h = Constant<value_float = 0.5>() r = Mul(p, h)": {Lo: -4.01, Hi: 4.01},
		"r = Add(p, p)": {Lo: -24.01, Hi: 24.01},
	} {
		src := `<ir_version: 10, opset_import: ["" : 26, "ai.onnx.preview" : 1]> g (float[1,1,2,4] x, float[1,1,3,4] k, float[1,1,3,5] v) => (float[1,1,2,5] y) {
 y = ai.onnx.preview.FlexAttention<prob_mod = m (float[A,B,C,D] p) => (float[A,B,C,D] r) { ` + body + ` }>(x, k, v) }`
		m, res := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-4, 4), "k": given(-4, 4), "v": given(-4, 4)}})
		if h := res.Val(m.Graph.Outputs[0]).Hull(); !want.Contains(h) {
			t.Errorf("%s: %v, want within %v", body, h, want)
		}
	}
}
