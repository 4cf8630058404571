package rules

import (
	"fmt"
	"testing"

	"github.com/amplint/amplint/graph/onnxtxt"
)

const harmModel = `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-2,3]", "amplint.range.one": "[1,2]", "amplint.range.b": "[0,1]"]>
m (float[2, 4] x, float[2, 4] one, bool[2, 4] b) => (y)
<float two = {2}, float minus = {-2}, float small = {0.00001}, float lo = {-1}, float hi = {1}, int64[1] last = {-1}, float[4, 2] w = {1, 2, -1, 0, 1, 0, -1, 0},
 bool[2, 4] causal = {1, 0, 0, 0, 1, 1, 0, 0}, bool[2, 4] closed = {1, 0, 0, 0, 0, 0, 0, 0}, bool[2, 4] open = {1, 0, 0, 0, 1, 1, 1, 1}>
{ v = Identity(x) %s }`

func TestHarm(t *testing.T) {
	pos, neg := damage{pos: true, least: 65520}, damage{neg: true, least: 65520}
	for _, c := range []struct {
		body string
		d    damage
		want harm
	}{
		{"y = Identity(v)", pos, broken},
		{"y = Tanh(v)", pos, harmless},
		{"d = Mul(v, small) y = Tanh(d)", pos, wrong},
		{"y = Relu(v)", neg, harmless},
		{"y = Relu(v)", pos, broken},
		{"y = Reciprocal(v)", pos, wrong},
		{"y = Div(x, v)", pos, wrong},
		{"y = Div(v, one)", pos, broken},
		{"y = Clip(v, lo, hi)", pos, harmless},
		{"y = Clip(x, lo, v)", pos, harmless},
		{"y = Clip(x, lo, v)", neg, broken},
		{"y = Min(v, hi)", pos, harmless},
		{"y = Min(v, hi)", neg, broken},
		{"y = Softmax(v)", neg, harmless},
		{"y = Softmax(v)", pos, broken},
		{"y = Softmax(v)", damage{neg: true, whole: true, least: 65520}, broken},
		{"s = Where(causal, x, v) y = Softmax(s)", neg, harmless},
		{"s = Where(closed, x, v) y = Softmax(s)", neg, broken},
		{"n = Not(causal) s = Where(n, v, x) y = Softmax(s)", neg, harmless},
		{"s = Where(causal, v, x) y = Softmax(s)", neg, harmless},
		{"s = Where(open, v, x) y = Softmax(s)", neg, broken},
		{"s = Where(b, x, v) y = Softmax(s)", neg, broken},
		{"m = Mul(one, v) y = Sigmoid(m)", neg, harmless},
		{"m = Mul(x, v) y = Sigmoid(m)", neg, broken},
		{"y = MatMul(v, w)", pos, broken},
		{"n = Neg(v) y = Exp(n)", pos, harmless},
		{"a = Add(v, one) l = Log(a) g = Tanh(l) y = Mul(x, g)", pos, harmless},
		{"g = Greater(v, lo) y = Where(g, x, one)", pos, harmless},
		{"y = Pow(v, minus)", pos, wrong},
		{"y = ReduceMax(v, last)", neg, harmless},
		{"y = ArgMax(v)", pos, wrong},
		{"e = Exp(x) g = Greater(x, lo) u = Identity(v) y = Where(g, x, u)", pos, harmless},
	} {
		m, err := onnxtxt.Parse("case", []byte(fmt.Sprintf(harmModel, c.body)))
		if err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		p := newPass(prepare(t, m, false))
		if got := p.harmOf(m.Graph.Nodes[0].Out(0), c.d); got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got.consequence(), c.want.consequence())
		}
	}
}
