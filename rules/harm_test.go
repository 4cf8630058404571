package rules

import (
	"fmt"
	"testing"

	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/rules/spread"
)

const harmModel = `<ir_version: 9, opset_import: ["" : 18, "com.microsoft" : 1], metadata_props: ["amplint.range.x": "[-2,3]", "amplint.range.one": "[1,2]", "amplint.range.b": "[0,1]"]>
m (float[2, 4] x, float[2, 4] one, bool[2, 4] b, float[1, 2, 4] q, float[4, 12] qkv, float[12] qkvb, int32[1] len, int32 total) => (y)
<float large = {1000}, float less = {-1000}, float two = {2}, float minus = {-2}, float small = {0.00001}, float lo = {-1}, float hi = {1}, int64[1] last = {-1}, int64[1] none = {0}, float[4, 2] w = {1, 2, -1, 0, 1, 0, -1, 0},
 bool[2, 4] causal = {1, 0, 0, 0, 1, 1, 0, 0}, bool[2, 4] closed = {1, 0, 0, 0, 0, 0, 0, 0}, bool[2, 4] open = {1, 0, 0, 0, 1, 1, 1, 1}>
{ v = Identity(x) %s }`

func TestHarm(t *testing.T) {
	pos, neg := spread.Damage{Pos: true, Least: 65520}, spread.Damage{Neg: true, Least: 65520}
	for _, c := range []struct {
		body string
		d    spread.Damage
		want spread.Harm
	}{
		{"y = Identity(v)", pos, spread.Broken},
		{"y = Tanh(v)", pos, spread.Harmless},
		{"d = Mul(v, small) y = Tanh(d)", pos, spread.Wrong},
		{"y = Relu(v)", neg, spread.Harmless},
		{"y = Relu(v)", pos, spread.Broken},
		{"y = Reciprocal(v)", pos, spread.Harmless}, // beside 1/3, which x of 3 gives
		{"y = Reciprocal(v)", spread.Damage{Pos: true, Least: 20}, spread.Wrong},
		{"r = Reciprocal(v) y = Log(r)", pos, spread.Broken},
		{"r = Reciprocal(v) y = Div(one, r)", pos, spread.Broken},
		{"y = Div(x, v)", pos, spread.Wrong},
		{"y = Div(v, one)", pos, spread.Broken},
		{"y = Clip(v, lo, hi)", pos, spread.Harmless},
		{"y = Clip(x, lo, v)", pos, spread.Harmless},
		{"y = Clip(x, lo, v)", neg, spread.Broken},
		{"y = Min(v, hi)", pos, spread.Harmless},
		{"y = Min(v, hi)", neg, spread.Broken},
		{"e = Slice(v, none, none, last) f = Mul(e, two) y = Concat<axis = -1>(x, f)", pos, spread.Harmless}, // of what has no elements
		{"y = Softmax(v)", neg, spread.Harmless},
		{"y = Softmax(v)", pos, spread.Broken},
		{"y = Softmax(v)", spread.Damage{Neg: true, Whole: true, Least: 65520}, spread.Broken},
		{"s = Where(causal, x, v) y = Softmax(s)", neg, spread.Harmless},
		{"s = Where(closed, x, v) y = Softmax(s)", neg, spread.Broken},
		{"n = Not(causal) s = Where(n, v, x) y = Softmax(s)", neg, spread.Harmless},
		{"s = Where(causal, v, x) y = Softmax(s)", neg, spread.Harmless},
		{"s = Where(open, v, x) y = Softmax(s)", neg, spread.Broken},
		{"s = Where(b, x, v) y = Softmax(s)", neg, spread.Broken},
		{"m = Mul(one, v) y = Sigmoid(m)", neg, spread.Harmless},
		{"m = Mul(x, v) y = Sigmoid(m)", neg, spread.Broken},
		{"y = MatMul(v, w)", pos, spread.Broken},
		{"n = Neg(v) y = Exp(n)", pos, spread.Harmless},
		{"a = Add(v, one) l = Log(a) g = Tanh(l) y = Mul(x, g)", pos, spread.Harmless},
		{"g = Greater(v, lo) y = Where(g, x, one)", pos, spread.Harmless},
		{"a = Abs(x) d = Mul(a, two) g = Less(d, hi) y = Where(g, v, one)", pos, spread.Harmless},
		{"a = Abs(one) g = Less(a, hi) y = Where(g, v, one)", pos, spread.Broken},
		{"c = Concat<axis = 1>(v, one) y = ReduceMax(c, last)", spread.Damage{Neg: true, Whole: true, Least: 65520}, spread.Harmless},
		{"c = Concat<axis = 0>(v, one) y = ReduceMax(c, last)", spread.Damage{Neg: true, Whole: true, Least: 65520}, spread.Broken},
		{"y = Pow(v, minus)", pos, spread.Wrong},
		{"y = ReduceMax(v, last)", neg, spread.Harmless},
		{"y = ArgMax(v)", pos, spread.Wrong},
		{"y = com.microsoft.FastGelu(v)", neg, spread.Harmless},
		{"y = com.microsoft.FastGelu(v)", pos, spread.Broken},
		{"y = com.microsoft.BiasGelu(x, v)", neg, spread.Harmless},
		{"y = com.microsoft.QuickGelu(v)", neg, spread.Harmless},
		{"y = com.microsoft.FusedMatMul(v, w)", neg, spread.Broken},
		{"y = com.microsoft.MultiHeadAttention<num_heads = 1>(q, q, q, , , v)", neg, spread.Harmless},
		{"y = com.microsoft.MultiHeadAttention<num_heads = 1>(q, q, q, , , v)", pos, spread.Broken},
		{"y = com.microsoft.MultiHeadAttention<num_heads = 1>(q, q, q, v)", neg, spread.Broken},
		{"y = com.microsoft.Attention<num_heads = 1>(q, qkv, qkvb, , , v)", neg, spread.Harmless},
		{"y = com.microsoft.Attention<num_heads = 1>(q, qkv, v)", neg, spread.Broken},
		{"y, a, c = com.microsoft.GroupQueryAttention<num_heads = 1, kv_num_heads = 1>(q, q, q, , , len, total, , , , v)", neg, spread.Harmless},
		{"l = ReduceMean(v, last) y = Exp(l)", neg, spread.Harmless},
		{"l = ReduceMean(v, last) y = Exp(l)", spread.Damage{Neg: true, Least: 20}, spread.Wrong},
		{"y = Exp(v)", spread.Damage{Neg: true, Least: 20}, spread.Harmless},
		{"e = Exp(x) g = Greater(x, lo) u = Identity(v) y = Where(g, x, u)", pos, spread.Harmless},
	} {
		m, err := onnxtxt.Parse("case", []byte(fmt.Sprintf(harmModel, c.body)))
		if err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		p := newPass(prepare(t, m, false))
		if got := p.harm.Of(m.Graph.Nodes[0].Out(0), c.d); got != c.want {
			t.Errorf("%s: %q, want %q", c.body, consequence(got), consequence(c.want))
		}
	}
}

// TestLost follows a number that is 0 where it should be small.
func TestLost(t *testing.T) {
	for body, want := range map[string]spread.Harm{
		"y = Add(v, large)": spread.Harmless,
		"y = Max(v, large)": spread.Harmless,
		"y = Min(v, large)": spread.Wrong, // it is the smaller one whatever it is
		"y = Max(v, less)":  spread.Wrong,
		"y = Min(v, less)":  spread.Harmless,
		"y = Min(large, v)": spread.Wrong,
		"y = Pow(v, two)":   spread.Wrong,
		"y = Pow(v, minus)": spread.Broken,
		"y = Pow(two, v)":   spread.Harmless, // 1, and near 1
	} {
		m, err := onnxtxt.Parse("case", []byte(fmt.Sprintf(harmModel, body)))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		p := newPass(prepare(t, m, false))
		if got := p.harm.Lost(m.Graph.Nodes[0].Out(0), 1); got != want {
			t.Errorf("%s: %q, want %q", body, consequence(got), consequence(want))
		}
	}
}
