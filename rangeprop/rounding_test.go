package rangeprop_test

import (
	"math"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
)

// unit16 is the root mean square relative error of rounding to FP16.
const unit16 = 0.42 / 2048

// ranked returns the error that each node's rounding to FP16 leaves in the outputs of a small model over x in
// [-6, 6], in units of that of one rounding, as text.
func ranked(t *testing.T, body string) map[string]float64 {
	t.Helper()
	src := header + `m (float[2, 4] x) => (float[M] y) <float two = {2}, float[4] g = {3, 3, 3, 3}, float[4, 8] w = {` +
		strings.TrimSuffix(strings.Repeat("0.1, ", 32), ", ") + `}> {` + body + `}`
	_, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-6, 6)}})
	all := r.Rounding(numfmt.FP16)
	got := map[string]float64{}
	for i, n := range all.Nodes {
		got[n.Node.LocalKey()] = math.Sqrt(n.Variance) / unit16
		if i > 0 && n.Variance > all.Nodes[i-1].Variance {
			t.Errorf("%s stands behind a smaller one", n.Node.Key())
		}
	}
	return got
}

// TestRounding follows errors to the output of small models.
func TestRounding(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       map[string]float64
	}{
		{"the last result", `y = Neg(x)`, map[string]float64{}},
		{"a sum keeps the error of a term", `i = Constant<value = int64[2] {1, 0}>() a = Mul(x, two) c = Gather(x, i) y = Add(a, c)`, map[string]float64{"#y": 1, "#a": 4 / math.Sqrt(20)}},
		{"a square doubles a relative error", `a = Mul(x, two) y = Mul(a, a)`, map[string]float64{"#y": 1, "#a": 2 / math.Sqrt(3)}},
		{"a constant that rounds", `y = MatMul(x, w)`, map[string]float64{"#y": math.Hypot(1, 2.4415e-4/unit16)}},
		{"a sum averages", `a = Mul(x, two) n = Constant<value = int64[1] {1}>() y = ReduceMean(a, n)`, map[string]float64{"#y": 1, "#a": math.Sqrt(1 / (1 + 0.3*3))}},
		{"behind what nothing reads", `a = Mul(x, two) b = Exp(a) y = Mul(x, two)`, map[string]float64{"#y": 1}},
		{"a normalisation as one", `a = Mul(x, two) y = LayerNormalization(a, g)`, map[string]float64{"#y": 1, "#a": 1}},
		{"part of a result", `a = Mul(x, two) y = Concat<axis = 0>(a, x)`, map[string]float64{"#a": math.Sqrt(0.8)}},
		{"a dividend", `a = Mul(x, two) y = Div(a, two)`, map[string]float64{"#y": 1, "#a": 1}},
		{"a divisor", `h = Constant<value_float = 32.0>() a = Add(x, h) y = Div(two, a)`, map[string]float64{"#y": 1, "#a": 1}},
		{"taps of a kernel", `i = Constant<value_ints = [1, 1, 2, 4]>() r = Reshape(x, i) a = Mul(r, two) k = Constant<value = float[1, 1, 1, 3] {1, 1, 1}>() y = Conv(a, k)`, map[string]float64{"#y": 1, "#a": math.Sqrt(3 / (0.7*3 + 0.3*9))}},
		{"taps of a kernel that spreads", `i = Constant<value_ints = [1, 1, 2, 4]>() r = Reshape(x, i) a = Mul(r, two) k = Constant<value = float[1, 1, 1, 4] {1, 1, 1, 1}>() y = ConvTranspose<strides = [1, 2]>(a, k)`, map[string]float64{"#y": 1, "#a": math.Sqrt(2 / (0.7*2 + 0.3*4))}},
		{"a mean with weights", `h = Constant<value_float = 32.0>() a = Add(x, h) p = Sigmoid(x) q = Mul(a, p) n = Constant<value = int64[1] {1}>() s = ReduceSum(q, n) t = ReduceSum(p, n) y = Div(s, t)`, map[string]float64{"#y": 1, "#s": 1, "#t": 1, "#a": 0.5}},
		{"a turn of a loop", `a = Mul(x, two) k = Constant<value_int = 1>() y = Loop(k, , a) <body = l (int64 i, bool on, float[2, 4] v) => (bool more, float[2, 4] u) { more = Identity(on) u = Mul(v, two) }>`, map[string]float64{"#u": 1, "#a": 1}},
		{"a row of a scan", `a = Mul(x, two) s, y = Scan<num_scan_inputs = 1, body = b (float[4] c, float[4] r) => (float[4] d, float[4] o) { d = Identity(c) o = Mul(r, two) }>(g, a)`, map[string]float64{"#o": 1, "#a": 1}},
		{"the branch that is taken", `t = Constant<value = bool {1}>() y = If(t) <then_branch = t1 () => (float[2, 4] p) { p = Mul(x, two) }, else_branch = e () => (float[2, 4] q) { q = Mul(x, two) }>`, map[string]float64{"#p": 1}},
		{"a branch of two", `s = ReduceSum<keepdims = 0>(x) c = Greater(s, two) y = If(c) <then_branch = t () => (float[2, 4] p) { p = Mul(x, two) }, else_branch = e () => (float[2, 4] q) { q = Mul(x, two) }>`,
			map[string]float64{"#p": math.Sqrt(0.5), "#q": math.Sqrt(0.5)}},
	} {
		got := ranked(t, c.body)
		for key, want := range c.want {
			if math.Abs(got[key]-want) > 0.05*want {
				t.Errorf("%s: %s adds %.4g roundings, want %.4g", c.name, key, got[key], want)
			}
		}
		for key := range got {
			if _, ok := c.want[key]; !ok {
				t.Errorf("%s: %s adds %.3g roundings, want none", c.name, key, got[key])
			}
		}
	}
}

// TestRoundingOfParts holds the parts of a spelled normalisation to about one rounding each: one by one
// they would multiply the error of a variance by its inverse.
func TestRoundingOfParts(t *testing.T) {
	body := `n = Constant<value = int64[1] {1}>() m = ReduceMean(x, n) d = Sub(x, m) q = Mul(d, d) v = ReduceMean(q, n) e = Add(v, eps) r = Sqrt(e) y = Div(d, r)`
	got := ranked(t, `eps = Constant<value_float = 1e-5>() `+body)
	for _, key := range []string{"#m", "#d", "#q", "#v", "#e", "#r", "#y"} {
		if got[key] <= 0 || got[key] > 1.01 {
			t.Errorf("%s adds %.3g roundings, want some, and at most one", key, got[key])
		}
	}
}

// TestRoundingError takes out the nodes one by one, the largest first, until nothing is left, and keeps masks
// out of it.
func TestRoundingError(t *testing.T) {
	src := header + `m (float[2, 4] x, float[2, 4] k) => (float[M] y) <float low = {-3.4e38}, float one = {1}> { a = Mul(x, x) f = Sub(one, k) m = Mul(f, low) l = Add(a, m) y = Softmax(l) }`
	m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-3, 3), "k": given(0, 1)}})
	all := r.Rounding(numfmt.FP16)
	whole := all.Error(nil)
	if !(whole > 0 && whole < 0.1) {
		t.Errorf("the output is off by %v, want less than a tenth whatever the mask holds", whole)
	}
	left, exact := whole, map[*graph.Node]bool{}
	for i, n := range all.Nodes {
		exact[n.Node] = true
		e := all.Error(func(n *graph.Node) bool { return exact[n] })
		if want := math.Sqrt(math.Max(left*left-n.Variance, 0)); e >= left || math.Abs(e-want) > 1e-6*whole {
			t.Errorf("without %d nodes the error is %v, want %v, less than the %v before", i+1, e, want, left)
		}
		left = e
	}
	if len(all.Nodes) == 0 || left != 0 {
		t.Fatalf("without all %d nodes the error is %v, want none", len(all.Nodes), left)
	}
	if a := m.Graph.Lookup("a").Producer; all.Format != numfmt.FP16 || all.Nodes[0].Node != a {
		t.Errorf("the ranking for %s begins with %s, want one for fp16 that begins with %s", all.Format, all.Nodes[0].Node.Key(), a.Key())
	}
}
