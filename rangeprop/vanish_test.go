package rangeprop_test

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// vanishing are spellings stored in float16, where squares and shares round to nothing and sums overflow, with
// the most that may be said of their output: what an ε, or the numbers themselves, hold up is bounded as in real
// numbers. Small numbers stand in units of the least one, 6e-8.
var vanishing = map[string]struct {
	body string
	most float64
}{
	"squares below an ε of 17": {vanishingSquares(17), 4.05},
	"squares below an ε of 2":  {vanishingSquares(2), 4.05},
	"squares below an ε of 1":  {vanishingSquares(1), 5.2},
	"a sum of squares that overflows": {`b (float16[64, 16] x) => (float16[64, 16] y) <float16 eps = {17}, float16 n = {19456}, int64[1] last = {-1}>
{ q = Mul(x, x) c = Cast<to = 1>(q) t = ReduceSum(c, last) s = Cast<to = 10>(t) v = Div(s, n) e = Add(v, eps) r = Sqrt(e) k = Reciprocal(r) y = Mul(x, k) }`, 4.05},
	"squares of a gated value": {`b (float16[64, 16] x, float16[64, 16] z) => (float16[64, 16] y) <float16 eps = {168}, float16 two = {16384}>
{ g = Sigmoid(z) h = Mul(z, g) a = Mul(x, h) q = Pow(a, two) v = ReduceMean<axes = [-1]>(q) e = Add(v, eps) r = Sqrt(e) k = Reciprocal(r) y = Mul(a, k) }`, 4.05},
	"a deviation taken in float32": {`b (float16[64, 16] x) => (float16[64, 16] y) <float16 eps = {17}>
{ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) c = Cast<to = 1>(x) m2 = ReduceMean<axes = [-1]>(c) f = Sub(c, m2) q = Mul(f, f) v = ReduceMean<axes = [-1]>(q) s = Sqrt(v) h = Cast<to = 10>(s) e = Add(h, eps) y = Div(d, e) }`, 4.25},
	"a deviation that vanishes": {`b (float16[64, 16] x) => (float16[64, 16] y) <float16 eps = {1024}>
{ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<axes = [-1]>(q) s = Sqrt(v) e = Add(s, eps) y = Div(d, e) }`, 25},
	"differences stored low, squared in float32": {`b (float16[64, 16] x) => (float[64, 16] y) <float eps = {1e-6}>
{ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) c = Cast<to = 1>(d) q = Mul(c, c) v = ReduceMean<axes = [-1]>(q) s = Sqrt(v) e = Add(s, eps) y = Div(c, e) }`, 4.05},
	"a root stored low": {`b (float16[64, 16] x) => (float16[64, 16] y) <float eps = {1e-12}>
{ m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) c = Cast<to = 1>(d) q = Mul(c, c) v = ReduceMean<axes = [-1]>(q) e = Add(v, eps) r = Sqrt(e) h = Cast<to = 10>(r) y = Div(d, h) }`, 4.6},
	"a root of a difference of means stored low": {`b (float16[64, 16] x) => (float16[64, 16] y) <float eps = {1e-5}>
{ c = Cast<to = 1>(x) m = ReduceMean<axes = [-1]>(c) q = Mul(c, c) s = ReduceMean<axes = [-1]>(q) t = Mul(m, m) v = Sub(s, t) e = Add(v, eps) r = Sqrt(e) h = Cast<to = 10>(r) f = Sub(c, m) d = Cast<to = 10>(f) y = Div(d, h) }`, 140},
	"values over their mean": {`b (float16[64, 16] x) => (float16[64, 16] y) <float16 eps = {17}>
{ q = Mul(x, x) m = ReduceMean<axes = [-1]>(q) e = Add(m, eps) y = Div(q, e) }`, 16.2},
	"overlap of two lengths": {`b (float16[64, 16] x, float16[64, 16] z) => (float16[64, 16] y) <float16 eps = {2}>
{ a = Relu(x) b1 = Relu(z) aa = Mul(a, a) bb = Mul(b1, b1) m = Min(aa, bb) s = Add(aa, bb) u = Sub(s, m) e = Add(u, eps) y = Div(m, e) }`, 1.01},
	"a place between the ends": {`b (float16[64, 16] x) => (float16[64, 16] y) <float16 eps = {17}>
{ l = ReduceMin<axes = [-1]>(x) h = ReduceMax<axes = [-1]>(x) d = Sub(x, l) w = Sub(h, l) e = Add(w, eps) y = Div(d, e) }`, 1.01},
	"cosines by lengths that round": {`b (float16[16, 16] x, float16[16, 16] z) => (float16[16, 16] y) <float16 eps = {0}>
{ l = ReduceL2<axes = [-1]>(x) c = Max(l, eps) u = Div(x, c) m = ReduceL2<axes = [-1]>(z) d = Max(m, eps) w = Div(z, d) t = Transpose(w) y = MatMul(u, t) }`, 2.05},
	"cosines by lengths that ε holds up": {`b (float16[16, 16] x, float16[16, 16] z) => (float16[16, 16] y) <float16 eps = {17}>
{ l = ReduceL2<axes = [-1]>(x) c = Max(l, eps) u = Div(x, c) m = ReduceL2<axes = [-1]>(z) d = Max(m, eps) w = Div(z, d) t = Transpose(w) y = MatMul(u, t) }`, 1.09},
	"shares kept from 0": {`b (float16[64, 16] x) => (float16[64, 16] y) <float16 eps = {17}, int64[1] last = {-1}>
{ r = Relu(x) a = Add(r, eps) c = Cast<to = 1>(a) t = ReduceSum(c, last) s = Cast<to = 10>(t) y = Div(a, s) }`, 1.06},
	"shares less the logarithm of their sum": {`b (float16[64, 16] x) => (float16[64, 16] y)
{ l = ReduceLogSumExp<axes = [-1]>(x) d = Sub(x, l) y = Exp(d) }`, 1.01},
	"a mean under weights": {`b (float16[64, 16, 4] x, float16[64, 16, 1] z) => (float16[64, 1, 4] y) <float16 eps = {17}, int64[1] rows = {1}>
{ w = Relu(z) p = Mul(x, w) s = ReduceSum(p, rows) t = ReduceSum(w, rows) e = Add(t, eps) y = Div(s, e) }`, 103},
	"a mean under weights that are computed": {`b (float16[64, 16, 4] x, float16[64, 16, 1] z) => (float16[64, 1, 4] y) <float16 eps = {1024}, int64[1] rows = {1}>
{ w = Sigmoid(z) p = Mul(x, w) s = ReduceSum(p, rows) t = ReduceSum(w, rows) e = Add(t, eps) y = Div(s, e) }`, 104},
	"ones beside the values": {`b (float16[64, 3, 8] x, float16[64, 3, 8] z, float16[64, 3, 5] h) => (float16[64, 3, 5] y) <float16 eps = {168}, float16 one = {15360}, int64[1] i0 = {0}, int64[1] i9 = {9223372036854775807}, int64[1] last = {-1}, int64[6] pads = {0, 0, 0, 0, 0, 1}>
{ a = Relu(x) c = Relu(z) ct = Transpose<perm = [0, 2, 1]>(c) v = Pad(h, pads, one) m = MatMul(ct, v) p = MatMul(a, m) n = Slice(p, i0, last, last) d = Slice(p, last, i9, last) e = Add(d, eps) y = Div(n, e) }`, 101},
}

func vanishingSquares(eps int) string {
	return fmt.Sprintf(`b (float16[64, 16] x) => (float16[64, 16] y) <float16 small = {%d}>
{ q = Mul(x, x) v = ReduceMean<axes = [-1]>(q) ve = Add(v, small) r = Sqrt(ve) y = Div(x, r) }`, eps)
}

// TestVanishing holds the bounds against rows drawn near the least numbers, near one another and alone.
func TestVanishing(t *testing.T) {
	for name, c := range vanishing {
		t.Run(name, func(t *testing.T) {
			top := 100.0
			if name == "ones beside the values" {
				top = 4
			}
			in := map[string]rangeprop.Given{"x": given(-top, top), "z": given(-4, 4), "h": given(-100, 100)}
			m, res := analyze(t, "<ir_version: 8, opset_import: [\"\" : 17]>\n"+c.body, rangeprop.Options{Ranges: in})
			if h := res.Val(m.Graph.Outputs[0]).Hull(); !(h.MaxAbs() <= c.most) {
				t.Errorf("%v, want at most %v", h, c.most)
			}
			run := observed(t, m, res)
			rng := rand.New(rand.NewSource(6))
			for range 40 {
				inputs := map[string]*refeval.Value{}
				for _, v := range m.Graph.Inputs {
					if v.Init == nil {
						inputs[v.Name] = refeval.TensorValue(nastyRows(rng, v, in[v.Name].Range.Hi))
					}
				}
				if _, err := run.Run(context.Background(), inputs); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// nastyRows draws rows of 16 numbers, or as many as the last axis has, up to top.
func nastyRows(rng *rand.Rand, v *graph.Value, top float64) *refeval.Tensor {
	x := &refeval.Tensor{Elem: graph.Float16}
	n, row := 1, 16
	for _, d := range v.Type.Shape {
		x.Dims = append(x.Dims, int(d.N))
		n *= int(d.N)
	}
	for len(x.F) < n {
		kind, magnitude := rng.Intn(7), math.Exp2(-25+rng.Float64()*(25+math.Log2(top)))
		for i := range min(row, n-len(x.F)) {
			x.F = append(x.F, float32(numfmt.FP16.Round(math.Max(-top, math.Min(nasty(rng, kind, i, magnitude, top), top)))))
		}
	}
	return x
}

// nasty draws the number at place i of a row.
func nasty(rng *rand.Rand, kind, i int, magnitude, top float64) float64 {
	switch kind {
	case 0:
		return (2*rng.Float64() - 1) * top
	case 1:
		return rng.NormFloat64() * magnitude
	case 2: // nearly one number
		return magnitude * (1 + float64(rng.Intn(2))*0x1p-10)
	case 3: // one alone
		if i == 7 {
			return magnitude
		}
		return 0
	case 4: // one off by a unit
		if i == 7 {
			return -magnitude * (1 + 0x1p-10)
		}
		return -magnitude
	case 5: // two of the least
		if i == 3 || i == 9 {
			return 0x1p-24
		}
		return 0
	}
	return math.Exp2(-25 + rng.Float64()*12)
}
