package rangeprop_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// small are models of the parts that real ones are made of; each input lies in [-4, 4].
var small = map[string]string{
	"encoder block": `b (float[2, 6, 16] x, float[2, 6] keep) => (y) {
  q = MatMul(x, w) k = MatMul(x, w) v = MatMul(x, w)
  shape = Constant<value_ints = [2, 6, 2, 8]>() back = Constant<value_ints = [2, 6, 16]>() one = Constant<value = int64[1] {1}>()
  q1 = Reshape(q, shape) k1 = Reshape(k, shape) v1 = Reshape(v, shape)
  q2 = Transpose<perm = [0, 2, 1, 3]>(q1) k2 = Transpose<perm = [0, 2, 3, 1]>(k1) v2 = Transpose<perm = [0, 2, 1, 3]>(v1)
  s = MatMul(q2, k2) a = Clip(keep, zero, zero) two = Constant<value = int64[2] {1, 2}>() m = Unsqueeze(a, two) z = Add(s, m)
  p = Softmax<axis = -1>(z) o = MatMul(p, v2) o1 = Transpose<perm = [0, 2, 1, 3]>(o) o2 = Reshape(o1, back)
  d = MatMul(o2, w) r = Add(x, d) n = LayerNormalization(r, g, g)
  h = MatMul(n, w) t = Tanh(h) u = MatMul(t, w) e = Add(n, u) y = LayerNormalization(e, g, g) }`,
	"rectified units": `b (float[2, 6, 16] x) => (y) {
  n = LayerNormalization(x, g, g) a = MatMul(n, w) r = Relu(a) c = MatMul(r, w) o = Add(c, g)
  two = Constant<value_float = 1.4142135>() half = Constant<value_float = 0.5>() e = Div(o, two) f = Erf(e) h = Add(f, onef) i = Mul(o, h) j = Mul(i, half) k = MatMul(j, w)
  l = Sigmoid(k) m = Mul(k, l) u = LeakyRelu(m) y = MatMul(u, w) }`,
	"gated unit": `b (float[2, 6, 16] x) => (y) {
  s = Mul(x, x) v = ReduceMean<axes = [-1]>(s) e = Add(v, eps) r = Sqrt(e) n = Div(x, r) c = Mul(n, g)
  a = MatMul(c, w) l = Sigmoid(a) i = Mul(a, l) u = MatMul(c, w) h = Mul(i, u) d = MatMul(h, w) y = Add(x, d)
  q = Mul(y, y) f = ReduceMean<axes = [-1]>(q) }`,
	"packed heads": `b (float[6, 2, 16] x) => (y) {
  n = LayerNormalization(x, g) q = MatMul(n, w) shape = Constant<value_ints = [6, 2, 2, 2, 4]>() r = Reshape(q, shape)
  t = Transpose<perm = [2, 1, 3, 0, 4]>(r) zero0 = Constant<value_int = 0>() one0 = Constant<value_int = 1>()
  a = Gather(t, zero0) b = Gather(t, one0) c = Transpose<perm = [0, 1, 3, 2]>(b) y = MatMul(a, c) }`,
	"rows by one-hot numbers, some of none": `b (float[2, 6, 16] x, int64[2, 3] i) => (y) {
  n = LayerNormalization(x, g, g) seven = Constant<value_int = 7>() six = Constant<value_int = 6>() ends = Constant<value_floats = [0.0, 1.0]>()
  fifty = Constant<value_float = 50.0>() m = Add(n, fifty) k = Mul(i, seven) o = OneHot(k, six, ends) r = MatMul(o, m) y = MatMul(r, w) }`,
	"part of each head": `b (float[2, 6, 16] x) => (y) {
  n = LayerNormalization(x, g, g) split = Constant<value_ints = [2, 6, 2, 8]>() a = Reshape(n, split) q = Transpose<perm = [0, 2, 1, 3]>(a) k = Transpose<perm = [0, 2, 3, 1]>(a)
  s = MatMul(q, k) p = Softmax(s) o = MatMul(p, q) i0 = Constant<value = int64[1] {0}>() i4 = Constant<value = int64[1] {4}>() i8 = Constant<value = int64[1] {8}>() ax = Constant<value = int64[1] {3}>()
  h = Slice(o, i0, i4, ax) t = Transpose<perm = [0, 2, 1, 3]>(h) flat = Constant<value_ints = [2, 6, 8]>() f = Reshape(t, flat) v = Slice(w, i0, i8, i0) y = MatMul(f, v) }`,
	"a row of fewer axes": `b (float[2, 6, 16] x, float[6, 16] z) => (y) {
  n = LayerNormalization(x, g, g) m = LayerNormalization(z, g) s = Add(n, m) h = MatMul(s, w) d = Sub(m, h) y = MatMul(d, w) }`,
	"a norm in two products": `b (float[2, 6, 16] x) => (y) {
  m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes = [-1]>(q) e = Add(v, eps) s = Sqrt(e) r = Reciprocal(s) k = Mul(r, g)
  a = Mul(x, k) c = Mul(m, k) o = Sub(g, c) f = Add(a, o) y = MatMul(f, w) }`,
	"a norm with several scales": `b (float[2, 6, 16] x) => (y) {
  m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes = [-1]>(q) e = Add(v, eps) s = Sqrt(e) r = Div(d, s) k = Mul(r, g) two = Constant<value_float = -2.0>() i = Mul(k, two) j = Add(i, g) o = Add(j, onef) y = MatMul(o, w)
  l = LayerNormalization(x, g) l2 = Mul(l, g) l3 = Add(l2, g) z = MatMul(l3, w) }`,
	"weights on the right": `b (float[2, 6, 16] x) => (y) {
  fifty = Constant<value_float = 50.0>() n = LayerNormalization(x, g, g) k = Transpose<perm = [0, 2, 1]>(n) s = MatMul(n, k) p = Softmax<axis = -2>(s) v = Add(k, fifty) y = MatMul(v, p)
  q = Softmax(s) r = Transpose<perm = [0, 2, 1]>(q) z = MatMul(v, r) one1 = Constant<value = int64[1] {1}>() o = ReduceSum(r, one1) t = MatMul(v, q) }`,
	"rotary": `b (float[2, 6, 16] x, float[1, 6, 1] pos) => (y) {
  n = LayerNormalization(x, g) f = Sin(pos) h = Cos(pos) i0 = Constant<value = int64[1] {0}>() i8 = Constant<value = int64[1] {8}>() i16 = Constant<value = int64[1] {16}>() ax = Constant<value = int64[1] {2}>()
  l = Slice(n, i0, i8, ax) r = Slice(n, i8, i16, ax) m = Neg(r) c = Concat<axis = -1>(m, l) p = Mul(n, h) q = Mul(c, f) s = Add(p, q) y = MatMul(s, w) }`,
	"pooled": `b (float[2, 6, 16] x, float[2, 6, 1] m) => (y) {
  k = Sigmoid(m) w1 = Mul(x, k) ax = Constant<value = int64[1] {1}>() a = ReduceSum(w1, ax) c = ReduceSum(k, ax) d = Max(c, eps) p = Div(a, d) l = ReduceL2<axes = [-1]>(p) j = Max(l, eps) y = Div(p, j) }`,
	"loop": `b (float[16] x) => (y) {
  n = Constant<value_int = 5>() t = Constant<value = bool {1}>()
  y = Loop(n, t, x) <body = g (int64 i, bool c, float[16] v) => (bool c2, float[16] v2) { c2 = Identity(c) h = Mul(v, x) u = Tanh(h) v2 = Add(v, u) }> }`,
	"endless loop": `b (float[16] x, int64 n) => (y) {
  t = Constant<value = bool {1}>()
  y = Loop(n, t, x) <body = g (int64 i, bool c, float[16] v) => (bool c2, float[16] v2) { c2 = Identity(c) k = Constant<value_float = 0.5>() h = Mul(v, k) v2 = Add(h, x) }> }`,
	"scan": `b (float[6, 16] x) => (s, y) {
  zero1 = Constant<value = float[16] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}>()
  s, y = Scan(zero1, x) <num_scan_inputs = 1, body = g (float[16] a, float[16] v) => (float[16] b, float[16] o) { b = Add(a, v) o = Exp(b) }> }`,
	"linear attention": `b (float[1, 3, 4] x, float[1, 3, 4] k, float[1, 3, 6] v, float[1, 3, 2] d, float[1, 3, 2] t) => (y) {
  p = Constant<value = float[1, 2, 2, 3] {1, -1, 2, 0, 1, 1, 3, -2, 1, 0, 0, 1}>() o, s = LinearAttention<q_num_heads = 2, kv_num_heads = 2, update_rule = "gated_delta">(x, k, v, p, d, t) y = Neg(o) }`,
	"batch norm by its batch": `b (float[6, 2, 3] x) => (y) {
  s = Constant<value = float[2] {1, -2}>() o = Constant<value = float[2] {1, 0.5}>() y, m, v = BatchNormalization<training_mode = 1>(x, s, o, o, s) }`,
	"shares whose sum overflows":  `b (float[2, 16] x, float[16, 3] z) => (y) { k = Constant<value_float = 22.0>() last = Constant<value = int64[1] {-1}>() a = Mul(x, k) e = Exp(a) s = ReduceSum(e, last) p = Div(e, s) o = Add(z, k) y = MatMul(p, o) }`,
	"logits of another precision": `b (float[2, 16] x) => (y) { k = Constant<value_float = 22.0>() last = Constant<value = int64[1] {-1}>() a = Mul(x, k) h = Cast<to = 10>(a) i = Cast<to = 1>(h) m = ReduceMax<axes = [-1]>(i) d = Sub(a, m) e = Exp(d) s = ReduceSum(e, last) l = Log(s) y = Sub(d, l) }`,
	"one branch gives nothing": `b (float[6] x, float[6] z) => (y) {
  i0 = Constant<value = int64[1] {0}>() s = ReduceSum<keepdims = 0>(z) c = Greater(s, zero)
  y = If(c) <then_branch = t () => (float[M] p) { none = Constant<value = float[0] {}>() p = Identity(none) }, else_branch = e () => (float[K] q) { q = Exp(x) }> }`,
	"branches of two ranks": `b (float[2, 3] x, float[3] z) => (y) {
  s = ReduceSum<keepdims = 0>(z) c = Greater(s, zero) i0 = Constant<value = int64[1] {0}>()
  a = If(c) <then_branch = t () => (float[2, 3] p) { p = Relu(x) }, else_branch = e () => (float[3] q) { q = Neg(z) }> y = Exp(a) }`,
	"tensors that grow": `b (float[2] x, int64 n) => (y, z) {
  t = Constant<value = bool {1}>() k = Constant<value = float[2] {0, 5}>() n1 = Add(n, n)
  y, z = Loop(n1, t, k) <body = g (int64 i, bool c, float[P] v) => (bool c2, float[Q] w, float[1] o) { c2 = Identity(c) first = Constant<value = int64[1] {0}>() o = Gather(v, first) five = Constant<value = float[1] {5}>() w = Concat<axis = 0>(five, v) }> }`,
	"sequences that fill": `b (float[3] x, int64 n) => (y) {
  t = Constant<value = bool {1}>() none = SequenceEmpty() n1 = Add(n, onei)
  q = Loop(n1, t, none) <body = g (int64 i, bool c, seq(float[3]) v) => (bool c2, seq(float[3]) w) { c2 = Identity(c) e = Exp(x) w = SequenceInsert(v, e) }> y = ConcatFromSequence<axis = 0>(q) }`,
	"convolution": `b (float[1, 2, 6, 6] x) => (y) {
  k = Constant<value = float[3, 2, 2, 2] {1, -1, 0.5, 2, -2, 1, 0, 1, 1, 1, 1, 1, -1, -1, 3, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}>()
  c = Conv<pads = [1, 1, 0, 0]>(x, k) r = HardSwish(c) p = MaxPool<kernel_shape = [2, 2]>(r) a = GlobalAveragePool(p) b1 = Sub(p, a) y = Exp(b1) }`,
	"activations": `b (float[2, 16] x) => (y) {
  e = Exp(x) o = Add(e, onef) l = Log(o) t = Tanh(l) m = Mul(x, t) p = Sub(l, x) k = Greater(x, zero) q = Where(k, x, e) i = Mul(m, q) y = Sub(i, p) }`,
	"log-sum-exp": `b (float[2, 16] x) => (y, z) {
  mx = ReduceMax<axes = [-1]>(x) d = Sub(x, mx) e = Exp(d) ax = Constant<value = int64[1] {1}>() s = ReduceSum(e, ax) l = Log(s) y = Add(l, mx) p = Div(e, s) h = Log(p) j = Mul(p, h) z = ReduceSum(j, ax) }`,
}

// fastNorm is the variance as E[x²] - m², which rows without much spread lose to rounding.
const fastNorm = `mu = ReduceMean<axes = [-1]>(x) q = Mul(x, x) e = ReduceMean<axes = [-1]>(q) m2 = Mul(mu, mu) v = Sub(e, m2)`

// relation is a spelling, and what the last value of it lies in.
type relation struct {
	body string
	want rangeprop.Range
}

// related are spellings whose parts are not free of one another, with the bounds that follow from
// that for inputs in [-4, 4].
var related = map[string]relation{
	"entropy":         {`b (float[2, 16] x) => (y) { p = Softmax<axis = -1>(x) l = LogSoftmax<axis = -1>(x) j = Mul(p, l) s = ReduceSum(j, last) y = Neg(s) }`, rangeprop.Range{Lo: -0.2, Hi: 6.2}},
	"divergence":      {`b (float[2, 16] x, float[2, 16] z) => (y) { p = Softmax<axis = -1>(x) q = LogSoftmax<axis = -1>(z) l = Log(p) d = Sub(l, q) j = Mul(p, d) c = Greater(p, zero) k = Where(c, j, zero) y = ReduceSum(k, last) }`, rangeprop.Range{Lo: -6.5, Hi: 172}},
	"log of quotient": {`b (float[2, 16] x, float[2, 16] z) => (y) { a = Softmax<axis = -1>(x) c = Softmax<axis = -1>(z) p = Max(a, eps4) q = Max(c, eps4) r = Div(p, q) l = Log(r) y = Mul(l, p) }`, rangeprop.Range{Lo: -0.45, Hi: 10}},
	"gated update":    {`b (float[2, 16] x, float[2, 16] z) => (y) { a = Tanh(x) k = Sigmoid(z) i = Sub(onef, k) p = Mul(k, a) q = Mul(i, g) y = Add(p, q) }`, rangeprop.Range{Lo: -1.01, Hi: 1.21}},
	"gated lerp":      {`b (float[2, 16] x, float[2, 16] z) => (y) { a = Tanh(x) k = Sigmoid(z) d = Sub(g, a) p = Mul(k, d) y = Add(a, p) }`, rangeprop.Range{Lo: -1.01, Hi: 1.21}},
	"lerp downwards":  {`b (float[2, 16] x, float[2, 16] z) => (y) { a = Tanh(x) k = Sigmoid(z) d = Sub(a, g) p = Mul(k, d) y = Sub(a, p) }`, rangeprop.Range{Lo: -1.01, Hi: 1.21}},
	"boxes": {`b (float[6, 4] x, float[6, 4] z) => (y) { i0 = Constant<value = int64[1] {0}>() i2 = Constant<value = int64[1] {2}>() i4 = Constant<value = int64[1] {4}>()
  a = Slice(x, i0, i2, last) b1 = Slice(x, i2, i4, last) c = Slice(z, i0, i2, last) d = Slice(z, i2, i4, last) t = Min(b1, d) u = Max(a, c) s = Sub(t, u) k = Relu(s) i = ReduceProd<axes = [-1]>(k)
  e = Sub(b1, a) f = Relu(e) h = ReduceProd<axes = [-1]>(f) j = Sub(d, c) l = Relu(j) m = ReduceProd<axes = [-1]>(l) n = Add(h, m) o = Sub(n, i) q = Add(o, eps) y = Div(i, q) }`, rangeprop.Range{Lo: -0.01, Hi: 1.01}},
	"boxes by sums": {`b (float[6, 4] x, float[6, 4] z) => (y) { i0 = Constant<value = int64[1] {0}>() i2 = Constant<value = int64[1] {2}>() i4 = Constant<value = int64[1] {4}>()
  a = Slice(x, i0, i2, last) b1 = Slice(x, i2, i4, last) c = Slice(z, i0, i2, last) d = Slice(z, i2, i4, last) t = Min(b1, d) u = Max(a, c) un = Neg(u) s = Add(t, un) k = Relu(s) i = ReduceProd<axes = [-1]>(k)
  an = Neg(a) e = Add(an, b1) f = Relu(e) h = ReduceProd<axes = [-1]>(f) k1 = Sub(c, d) j = Neg(k1) l = Relu(j) m = ReduceProd<axes = [-1]>(l) n = Add(h, m) ni = Neg(i) o = Add(n, ni) q = Add(o, eps) y = Div(i, q) }`, rangeprop.Range{Lo: -0.01, Hi: 1.01}},
	"class loss": {`b (float[2, 16] x) => (y) { k = Constant<value = int64[2, 1] {3, 15}>() l = ReduceLogSumExp<axes = [-1]>(x) e = GatherElements<axis = 1>(x, k) y = Sub(l, e) }`, rangeprop.Range{Lo: -0.1, Hi: 10.8}},
	"guarded log-sum-exp": {`b (float[2, 16] x) => (y) { mx = ReduceMax<axes = [-1]>(x) a = IsNaN(mx) b1 = IsInf(mx) o = Or(a, b1) k = Not(o) c = Cast<to = 1>(k) n = Not(k) n1 = Cast<to = 1>(n) z1 = Mul(n1, zero) m = Mul(c, mx) w1 = Add(m, z1)
  d = Sub(x, w1) e = Exp(d) s = ReduceSum(e, last) l = Log(s) y = Add(l, w1) }`, rangeprop.Range{Lo: -4.1, Hi: 6.9}},
	"cosine under one root":              {`b (float[2, 16] x, float[2, 16] z) => (y) { m = Mul(x, z) a = ReduceSum(m, last) b1 = Mul(x, x) c = ReduceSum(b1, last) d = Mul(z, z) e = ReduceSum(d, last) f = Mul(c, e) r = Sqrt(f) h = Max(r, eps) y = Div(a, h) }`, rangeprop.Range{Lo: -1.01, Hi: 1.01}},
	"cosine of two norms":                {`b (float[2, 16] x, float[2, 16] z) => (y) { m = Mul(x, z) a = ReduceSum(m, last) c = ReduceL2<axes = [-1]>(x) d = ReduceL2<axes = [-1]>(z) f = Mul(c, d) h = Add(f, eps) y = Div(a, h) }`, rangeprop.Range{Lo: -1.01, Hi: 1.01}},
	"cosine of scaled vectors":           {`b (float[2, 16] x, float[2, 16] z) => (y) { k = Constant<value_float = 0.125>() o = Neg(k) u = Mul(x, k) v = Mul(z, o) m = Mul(u, v) a = ReduceSum(m, last) c = ReduceL2<axes = [-1]>(u) d = ReduceL2<axes = [-1]>(v) f = Mul(c, d) h = Add(f, eps) y = Div(a, h) }`, rangeprop.Range{Lo: -1.01, Hi: 1.01}},
	"ones beside the values":             {`b (float[1, 3, 4] x, float[1, 4, 3] z, float[1, 3, 5] h) => (y) { a = Relu(x) c = Relu(z) i0 = Constant<value = int64[1] {0}>() i9 = Constant<value = int64[1] {9223372036854775807}>() pads = Constant<value = int64[6] {0, 0, 0, 0, 0, 1}>() v = Pad(h, pads, onef) m = MatMul(c, v) p = MatMul(a, m) n = Slice(p, i0, last, last) d = Slice(p, last, i9, last) e = Add(d, eps) y = Div(n, e) }`, rangeprop.Range{Lo: -4.1, Hi: 4.1}},
	"masked deviation":                   {`b (float[2, 6, 16] x, float[2, 6, 1] z) => (y) { k = Sigmoid(z) i1 = Constant<value = int64[1] {1}>() s = ReduceSum(k, i1) c = Max(s, onef) m = Mul(x, k) a = ReduceSum(m, i1) u = Div(a, c) d = Sub(x, u) e = Mul(d, k) q = Mul(e, e) r = ReduceSum(q, i1) v = Div(r, c) y = Sqrt(v) }`, rangeprop.Range{Lo: -0.01, Hi: 8.1}},
	"style of another":                   {`b (float[2, 16] x, float[2, 16] z) => (y) { a = ReduceMean<axes = [-1]>(x) d = Sub(x, a) s = Mul(d, d) v = ReduceMean<axes = [-1]>(s) e = Add(v, eps) r = Sqrt(e) a2 = ReduceMean<axes = [-1]>(z) d2 = Sub(z, a2) s2 = Mul(d2, d2) v2 = ReduceMean<axes = [-1]>(s2) e2 = Add(v2, eps) r2 = Sqrt(e2) m = Mul(r2, d) y = Div(m, r) }`, rangeprop.Range{Lo: -16, Hi: 16}},
	"difference over sum":                {`b (float[2, 16] x) => (y) { e = Exp(x) n = Neg(x) f = Exp(n) d = Sub(e, f) s = Add(e, f) y = Div(d, s) }`, rangeprop.Range{Lo: -1.001, Hi: 1.001}},
	"shares that a mask lifts":           {`b (float[2, 16] x) => (y) { p = Relu(x) s = ReduceSum(p, last) c = Cast<to = 9>(s) n = Not(c) m = Cast<to = 1>(n) u = Add(p, m) k = Constant<value_float = 16.0>() l = Mul(m, k) v = Add(s, l) y = Div(u, v) }`, rangeprop.Range{Lo: 0, Hi: 1.001}},
	"mean over a dimension":              {`b (float[N, 16] x) => (y) { h = Shape(x) i0 = Constant<value_int = 0>() d = Gather(h, i0) f = Cast<to = 1>(d) s = ReduceSum<keepdims = 0>(x) y = Div(s, f) }`, rangeprop.Range{Lo: -64.2, Hi: 64.2}},
	"mean of a broadcast":                {`b (float[N, 16] x, float[M, 16] z) => (y) { a = Mul(x, z) h = Shape(x) i0 = Constant<value = int64[1] {0}>() d = Gather(h, i0) f = Cast<to = 1>(d) s = ReduceSum<keepdims = 0>(a) r = Reciprocal(f) y = Mul(s, r) }`, rangeprop.Range{Lo: -257, Hi: 257}},
	"mean by the number of elements":     {`b (float[N, 16] x) => (y) { h = Size(x) f = Cast<to = 1>(h) s = ReduceSum<keepdims = 0>(x) y = Div(s, f) }`, rangeprop.Range{Lo: -4.1, Hi: 4.1}},
	"pooled by einsum":                   {`b (float[2, 6, 16] x, float[2, 6] z) => (y) { k = Sigmoid(z) a = Einsum<equation = "bsd,bs->bd">(x, k) c = ReduceSum<keepdims = 1>(k, last) y = Div(a, c) }`, rangeprop.Range{Lo: -4.1, Hi: 4.1}},
	"pooled by a product":                {`b (float[2, 6, 16] x, float[2, 6] z) => (y) { k = Sigmoid(z) i1 = Constant<value = int64[1] {1}>() u = Unsqueeze(k, i1) a = MatMul(u, x) q = Squeeze(a, i1) c = ReduceSum<keepdims = 1>(k, last) d = Max(c, eps) y = Div(q, d) }`, rangeprop.Range{Lo: -4.1, Hi: 4.1}},
	"counted condition":                  {`b (float[2, 16] x, float[2, 16] z) => (y) { k = Greater(z, zero) c = Cast<to = 1>(k) m = Mul(c, x) s = ReduceSum(m, last) i = Cast<to = 6>(k) n = ReduceSum(i, last) f = Cast<to = 1>(n) d = Max(f, onef) y = Div(s, d) }`, rangeprop.Range{Lo: -4.1, Hi: 4.1}},
	"picked class":                       {`b (float[2, 16] x) => (y) { k = Constant<value = int64[2] {3, 99}>() n = Constant<value_int = 16>() v = Constant<value = int64[2] {0, 1}>() o = OneHot<axis = 1>(k, n, v) f = Cast<to = 1>(o) m = Mul(x, f) y = ReduceSum(m, last) }`, rangeprop.Range{Lo: -4.01, Hi: 4.01}},
	"attention by einsum":                {`b (float[2, 16] x, float[16, 3] z) => (y) { p = Softmax<axis = -1>(x) y = Einsum<equation = "qk,kd->qd">(p, z) }`, rangeprop.Range{Lo: -4.01, Hi: 4.01}},
	"weights in another shape":           {`b (float[2, 16] x, float[2, 16, 3] z) => (y) { p = Softmax<axis = -1>(x) h = Constant<value = int64[3] {2, 1, 16}>() q = Reshape(p, h) y = MatMul(q, z) }`, rangeprop.Range{Lo: -4.01, Hi: 4.01}},
	"batch statistics":                   {`b (float[6, 2, 3] x) => (y) { s = Constant<value = float[2] {1, -2}>() o = Constant<value = float[2] {1, 0.5}>() m = ReduceMean<axes = [0, 2], keepdims = 0>(x) k = ReduceMean<axes = [0, 2], keepdims = 1>(x) d = Sub(x, k) q = Mul(d, d) v = ReduceMean<axes = [0, 2], keepdims = 0>(q) y = BatchNormalization(x, s, o, m, v) }`, rangeprop.Range{Lo: -8.8, Hi: 8.8}},
	"entropy of a spelled softmax":       {`b (float[2, 16] x) => (y) { m = ReduceMax<axes = [-1]>(x) d = Sub(x, m) e = Exp(d) s = ReduceSum(e, last) p = Div(e, s) l = Log(s) q = Sub(d, l) j = Mul(p, q) y = ReduceSum(j, last) }`, rangeprop.Range{Lo: -5.9, Hi: 0.01}},
	"rms of squares that vanish":         {`b (float[2, 16] x) => (y) { q = Mul(x, x) v = ReduceMean<axes = [-1]>(q) e = Add(v, eps) h = Constant<value_float = -0.5>() r = Pow(e, h) y = Mul(x, r) }`, rangeprop.Range{Lo: -4.01, Hi: 4.01}},
	"variance of two means":              {`b (float[64, 16] x) => (y) { ` + fastNorm + ` f = Relu(v) ve = Add(f, eps4) r = Sqrt(ve) d = Sub(x, mu) y = Div(d, r) }`, rangeprop.Range{Lo: -20, Hi: 20}},
	"variance of two means, not floored": {`b (float[64, 16] x) => (y) { ` + fastNorm + ` ve = Add(v, eps4) r = Sqrt(ve) d = Sub(x, mu) y = Div(d, r) }`, rangeprop.Range{Lo: -60, Hi: 60}},
	"norm cut off above":                 {`b (float[2, 16] x) => (y) { r = ReduceL2<axes = [-1]>(x) lo = Constant<value_float = 1e-12>() hi = Constant<value_float = 0.5>() c = Clip(r, lo, hi) y = Div(x, c) }`, rangeprop.Range{Lo: math.Inf(-1), Hi: math.Inf(1)}},
	"weights by their logarithm":         {`b (float[2, 16] x, float[16, 3] z) => (y) { l = LogSoftmax<axis = -1>(x) p = Exp(l) y = MatMul(p, z) }`, rangeprop.Range{Lo: -4.01, Hi: 4.01}},
	"weights less a log-sum-exp":         {`b (float[2, 16] x, float[16, 3] z) => (y) { l = ReduceLogSumExp<axes = [-1]>(x) n = Neg(l) d = Add(x, n) p = Exp(d) y = MatMul(p, z) }`, rangeprop.Range{Lo: -4.01, Hi: 4.01}},
	"softmax of sums and means":          {`b (float[2, 16] x) => (y) { n = Neg(x) m = ReduceMin<axes = [-1]>(n) d = Sum(x, m) e = Exp(d) a = ReduceMean<axes = [-1]>(e) k = Constant<value_float = 16.0>() s = Mul(a, k) r = Reciprocal(s) y = Mul(e, r) }`, rangeprop.Range{Lo: 0, Hi: 1.001}},
	"largest of one":                     {`b (float[2, 16] x) => (y) { one1 = Constant<value = int64[1] {1}>() m, i = TopK<axis = -1>(x, one1) nm = Neg(m) d = Add(x, nm) e = Exp(d) s = ReduceSum(e, last) l = Log(s) y = Sub(d, l) }`, rangeprop.Range{Lo: -10.9, Hi: 0.001}},
	"tanh by a reciprocal":               {`b (float[2, 16] x) => (y) { e = Exp(x) n = Neg(x) f = Exp(n) d = Sub(e, f) s = Add(f, e) r = Reciprocal(s) y = Mul(d, r) }`, rangeprop.Range{Lo: -1.001, Hi: 1.001}},
	"swish there and back":               {`b (float[2, 16] x) => (y) { a = Sigmoid(x) u = Unsqueeze(a, last) v = Squeeze(u, last) m = Mul(x, v) t = Transpose(m) y = Transpose(t) }`, rangeprop.Range{Lo: -0.284, Hi: 3.94}},
	"entropy there and back":             {`b (float[2, 16] x) => (y) { p = Softmax<axis = -1>(x) l = Log(p) t = Transpose(l) u = Transpose(t) y = Mul(p, u) }`, rangeprop.Range{Lo: -0.37, Hi: 0.01}},
	"swish of what may be NaN":           {`b (float[2, 16] x) => (y) { r = Sqrt(x) t = Sub(r, onef) s = Sigmoid(t) y = Mul(t, s) }`, rangeprop.Range{Lo: -0.28, Hi: 0.74}},
	"cosines by Gemm":                    {`b (float[3, 16] x, float[2, 16] z) => (y) { r = ReduceL2<axes = [-1]>(x) c = Max(r, eps) u = Div(x, c) q = ReduceL2<axes = [-1]>(z) d = Max(q, eps) v = Div(z, d) y = Gemm<transB = 1>(u, v) }`, rangeprop.Range{Lo: -1.001, Hi: 1.001}},
	"cosines by Einsum":                  {`b (float[1, 3, 16] x, float[1, 2, 16] z) => (y) { r = ReduceL2<axes = [-1]>(x) c = Max(r, eps) u = Div(x, c) q = ReduceL2<axes = [-1]>(z) d = Max(q, eps) v = Div(z, d) y = Einsum<equation = "bmk,bnk->bmn">(u, v) }`, rangeprop.Range{Lo: -1.001, Hi: 1.001}},
	"divergence in parts":                {`b (float[2, 16] x, float[2, 16] z) => (y) { p = Softmax<axis = -1>(x) m = ReduceMax<axes = [-1]>(z) d = Sub(z, m) e = Exp(d) s = ReduceSum(e, last) l = Log(s) q = Sub(d, l) n = Neg(q) k = Log(p) t = Add(k, n) y = Mul(p, t) }`, rangeprop.Range{Lo: -0.4, Hi: 11}},
	"pooled by means":                    {`b (float[2, 6, 16] x, float[2, 6, 1] z) => (y) { k = Sigmoid(z) m = Mul(x, k) a = ReduceMean<axes = [1]>(m) n = Constant<value_float = 6.0>() s = Mul(a, n) i1 = Constant<value = int64[1] {1}>() c = ReduceSum(k, i1) y = Div(s, c) }`, rangeprop.Range{Lo: -4.1, Hi: 4.1}},
	"kernels of norm 1": {`b (float[1, 4, 4, 4] x, float[1, 3, 4, 3, 3] z) => (y) { a = Constant<value = int64[3] {2, 3, 4}>() i0 = Constant<value_int = 0>() q = Mul(z, z) s = ReduceSum(q, a) e = Add(s, eps) r = Sqrt(e) o = Div(z, r)
  k = Gather(o, i0) y = Conv<pads = [1, 1, 1, 1]>(x, k) }`, rangeprop.Range{Lo: -24.1, Hi: 24.1}},
	"power of a number and itself over itself": {`b (float[2, 16] x) => (y) { q = Div(x, x) a = Add(x, q) e = Constant<value_float = 1.3>() y = Pow(a, e) }`, rangeprop.Range{Lo: -0.01, Hi: 8.2}},
	"softplus asking for NaN":                  {`b (float[2, 16] x) => (y) { m = Relu(x) q = Equal(x, x) k = Not(q) a = Abs(x) n = Neg(a) e = Exp(n) o = Add(e, onef) l = Log(o) s = Add(m, l) y = Where(k, x, s) }`, rangeprop.Range{Lo: -0.01, Hi: 4.1}},
}

// TestRelated holds that a relation is found, and no value lies outside of what it says.
func TestRelated(t *testing.T) {
	for name, c := range allRelated() {
		src := relatedModel(c.body)
		for _, as := range []numfmt.Format{numfmt.Invalid, numfmt.FP16} {
			t.Run(name+" "+as.String(), func(t *testing.T) { probe(t, src, as) })
		}
		in := map[string]rangeprop.Given{"x": given(-4, 4), "z": given(-4, 4), "h": given(-4, 4)}
		m, res := analyze(t, src, rangeprop.Options{Ranges: in})
		for _, v := range m.Graph.Outputs {
			if h := res.Val(v).Hull(); !c.want.Contains(h) {
				t.Errorf("%s: %v, want within %v", name, h, c.want)
			}
		}
	}
}

// allRelated are all spellings of relations.
func allRelated() map[string]relation {
	all := maps.Clone(related)
	maps.Copy(all, exported)
	maps.Copy(all, varied)
	maps.Copy(all, spelled)
	maps.Copy(all, rarer)
	return all
}

// relatedModel is model with the constants that related bodies share.
func relatedModel(body string) string {
	return model(strings.ReplaceAll(body, "=> (y) {", "=> (y) {\n last = Constant<value = int64[1] {-1}>() eps4 = Constant<value_float = 0.0001>()"))
}

// model completes a body with its header and the constants that bodies share.
func model(body string) string {
	var w, g []string
	rng := rand.New(rand.NewSource(2))
	for range 256 {
		w = append(w, fmt.Sprintf("%.4f", rng.NormFloat64()/2))
	}
	for i := range 16 {
		g = append(g, fmt.Sprintf("%.2f", 0.1*float64(i)-0.3))
	}
	constants := fmt.Sprintf(" <float[16, 16] w = {%s}, float[16] g = {%s}, float eps = {1e-6}, float onef = {1}, float zero = {0}, int64 onei = {1}>\n{", strings.Join(w, ", "), strings.Join(g, ", "))
	body = strings.Replace(body, "(y)", "(float[N] y)", 1)
	body = strings.Replace(body, "(s, y)", "(float[N] s, float[N] y)", 1)
	body = strings.Replace(body, "(y, z)", "(float[N] y, float[N] z)", 1)
	i := strings.Index(body, ") {")
	return `<ir_version: 8, opset_import: ["" : 17]>` + "\n" + body[:i+1] + constants + body[i+3:]
}

// models returns the small models and the text models of the repository.
func models(t *testing.T) map[string]string {
	all := map[string]string{}
	for name, body := range small {
		all[name] = model(body)
		if strings.Contains(body, "LinearAttention") { // newer than the others
			all[name] = strings.Replace(all[name], `"" : 17`, `"" : 27`, 1)
		}
	}
	files, err := filepath.Glob("../testdata/models/*.onnxtxt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no text models: %v", err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = string(b)
	}
	return all
}

// TestAgainstEvaluator runs the models at corners, in the middle and at odd places of their inputs:
// every value of every node must lie in its range, in FP32 and as it is rounded to FP16.
func TestAgainstEvaluator(t *testing.T) {
	for name, src := range models(t) {
		for _, as := range []numfmt.Format{numfmt.Invalid, numfmt.FP16} {
			t.Run(name+" "+as.String(), func(t *testing.T) { probe(t, src, as) })
		}
	}
}

// observed plans runs of a model in which whatever leaves its bounds is an error.
func observed(t *testing.T, m *graph.Model, res *rangeprop.Result) *refeval.Runner {
	t.Helper()
	run, err := refeval.New(m, refeval.Options{Observe: func(v *graph.Value, x *refeval.Tensor) {
		if why := outside(res.Val(v), x); why != "" {
			t.Errorf("%s: %s", v.Key(), why)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func probe(t *testing.T, src string, as numfmt.Format) {
	given := map[string]rangeprop.Given{}
	m, _ := analyze(t, src, rangeprop.Options{})
	for _, v := range m.Graph.Inputs {
		r := rangeprop.Range{Lo: -4, Hi: 4}
		if !v.Type.Elem.IsFloat() {
			r = rangeprop.Range{Lo: 0, Hi: 1}
		}
		given[v.Name] = rangeprop.Given{Range: r, Basis: rangeprop.Declared}
	}
	opt := rangeprop.Options{Ranges: given}
	if as != numfmt.Invalid {
		opt.Hold = func(*graph.Value) numfmt.Format { return as }
	}
	m, res := analyze(t, src, opt)
	seen := map[*graph.Value]bool{}
	run, err := refeval.New(m, refeval.Options{As: as, Observe: func(v *graph.Value, x *refeval.Tensor) {
		if as != numfmt.Invalid && !finite(x) { // what overflows or divides by 0 held low is for the rules to judge
			return
		}
		if why := outside(res.Val(v), x); why != "" && !seen[v] && v.Const == nil {
			seen[v] = true
			t.Errorf("%s: %s", v.Key(), why)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(3))
	for k := range 40 {
		in := map[string]*refeval.Value{}
		for _, v := range m.Graph.Inputs {
			in[v.Name] = refeval.TensorValue(sample(rng, k, v, given[v.Name].Range))
		}
		if _, err := run.Run(context.Background(), in); err != nil {
			t.Fatal(err)
		}
	}
}

// outside says what of a tensor contradicts the facts of its value, "" where nothing does.
func outside(v *rangeprop.Val, x *refeval.Tensor) string {
	list, ok := numbers(x)
	if !ok {
		return ""
	}
	return v.Breaks(x.Dims, list, slack)
}

func finite(x *refeval.Tensor) bool {
	return !slices.ContainsFunc(x.F, func(f float32) bool { return f-f != 0 })
}

// sample draws an input: inside, at corners, constant, nearly constant, sparse or small.
func sample(rng *rand.Rand, k int, v *graph.Value, r rangeprop.Range) *refeval.Tensor {
	x := &refeval.Tensor{Elem: v.Type.Elem}
	n := 1
	for _, d := range v.Type.Shape {
		size := 2
		if d.Known() {
			size = int(d.N)
		}
		x.Dims = append(x.Dims, size)
		n *= size
	}
	for range n {
		u := rng.Float64()
		a := r.Lo + u*(r.Hi-r.Lo)
		switch k % 8 {
		case 1, 2:
			a = []float64{r.Lo, r.Hi}[rng.Intn(2)]
		case 3:
			a = r.Hi
		case 4:
			a = r.Hi * (1 - 1e-5*u)
		case 5:
			a = r.Hi * math.Floor(u*1.1)
		case 6:
			a *= 1e-4
		}
		if v.Type.Elem.IsFloat() {
			x.F = append(x.F, float32(a))
		} else {
			x.I = append(x.I, int64(math.Round(a)))
		}
	}
	return x
}
