package rangeprop_test

import (
	"math"
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// exported are further related spellings, as exporters write losses, norms and pools.
var exported = map[string]relation{
	"loss with logits":                    {`b (float[2, 16] x, float[2, 16] z) => (y) { t = Sigmoid(z) r = Relu(x) m = Mul(x, t) d = Sub(r, m) a = Abs(x) n = Neg(a) e = Exp(n) o = Add(e, onef) l = Log(o) y = Add(d, l) }`, rangeprop.Range{Lo: -0.01, Hi: 4.1}},
	"loss by log-sigmoid":                 {`b (float[2, 16] x, float[2, 16] z) => (y) { t = Sigmoid(z) c = Sub(onef, t) m = Mul(c, x) s = Sigmoid(x) l = Log(s) y = Sub(m, l) }`, rangeprop.Range{Lo: -0.01, Hi: 4.1}},
	"divergence of a gaussian":            {`b (float[2, 16] x, float[2, 16] z) => (y) { a = Add(x, onef) q = Mul(z, z) d = Sub(a, q) e = Exp(x) s = Sub(d, e) y = Neg(s) }`, rangeprop.Range{Lo: -0.2, Hi: 66}},
	"largest over many steps":             {`b (float[2, 16] x) => (y) { a = Abs(x) m = ReduceMax<axes = [-1]>(a) k = Constant<value_float = 127.0>() s = Div(m, k) e = Add(s, eps) y = Div(x, e) }`, rangeprop.Range{Lo: -128, Hi: 128}},
	"mean of weighted negatives":          {`b (float[2, 16] x, float[2, 16] z) => (y) { t = Sigmoid(z) n = Neg(x) m = Mul(n, t) a = ReduceSum(m, last) b1 = ReduceSum(t, last) c = Add(b1, eps) y = Div(a, c) }`, rangeprop.Range{Lo: -4.1, Hi: 4.1}},
	"parts of a unit vector":              {`b (float[2, 4] x) => (y) { r = ReduceL2<axes = [-1]>(x) c = Max(r, eps) u = Div(x, c) s, t, v, w1 = Split<axis = -1>(u) a = Squeeze(s, last) c1 = Squeeze(t, last) d = Add(a, c1) y = Mul(d, d) }`, rangeprop.Range{Lo: -0.01, Hi: 4.1}},
	"log-sum-exp from below":              {`b (float[2, 16] x) => (y) { mx = ReduceMax<axes = [-1]>(x) d = Sub(x, mx) e = Exp(d) s = ReduceSum(e, last) l = Log(s) y = Add(l, mx) }`, rangeprop.Range{Lo: -1.3, Hi: 6.9}},
	"mean over a flattened image":         {`b (float[2, 3, 4, 4] x) => (y) { flat = Constant<value = int64[3] {2, 3, -1}>() back = Constant<value = int64[4] {2, 3, 1, 1}>() v = Reshape(x, flat) m = ReduceMean<axes = [2], keepdims = 0>(v) k = ReduceMean<axes = [2]>(v) d = Sub(v, k) q = Mul(d, d) a = ReduceMean<axes = [2], keepdims = 0>(q) e = Add(a, eps4) r = Sqrt(e) s = Reshape(r, back) u = Reshape(m, back) c = Sub(x, u) y = Div(c, s) }`, rangeprop.Range{Lo: -3.9, Hi: 3.9}},
	"norm of a flattened image":           {`b (float[2, 3, 4, 4] x) => (y) { back = Constant<value = int64[4] {2, 1, 1, 1}>() v = Flatten(x) n = ReduceL2<axes = [1]>(v) e = Add(n, eps) s = Reshape(e, back) y = Div(x, s) }`, rangeprop.Range{Lo: -1.01, Hi: 1.01}},
	"rows by themselves in an einsum":     {`b (float[2, 16] x) => (y) { q = Einsum<equation = "bi,bi->b">(x, x) e = Add(q, eps) r = Sqrt(e) i1 = Constant<value = int64[1] {1}>() u = Unsqueeze(r, i1) y = Div(x, u) }`, rangeprop.Range{Lo: -1.01, Hi: 1.01}},
	"rows by themselves as columns":       {`b (float[2, 16] x) => (y) { i1 = Constant<value = int64[1] {1}>() i2 = Constant<value = int64[1] {2}>() a = Unsqueeze(x, i1) c = Unsqueeze(x, i2) m = MatMul(a, c) q = Squeeze(m, i2) e = Add(q, eps) r = Sqrt(e) y = Div(x, r) }`, rangeprop.Range{Lo: -1.01, Hi: 1.01}},
	"norm of other groups":                {`b (float[4, 4] x) => (y) { flat = Constant<value = int64[2] {2, 8}>() back = Constant<value = int64[2] {4, 2}>() v = Reshape(x, flat) n = ReduceL2<axes = [0], keepdims = 0>(v) e = Add(n, eps4) p = Constant<value = int64[2] {2, 4}>() s = Reshape(e, p) t = Concat<axis = 0>(s, s) y = Div(x, t) }`, rangeprop.Range{Lo: math.Inf(-1), Hi: math.Inf(1)}},
	"counted where a mask is 0":           {`b (float[2, 6, 16] x, int64[2, 6] k) => (y) { i0 = Constant<value = int64 {0}>() i1 = Constant<value = int64[1] {1}>() two = Constant<value = int64[1] {2}>() u = Unsqueeze(k, two) e = Equal(u, i0) m = Where(e, zero, x) s = ReduceSum<keepdims = 0>(m, i1) n = ReduceSum<keepdims = 1>(k, i1) f = Cast<to = 1>(n) c = Clip(f, onef) i = Cast<to = 7>(c) d = Cast<to = 1>(i) y = Div(s, d) }`, rangeprop.Range{Lo: -4.1, Hi: 4.1}},
	"correlation by means":                {`b (float[2, 16] x, float[2, 16] z) => (y) { m = Mul(x, z) a = ReduceMean<axes = [-1]>(m) q = Mul(x, x) r = ReduceMean<axes = [-1]>(q) s = Sqrt(r) t = Mul(z, z) u = ReduceMean<axes = [-1]>(t) v = Sqrt(u) p = Mul(s, v) e = Add(p, eps) y = Div(a, e) }`, rangeprop.Range{Lo: -1.01, Hi: 1.01}},
	"cosine under a root with epsilon":    {`b (float[2, 16] x, float[2, 16] z) => (y) { m = Mul(x, z) a = ReduceSum(m, last) q = Mul(x, x) c = ReduceSum(q, last) t = Mul(z, z) d = ReduceSum(t, last) p = Mul(c, d) e = Add(p, eps) r = Sqrt(e) y = Div(a, r) }`, rangeprop.Range{Lo: -1.01, Hi: 1.01}},
	"turned pairs":                        {`b (float[2, 6, 16] x, float[2, 6, 8] z) => (y) { i0 = Constant<value = int64[1] {0}>() i8 = Constant<value = int64[1] {8}>() i16 = Constant<value = int64[1] {16}>() ax = Constant<value = int64[1] {2}>() k = Constant<value_float = 1.1>() t = Concat<axis = -1>(z, z) c0 = Cos(t) c = Mul(c0, k) s0 = Sin(t) s = Mul(s0, k) l = Slice(x, i0, i8, ax) r = Slice(x, i8, i16, ax) m = Neg(r) h = Concat<axis = -1>(m, l) p = Mul(x, c) q = Mul(h, s) y = Add(p, q) }`, rangeprop.Range{Lo: -6.3, Hi: 6.3}},
	"turned by another angle":             {`b (float[2, 16] x, float[2, 16] z, float[2, 16] h) => (y) { c = Cos(z) s = Sin(h) p = Mul(x, c) q = Mul(x, s) y = Sub(p, q) }`, rangeprop.Range{Lo: -8.1, Hi: 8.1}},
	"class found by comparing":            {`b (float[2, 16] x, int64[2, 1] k) => (y) { a = Constant<value = int64[16] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}>() e = Equal(k, a) o = Cast<to = 1>(e) m = Mul(o, x) y = ReduceSum(m, last) }`, rangeprop.Range{Lo: -4.01, Hi: 4.01}},
	"above the least":                     {`b (float[2, 16] x) => (y) { m = ReduceMin<axes = [-1]>(x) d = Sub(x, m) h = ReduceMax<axes = [-1]>(d) e = Add(h, eps) y = Div(d, e) }`, rangeprop.Range{Lo: -0.001, Hi: 1.001}},
	"cut off by a condition":              {`b (float[2, 16] x) => (y) { c = Constant<value_float = 0.999>() k = Constant<value_float = 0.001>() o = Greater(c, x) a = Where(o, x, c) l = Less(a, k) p = Where(l, k, a) i = Sub(onef, p) q = Div(p, i) y = Log(q) }`, rangeprop.Range{Lo: -6.92, Hi: 6.92}},
	"logarithm of a mean of exponentials": {`b (float[2, 16] x) => (y) { k = Constant<value_float = 3.0>() a = Mul(x, k) e = Exp(a) m = ReduceMean<axes = [-1]>(e) y = Log(m) }`, rangeprop.Range{Lo: -12.1, Hi: 12.1}},
	"products of rectified units":         {`b (float[3, 4] x, float[4, 3] z) => (y) { a = Relu(x) c = Relu(z) m = MatMul(a, c) y = Sqrt(m) }`, rangeprop.Range{Lo: 0, Hi: 8.1}},
	"divergence of a batch":               {`b (float[2, 16] x, float[2, 16] z) => (y) { p = Softmax<axis = -1>(x) q = LogSoftmax<axis = -1>(z) l = Log(p) d = Sub(l, q) j = Mul(p, d) c = Greater(p, zero) k = Where(c, j, zero) y = ReduceSum<keepdims = 0>(k) }`, rangeprop.Range{Lo: -22, Hi: 22}},
}

// TestBiasBeforeKink: a function behind an added bias is bounded as well as behind a Gemm that adds it.
func TestBiasBeforeKink(t *testing.T) {
	tops := map[string]float64{}
	for name, body := range map[string]string{"add": `a = MatMul(n, w) b = Add(a, g)`, "gemm": `b = Gemm(n, w, g)`} {
		m, res := analyze(t, model(`m (float[6, 16] x) => (y) {
 n = LayerNormalization(x, g, g) `+body+` two = Constant<value_float = 1.4142135>() half = Constant<value_float = 0.5>() e = Div(b, two) f = Erf(e) h = Add(f, onef) i = Mul(b, h) j = Mul(i, half) y = MatMul(j, w) }`),
			rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-4, 4)}})
		tops[name] = res.Val(m.Graph.Outputs[0]).Hull().MaxAbs()
	}
	if a, b := tops["add"], tops["gemm"]; a > 1.01*b || b > 1.01*a {
		t.Errorf("%v behind an Add, %v behind a Gemm", a, b)
	}
}
