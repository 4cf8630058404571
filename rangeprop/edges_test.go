package rangeprop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph/onnxtxt"
)

// An edge is a model in which something is empty, infinite, negative or below the least number of its format where
// it seldom is; each input lies in [-4, 4].
type edge struct {
	opset int
	body  string
}

var edges = map[string]edge{
	"mean of whole numbers":              {17, `b (float[2, 6, 16] x, int64[2, 6] k) => (y) { two = Constant<value = int64[1] {2}>() n = ReduceMean<axes = [1]>(k) u = Unsqueeze(k, two) a = Cast<to = 1>(u) d = Cast<to = 1>(n) m = Mul(x, a) i1 = Constant<value = int64[1] {1}>() s = ReduceSum<keepdims = 0>(m, i1) y = Div(s, d) }`},
	"weight that overflows times more":   {17, `b (float[2, 16] x, float[2, 16] z) => (y) { c = Constant<value_float = 0.13>() o = Constant<value_float = 29.2>() h0 = Mul(x, c) h = Add(h0, o) e = Exp(h) n0 = Mul(e, e) n = Mul(n0, e) m = Mul(z, n) d = Add(n, onef) y = Div(m, d) }`},
	"products past their sums":           {17, `b (float[1, 2, 6, 8] x, float[1, 2, 6, 8] z, float[1, 2, 6, 8] h) => (y) { c = Constant<value_float = 5e36>() f = Constant<value_float = 0.2>() q = Relu(x) qf = Mul(q, f) k = Relu(z) kc = Mul(k, c) p = Constant<value_ints = [0, 0, 0, 0, 0, 0, 0, 1]>() o = Pad(h, p, onef) t = Transpose<perm = [0, 1, 3, 2]>(kc) kv = MatMul(t, o) r = MatMul(qf, kv) i0 = Constant<value = int64[1] {0}>() i9 = Constant<value = int64[1] {9223372036854775807}>() n = Slice(r, i0, last, last) d = Slice(r, last, i9, last) e = Add(d, onef) y = Div(n, e) }`},
	"logarithm of no exponentials":       {17, `b (float[2, 0] x) => (y) { m = ReduceMax<axes = [-1]>(x) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, last) y = Log(s) }`},
	"mean of no numbers":                 {17, `b (float[1, 4, 0, 0] x) => (y) { y = GlobalAveragePool(x) }`},
	"deviation of no numbers":            {17, `b (float[2, 0] x, float[0] z) => (y) { n, m, r = LayerNormalization(x, z) y = Add(m, r) }`},
	"norm by less than 0":                {17, `b (float[2, 16] x) => (y) { y = LayerNormalization<epsilon = -0.5>(x, g) }`},
	"image normalised by less than 0":    {17, `b (float[2, 16, 3] x) => (y) { y = InstanceNormalization<epsilon = -0.5>(x, g, g) }`},
	"length by less than 0":              {23, `b (float[2, 16] x) => (y) { y = RMSNormalization<epsilon = -5.0>(x, g) }`},
	"scores scaled by less than 0":       {23, `b (float[1, 2, 3, 8] x) => (y) { y = Attention<scale = -0.1>(x, x, x) }`},
	"elements dropped by less than 0":    {17, `b (float[2, 16] x, bool z) => (y) { r = Constant<value_float = -2.0>() y = Dropout(x, r, z) }`},
	"float8 off zero":                    {19, `b (float[2, 16] x, float[2] z) => (y) { q = ReduceMax(z) k = Cast<to = 17>(q) j = QuantizeLinear(x, onef, k) y = Cast<to = 1>(j) }`},
	"infinity held in 16 bits":           {17, `b (float[2, 16] x) => (y) { c = Constant<value_float = 9999.0>() h = Mul(x, c) m = MatMul(h, w) l = Cast<to = 10>(m) i = Constant<value = int64[3] {1, 2, 16}>() s = Reshape(l, i) y = Cast<to = 1>(s) }`},
	"share that overflows on its way":    {17, `b (float[1, 4, 4, 8] x) => (y) { c = Constant<value_float = 4000.0>() h = Mul(x, c) r = ReduceL2<axes = [1, 2]>(h) m = ReduceMean<axes = [-1]>(r) e = Add(m, eps) d = Div(r, e) a = Cast<to = 10>(h) f = Cast<to = 10>(d) k = Mul(a, f) l = Cast<to = 1>(k) y = Mul(l, c) }`},
	"activation of what overflows":       {27, `b (float16[2, 4, 8] x) => (y) { v = Constant<value_float = -30000.0>() s = Constant<value = int64[3] {4, 1, 4}>() o = Expand(v, s) k = Cast<to = 10>(o) y = CausalConvWithState<activation = "silu">(x, k) }`},
	"norm by an infinite variance":       {17, `b (float[8, 16] x) => (y) { c = Constant<value_float = 30.0>() h = Mul(x, c) e = Exp(h) i0 = Constant<value = int64[1] {0}>() m = ReduceSum<keepdims = 0>(e, i0) i16 = Constant<value = int64[1] {16}>() o = Expand(onef, i16) y = BatchNormalization(h, o, o, m, m) }`},
	"length cut off below infinity":      {9, `b (float[2, 16] x) => (y) { c = Constant<value = float {1e38}>() h = Mul(x, c) t = Add(h, h) n = ReduceL2<axes = [1]>(t) k = Clip<min = 0.1>(n) y = Div(t, k) }`},
	"mean below the least number":        {17, `b (float[2, 6, 8] x, float[2, 6] z) => (y) { c = Constant<value_float = 2.5e-7>() k = Constant<value_float = 0.001>() h = Mul(x, c) j = Mul(z, k) p = Softmax(j) u = Unsqueeze(p, last) m = Mul(u, h) i1 = Constant<value = int64[1] {1}>() y = ReduceSum<keepdims = 0>(m, i1) }`},
	"root mean below the least number":   {17, `b (float[2, 6, 8] x, int64[2, 6] k) => (y) { c = Constant<value_float = 0.0001>() u = Unsqueeze(k, last) a = Cast<to = 1>(u) m = Mul(x, a) i1 = Constant<value = int64[1] {1}>() s = ReduceSum<keepdims = 0>(m, i1) n = ReduceSum<keepdims = 0>(a, i1) d = Max(n, onef) r = Sqrt(d) sc = Mul(s, c) sd = Mul(sc, c) y = Div(sd, r) }`},
	"blend below the least number":       {17, `b (float[2, 16] x, float[2, 16] z, float[2, 16] h) => (y) { c = Constant<value_float = 0.01>() k = Constant<value_float = 1.04e-5>() a0 = Mul(x, c) a = Mul(a0, k) b0 = Mul(z, c) d = Mul(b0, k) j = Mul(h, k) s = Sigmoid(j) i = Sub(onef, s) p = Mul(a, s) q = Mul(d, i) y = Add(p, q) }`},
	"pair turned below the least number": {17, `b (float[2, 16] x, float[2, 16] z, float[2, 16] h) => (y) { c = Constant<value_float = 0.01>() k = Constant<value_float = 1.04e-5>() a0 = Mul(x, c) a = Mul(a0, k) b0 = Mul(z, c) d = Mul(b0, k) j = Mul(h, k) o = Constant<value_float = 0.785>() r = Add(j, o) s = Cos(r) i = Sin(r) p = Mul(a, s) q = Mul(d, i) y = Add(p, q) }`},
	"length of what vanishes":            {17, `b (float[2, 16] x) => (y) { c = Constant<value_float = 1e-30>() h = Mul(x, c) n = ReduceL2<axes = [-1]>(h) y = Div(h, n) }`},
	"product with a vanished length":     {17, `b (float[4, 16] x) => (y) { c = Constant<value_float = 1e-30>() o = Add(x, x) h0 = Sigmoid(o) h = Mul(h0, c) n = ReduceL2<axes = [-1]>(h) d = Div(h, n) y = MatMul(d, w) }`},
	"quotient by -0":                     {17, `b (float[2, 16] x) => (y) { r = Relu(x) n = Neg(r) m = ReduceMax<axes = [-1]>(n) d = Clip(m, zero) y = Div(n, d) }`},
	"root of a count in 16 bits":         {17, `b (float[2, 6, 8] x, int64[2, 6] k) => (y) { u = Unsqueeze(k, last) a = Cast<to = 1>(u) m = Mul(x, a) i1 = Constant<value = int64[1] {1}>() s = ReduceSum<keepdims = 0>(m, i1) n = ReduceSum<keepdims = 0>(a, i1) l = Cast<to = 10>(n) o = Cast<to = 10>(onef) d = Max(l, o) r0 = Sqrt(d) r = Cast<to = 1>(r0) y = Div(s, r) }`},
	"largest of padding":                 {17, `b (float[1, 4, 0, 2] x) => (y) { y = MaxPool<kernel_shape = [3, 3], pads = [2, 2, 2, 2]>(x) }`},
	"mean of padding":                    {19, `b (float[1, 4, 2, 2] x) => (y) { y = AveragePool<kernel_shape = [2, 2], dilations = [3, 3], pads = [2, 2, 2, 2]>(x) }`},
}

// TestEdges runs them as they are and in the formats that they are rewritten to.
func TestEdges(t *testing.T) {
	for name, e := range edges {
		whole := relatedModel
		if e.opset < 12 { // the shared constants are newer
			whole = model
		}
		src := strings.Replace(whole(e.body), `"" : 17`, fmt.Sprintf(`"" : %d`, e.opset), 1)
		t.Run(name, func(t *testing.T) {
			m, err := onnxtxt.Parse("test", []byte(src))
			if err != nil {
				t.Fatal(err)
			}
			newTrial(t, m, knobs{runs: 4 * len(patterns), climbs: 4, scale: 1, slack: slack, least: 1e-9}).tryAll()
		})
		for _, as := range []string{"fp16", "mixed"} {
			t.Run(name+" "+as, func(t *testing.T) { probeStored(t, src, as) })
		}
	}
}
