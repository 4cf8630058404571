package rangeprop_test

import (
	"maps"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// nearMisses are a step away from a relation that holds, so that what it says must not be said of them; each
// input lies in [-4, 4].
var nearMisses = map[string]string{
	"cosine of opposite signs":        `b (float[2, 16] x, float[2, 16] z) => (y) { a = Relu(x) c = Relu(z) d = Neg(c) m = Mul(a, d) s = ReduceSum(m, last) u = ReduceL2<axes = [-1]>(a) v = ReduceL2<axes = [-1]>(d) uv = Mul(u, v) e = Add(uv, eps) y = Div(s, e) }`,
	"weights that are negated":        `b (float[2, 16] x, float[2, 16] z) => (y) { k = Sigmoid(z) m = Mul(x, k) a = ReduceSum(m, last) n = Neg(k) s = ReduceSum(n, last) e = Max(s, eps) y = Div(a, e) }`,
	"exponentials that vanish":        `b (float[2, 16] x) => (y) { c = Constant<value_float = 50.0>() h = Mul(x, c) e = Exp(h) s = ReduceSum(e, last) l = Log(s) y = Sub(h, l) }`,
	"exponential of what is infinite": `b (float[2, 16] x) => (y) { c = Constant<value_float = 50.0>() h = Mul(x, c) e = Exp(h) s = ReduceSum(e, last) l = Log(s) d = Sub(h, l) y = Exp(d) }`,
	"one weight for all":              `b (float[2, 16] x, int64[2] z) => (y) { d = Constant<value = int64[1] {1}>() v = Constant<value = float[2] {0, 1}>() k = OneHot<axis = -1>(z, d, v) m = Mul(x, k) y = ReduceSum(m, last) }`,
	"zeros beside one weight":         `b (float[2, 16] x, int64[2] z) => (y) { d = Constant<value = int64[1] {1}>() v = Constant<value = float[2] {0, 1}>() k = OneHot<axis = -1>(z, d, v) c = Greater(x, zero) m = Where(c, k, zero) y = ReduceSum(m, last) }`,
	"means by another batch":          `b (float[2, 6, 16] x, float[2, 6, 1] z) => (y) { k = Sigmoid(z) i1 = Constant<value = int64[1] {1}>() m = Mul(x, k) a = ReduceSum<keepdims = 0>(m, i1) s = ReduceSum(k, i1) y = Div(a, s) }`,
	"means by copies of a batch":      `b (float[2, 6, 16] x, float[2, 6] z) => (y) { n = Unsqueeze(z, last) f = Constant<value_ints = [2, 6, 16]>() o = Expand(n, f) k = Sigmoid(o) i1 = Constant<value = int64[1] {1}>() m = Mul(x, k) a = ReduceSum<keepdims = 0>(m, i1) s = ReduceSum(k, i1) y = Div(a, s) }`,
	"means by masks of open shapes":   `b (float[B, 6, 8] x, int64[C, 6] z) => (y) { n = Unsqueeze(z, last) f = Shape(x) o = Expand(n, f) k = Cast<to = 1>(o) i1 = Constant<value = int64[1] {1}>() m = Mul(x, k) a = ReduceSum<keepdims = 0>(m, i1) s = ReduceSum(k, i1) e = Max(s, onef) y = Div(a, e) }`,
	"maximum of another batch":        `b (float[2, 16] x) => (y) { m = ReduceMax<axes = [-1]>(x) d = Sub(x, m) e = Exp(d) s = ReduceSum<keepdims = 0>(e, last) l = Log(s) y = Add(l, m) }`,
	"logarithm of another batch":      `b (float[6, 6] x) => (y) { e = Exp(x) s = ReduceSum<keepdims = 0>(e, last) l = Log(s) y = Sub(x, l) }`,
	"parts that vanish":               `b (float[2, 16] x) => (y) { c = Constant<value_float = 1e-6>() a = Abs(x) m = Mul(a, c) s = ReduceSum(m, last) y = Div(x, s) }`,
	"large parts of a largest":        `b (float[2, 16] x) => (y) { c = Constant<value_float = 30000.0>() a = Abs(x) m = ReduceMax<axes = [-1]>(a) e = Max(m, onef) h = Mul(x, c) y = Div(h, e) }`,
	"sums past a format":              `b (float[1, 2, 6, 8] x, float[1, 2, 6, 8] z, float[1, 2, 6, 8] h) => (y) { c = Constant<value_float = 6.0>() q = Relu(x) k = Relu(z) kc = Mul(k, c) v = Mul(h, c) p = Constant<value_ints = [0, 0, 0, 0, 0, 0, 0, 1]>() o = Pad(v, p, onef) t = Transpose<perm = [0, 1, 3, 2]>(kc) kv = MatMul(t, o) qc = Mul(q, c) r = MatMul(qc, kv) i0 = Constant<value = int64[1] {0}>() i9 = Constant<value = int64[1] {9223372036854775807}>() n = Slice(r, i0, last, last) d = Slice(r, last, i9, last) e = Add(d, onef) y = Div(n, e) }`,
	"a power that is no square":       `b (float[2, 16] x) => (y) { m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) c = Constant<value_float = -2.0>() q = Pow(d, c) v = ReduceMean<axes = [-1]>(q) e = Add(v, eps) r = Sqrt(e) y = Div(d, r) }`,
	"share past a format":             `b (float[2, 16] x) => (y) { c = Constant<value_float = 3e-6>() k = Constant<value_float = 4000.0>() a = Abs(x) t = Mul(a, c) s = ReduceSum(t, last) e = Add(s, eps) f = Div(a, e) h = Mul(x, k) y = Mul(h, f) }`,
	"function over its argument":      `b (float[2, 16] x) => (y) { c = Constant<value_float = 1e-5>() d = Mul(x, c) s = HardSigmoid(d) y = Div(s, d) }`,
	"overlap of other masks":          `b (float[6, 16] x, float[6, 16] z) => (y) { p = Sigmoid(x) t = Sigmoid(z) m = Mul(p, t) i = ReduceSum(m, last) a = ReduceSum<keepdims = 0>(p, last) c = ReduceSum<keepdims = 0>(t, last) two = Constant<value_float = 2.0>() n0 = Mul(i, two) n = Add(n0, onef) d0 = Add(a, c) d = Add(d0, onef) y = Div(n, d) }`,
	"root of a rounded difference":    `b (float[2, 16] x) => (y) { c = Constant<value_float = 1e-9>() d = Mul(x, c) r = Sqrt(d) y = Reciprocal(r) }`,
}

// TestNearMisses runs them in FP32 and in the formats that they are rewritten to.
func TestNearMisses(t *testing.T) {
	all := maps.Clone(nearMisses)
	maps.Copy(all, rarerMisses)
	for name, body := range all {
		src := relatedModel(body)
		t.Run(name, func(t *testing.T) { probe(t, src, numfmt.Invalid) })
		for _, as := range []string{"fp16", "mixed"} {
			t.Run(name+" "+as, func(t *testing.T) { probeStored(t, src, as) })
		}
	}
}
