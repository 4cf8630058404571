package rules

import (
	"fmt"
	"testing"

	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/rules/reach"
)

// reachModel holds the lines of one case between inputs of all kinds and the output y.
const reachModel = `<ir_version: 9, opset_import: ["" : 18], metadata_props: [
  "amplint.range.x": "[-2,3]", "amplint.range.z": "[-1,4]", "amplint.range.p": "[1,5]", "amplint.range.i": "[0,9]", "amplint.range.b": "[0,1]"]>
m (float[2, 4] x, float[2, 4] z, float[2, 4] p, int64[2, 4] i, bool[2, 4] b, bool f, int64 turns, float[2, 4] unknown, float[1, 1, 5, 5] img) => (float y)
<float two = {2}, float three = {3}, float lo = {-1}, float hi = {1}, int64[1] last = {-1}, int64 one = {1}, int64 first = {0}, int64[1] c0 = {0}, int64[1] c1 = {1}, int64[1] c3 = {3}, int64[1] c9 = {9}, float[4, 2] w = {1, 2, -1, 0, 1, 0, -1, 0}, float[4] v = {1, 2, 3, 4}>
{ %s }`

func TestReach(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"y = Identity(x)", "-2 3 free free"},
		{"y = Neg(x)", "-3 2 free free"},
		{"y = Abs(x)", "0 3 free free"},
		{"y = Mul(x, x)", "0 9 free free"},
		{"y = Pow(x, two)", "0 9 free free"},
		{"y = Pow(x, three)", "-8 27 free free"},
		{"y = Pow(two, p)", "2 32 free free"},
		{"y = Add(x, z)", "-3 7 free free"},
		{"y = Mul(x, z)", "-8 12 free free"},
		{"y = Sub(x, x)", "0 0 free free"},
		{"a = Add(x, z) y = Mul(a, x)", "none"},
		{"y = Div(x, p)", "-2 3 free free"},
		{"y = Div(x, z)", "none"},
		{"y = Reciprocal(p)", "0.2 1 free free"},
		{"y = Reciprocal(x)", "0.33333 0.33333 free free"},
		{"y = Clip(x, lo, hi)", "-1 1 free free"},
		{"y = Max(x, two)", "2 3 free free"},
		{"y = Cast<to = 1>(i)", "0 9 free free"},
		{"m = ReduceMean(x, last) y = Sub(x, m)", "0 0 uniform uniform"},
		{"m = ReduceMean(x, last) d = Sub(x, m) q = Mul(d, d) y = ReduceMean(q, last)", "0 0 uniform uniform"},
		{"y = ReduceSum(x, last)", "-8 12 free free"},
		{"q = Mul(x, x) y = ReduceSum(q, last)", "0 36 free free"},
		{"y = ReduceL2(x, last)", "0 6 free free"},
		{"y = ReduceMax(x, last)", "-2 3 free free"},
		{"t = Transpose(z) y = MatMul(x, t)", "-32 48 uniform uniform"},
		{"y = MatMul(x, w)", "-10 10 some some"},
		{"y = Mul(x, v)", "-8 12 some some"},
		{"a = Mul(x, v) y = ReduceSum(a, last)", "none"},
		{"a = MatMul(x, w) y = ReduceMax(a, last)", "10 10 some some"},
		{"y = Where(b, x, z)", "-2 4 uniform uniform"},
		{"y = Exp(unknown)", "none"},
		{"y = If(f) <then_branch = t () => (a) { a = Neg(x) }, else_branch = e () => (c) { c = Add(x, two) }>", "-3 5 uniform uniform"},
		{"s, y = Loop(one, , x) <body = l (int64 n, bool go, float[2, 4] c) => (bool more, float[2, 4] next, float[2, 4] a) { more = Identity(go) next = Neg(c) a = Add(c, two) }>", "0 5 some some"},
		{"s, y = Loop(turns, , x) <body = l (int64 n, bool go, float[2, 4] c) => (bool more, float[2, 4] next, float[2, 4] a) { more = Identity(go) next = Neg(c) a = Add(c, two) }>", "none"},
		{"y, s = Loop(one, , x) <body = l (int64 n, bool go, float[2, 4] c) => (bool more, float[2, 4] next, float[2, 4] a) { more = Identity(go) next = Neg(c) a = Add(c, two) }>", "none"},
		{"s, y = Scan<num_scan_inputs = 1, body = l (float[4] c, float[4] r) => (float[4] next, float[4] a) { next = Neg(c) a = Mul(r, three) }>(v, x)", "-6 9 some some"},
		{"y = Softmax(x)", "none"},
		{"y = LeakyRelu<alpha = 0.5>(x)", "-1 3 free free"},
		{"s = Constant<value_ints = [3, 2, 4]>() y = Expand(x, s)", "-2 3 uniform uniform"},
		{"s = Constant<value_ints = [2, 1]>() a = Tile(x, s) y = ReduceSum(a, last)", "-8 12 uniform uniform"},
		{"y = Gemm(x, w)", "-10 10 some some"},
		{"k = Constant<value = float[1, 4] {1, -1, 2, 0}>() y = Gemm<transB = 1>(x, k, hi)", "-8 12 some some"},
		{"y = Gemm<alpha = 2.0>(x, w)", "none"},
		{"t = Transpose(x) y = Gemm<transA = 1>(t, w)", "none"},
		{"y = CumSum(x, last)", "-8 12 some some"},
		{"y = Concat<axis = 0>(x, z)", "-2 4 some some"},
		{"a = Concat<axis = 0>(x, unknown) y = Identity(a)", "none"},
		{"a, c = Split<axis = 1, num_outputs = 2>(x) y = Mul(a, c)", "-6 9 free free"},
		{"a, c = Split<axis = 1, num_outputs = 2>(x) d = Sub(a, c) y = Mul(d, a)", "none"},
		{"a, c = Split<axis = 1, num_outputs = 2>(x) d = Sub(a, c) e = Concat<axis = 1>(d, d) y = Add(e, x)", "none"},
		{"a = Gather<axis = -1>(x, one) c = Gather<axis = 1>(x, first) y = Sub(a, c)", "-5 5 free free"},
		{"a = Gather<axis = -1>(x, one) c = Gather<axis = 0>(x, first) d = Unsqueeze(a, last) y = Sub(d, c)", "none"},
		{"a = Slice(x, c0, c1, c1) c = Slice(x, c3, c9, c1) y = Sub(a, c)", "-5 5 free free"},
		{"a = Slice(x, c0, c3, c1) c = Slice(x, c1, c9, c1) y = Sub(a, c)", "none"},
	} {
		m, err := onnxtxt.Parse("case", []byte(fmt.Sprintf(reachModel, c.body)))
		if err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		p := newPass(prepare(t, m, false))
		if got := describe(p.reach.Raw(m.Graph.Outputs[0])); got != c.want {
			t.Errorf("%s: reach %s, want %s", c.body, got, c.want)
		}
	}
}

func describe(r reach.Span) string {
	if !r.Known() {
		return "none"
	}
	names := [...]string{"none", "some", "uniform", "free"}
	return fmt.Sprintf("%.5g %.5g %s %s", r.Lo.At, r.Hi.At, names[r.Lo.Level], names[r.Hi.Level])
}

// TestReachThroughCalls: a function carries on what it is given, an argument that is left out among it.
func TestReachThroughCalls(t *testing.T) {
	m, err := onnxtxt.Parse("calls", []byte(`<ir_version: 9, opset_import: ["" : 18, "local" : 1], metadata_props: ["amplint.range.x": "[-2,3]", "amplint.range.z": "[-1,4]"]>
m (float[2, 4] x, float[2, 4] z) => (float[2, 4] y, float[2, 4] r) { y = local.twice(x) r = local.last(x, , z) }
<domain: "local", opset_import: ["" : 18]> twice (a) => (b) { c = Neg(a) b = Add(c, c) }
<domain: "local", opset_import: ["" : 18]> last (a, b, c) => (d) { d = Relu(c) }`))
	if err != nil {
		t.Fatal(err)
	}
	p := newPass(prepare(t, m, false))
	for i, want := range []string{"-6 4 free free", "0 4 free free"} {
		if got := describe(p.reach.Raw(m.Graph.Outputs[i])); got != want {
			t.Errorf("output %d: reach %s, want %s", i, got, want)
		}
	}
}
