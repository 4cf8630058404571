package pattern_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/graph/pattern"
)

// find returns what is recognised in a body, see parse.
func find(t *testing.T, body string) *pattern.Set {
	t.Helper()
	return pattern.Find(parse(t, body))
}

// parse reads the body of a graph over x [2, 16].
func parse(t *testing.T, body string) *graph.Model {
	t.Helper()
	if strings.Contains(body, "beta2") {
		body = `beta2 = Constant<value_floats = [1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0,11.0,12.0,13.0,14.0,15.0,16.0]>() ` + body
	}
	src := `<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float[2, 16] x, float[2, 16] m, float[2, 4, 16] q, float[2, 16, 4] k, float[2, 1, 4] drop, float[L, 16] named) => (float[M, N] y)
<float two = {2}, float half = {-0.5}, float root = {0.5}, float eps = {1e-5}, float n = {16}, float inv = {0.0625}, float one = {1},
 float zero = {0}, float big = {1e6}, float low = {-1e9}, float minus = {-1}, float below = {-1e-5}, int64[2] tall = {16, 1}, int64[2] all = {2, 16}, int64[2] times = {1, 16}, int64[2] eight = {2, 8}, int64[1] last = {-1}, int64[1] first = {0}, float[16] gamma, float[16] beta>
{ shape = Shape<end = 1>(named) size = ReduceProd<keepdims = 0>(shape) ` + body + `}`
	zeros := "{" + strings.TrimSuffix(strings.Repeat("1,", 16), ",") + "}"
	src = strings.Replace(src, "float[16] gamma, float[16] beta", "float[16] gamma = "+zeros+", float[16] beta = "+zeros, 1)
	m, err := onnxtxt.Parse("test", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := infer.Run(m, infer.Options{}); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestNormSpellings(t *testing.T) {
	layer, rms, l2 := math.Sqrt(15), math.Sqrt(16), 1.0
	mean := `mu = ReduceMean<axes = [-1]>(x) d = Sub(x, mu) `
	variance := mean + `s = Pow(d, two) v = ReduceMean<axes = [-1]>(s) `
	for _, c := range []struct {
		name, body string
		kind       pattern.NormKind
		bound      float64
		eps        float64
	}{
		{"div by sqrt", variance + `ve = Add(v, eps) r = Sqrt(ve) y = Div(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"mul of equal differences", `mu = ReduceMean<axes = [-1]>(x) a = Sub(x, mu) b = Sub(x, mu) s = Mul(a, b) v = ReduceMean<axes = [-1]>(s) r = Sqrt(v) y = Div(a, r)`, pattern.LayerNorm, layer, 0},
		{"reciprocal root", variance + `ve = Add(eps, v) r = Sqrt(ve) i = Reciprocal(r) y = Mul(i, d)`, pattern.LayerNorm, layer, 1e-5},
		{"pow -0.5 and max", variance + `ve = Max(v, eps) i = Pow(ve, half) y = Mul(d, i)`, pattern.LayerNorm, layer, 1e-5},
		{"root of reciprocal", variance + `ve = Add(v, eps) i = Reciprocal(ve) r = Sqrt(i) y = Mul(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"epsilon beside the root", variance + `r = Sqrt(v) re = Add(r, eps) y = Div(d, re)`, pattern.LayerNorm, layer, 1e-5},
		{"sum over n", mean + `s = Mul(d, d) w = ReduceSum<keepdims = 1>(s, last) v = Div(w, n) ve = Add(v, eps) r = Sqrt(ve) y = Div(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"sum times 1/n", `w = ReduceSumSquare<axes = [-1]>(x) v = Mul(w, inv) ve = Add(v, eps) r = Sqrt(ve) y = Div(x, r)`, pattern.RMSNorm, rms, 1e-5},
		{"E[x2] - m2", `mu = ReduceMean<axes = [-1]>(x) q2 = Mul(x, x) e = ReduceMean<axes = [-1]>(q2) m2 = Pow(mu, two) v = Sub(e, m2) f = Relu(v) ve = Add(f, eps) r = Sqrt(ve) d = Sub(x, mu) y = Div(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"folded as Keras does", variance + `ve = Add(v, eps) r = Sqrt(ve) i = Reciprocal(r) g = Mul(i, gamma) a = Mul(x, g) b = Mul(mu, g) c = Sub(beta, b) y = Add(a, c)`, pattern.LayerNorm, layer, 1e-5},
		{"rms with the scale inside", `s = Mul(x, x) v = ReduceMean<axes = [-1]>(s) ve = Add(v, eps) i = Pow(ve, half) g = Mul(i, gamma) y = Mul(x, g)`, pattern.RMSNorm, rms, 1e-5},
		{"unit norm", `r = ReduceL2<axes = [-1]>(x) c = Max(r, eps) y = Div(x, c)`, pattern.L2Norm, l2, 1e-5},
		{"unit norm, reciprocal cut off", `s = Mul(x, x) w = ReduceSum(s, last) r = Sqrt(w) i = Reciprocal(r) c = Min(i, big) y = Mul(x, c)`, pattern.L2Norm, l2, 0},
		{"negative added", `mu = ReduceMean<axes = [-1]>(x) nm = Neg(mu) d = Add(nm, x) s = Mul(d, d) v = ReduceMean<axes = [-1]>(s) ve = Add(v, eps) r = Sqrt(ve) y = Div(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"sum of two", `mu = ReduceMean<axes = [-1]>(x) nm = Mul(mu, minus) d = Sum(x, nm) s = Mul(d, d) v = ReduceMean<axes = [-1]>(s) ve = Sum(v, eps) r = Sqrt(ve) y = Div(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"mean less x", `mu = ReduceMean<axes = [-1]>(x) nd = Sub(mu, x) d = Neg(nd) s = Mul(d, d) v = ReduceMean<axes = [-1]>(s) ve = Sub(v, below) r = Sqrt(ve) y = Div(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"product with ones", `o = ConstantOfShape<value = float[1] {0.0625}>(tall) mu = MatMul(x, o) d = Sub(x, mu) s = Mul(d, d) v = MatMul(s, o) ve = Add(v, eps) r = Sqrt(ve) y = Div(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"scaled before the sum", `z = Mul(x, inv) mu = ReduceSum(z, last) d = Sub(x, mu) s = Mul(d, d) t = Div(s, n) v = ReduceSum(t, last) ve = Add(v, eps) r = Sqrt(ve) y = Div(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"summed in an einsum", `t = Mul(x, x) e = Einsum<equation = "ij->i">(t) v = Unsqueeze(e, last) w = Div(v, n) ve = Add(w, eps) r = Sqrt(ve) y = Div(x, r)`, pattern.RMSNorm, rms, 1e-5},
		{"one axis after another", `mu = ReduceMean<axes = [-1]>(q) m2 = ReduceMean<axes = [1]>(mu) d = Sub(q, m2) s = Mul(d, d) v = ReduceMean<axes = [1]>(s) w = ReduceMean<axes = [2]>(v) ve = Add(w, eps) r = Sqrt(ve) y = Div(d, r)`, pattern.LayerNorm, math.Sqrt(63), 1e-5},
		{"reduced in another layout", `a = Transpose<perm = [1, 2, 0]>(q) b = ReduceMean<axes = [1]>(a) mu = Transpose<perm = [2, 0, 1]>(b) d = Sub(q, mu) s = Mul(d, d) v = ReduceMean<axes = [2]>(s) ve = Add(v, eps) r = Sqrt(ve) y = Div(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"copied to the shape", variance + `ve = Add(v, eps) r = Sqrt(ve) i = Reciprocal(r) wide = Expand(i, all) a = Mul(x, wide) mk = Tile(mu, times) b = Mul(mk, i) y = Sub(a, b)`, pattern.LayerNorm, layer, 1e-5},
		{"mean moved in front of the transposition", `a = Transpose<perm = [0, 2, 1]>(q) b = ReduceMean<axes = [2]>(q) mu = Transpose<perm = [0, 2, 1]>(b) d = Sub(a, mu) s = Mul(d, d) v = ReduceMean<axes = [1]>(s) ve = Add(v, eps) r = Sqrt(ve) y = Div(d, r)`, pattern.LayerNorm, layer, 1e-5},
		{"centred in another layout", `mu = ReduceMean<axes = [2]>(q) d0 = Sub(q, mu) a = Transpose<perm = [2, 0, 1]>(d0) s = Mul(a, a) v = ReduceMean<axes = [0]>(s) ve = Add(v, eps) r = Sqrt(ve) y = Div(a, r)`, pattern.LayerNorm, layer, 1e-5},
		{"there and back", variance + `ve = Add(v, eps) r = Sqrt(ve) t = Transpose(d) u = Transpose(t) w = Flatten<axis = 0>(u) z = Reshape(w, all) y = Div(z, r)`, pattern.LayerNorm, layer, 1e-5},
		{"unit norm, reciprocal selected", `s = Mul(x, x) w = ReduceSum(s, last) r = Sqrt(w) i = Reciprocal(r) c0 = Less(i, big) c = Where(c0, i, big) y = Mul(x, c)`, pattern.L2Norm, l2, 0},
		{"copies between", `a = Identity(x) s = Mul(a, x) v = ReduceMean<axes = [-1]>(s) w = Identity(v) ve = Add(w, eps) r = Sqrt(ve) y = Div(a, r)`, pattern.RMSNorm, rms, 1e-5},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := find(t, c.body)
			if len(s.Norms) != 1 {
				t.Fatalf("%d normalisations, want 1", len(s.Norms))
			}
			n := s.Norms[0]
			got := fmt.Sprintf("%v of %s in %s, eps %.3g", n.Kind, n.Input.Name, n.Output.Name, n.EpsValue)
			if want := fmt.Sprintf("%v of x in y, eps %.3g", c.kind, c.eps); strings.Replace(got, "of q in", "of x in", 1) != want && n.Input.Name != "a" && n.Input.Name != "d0" {
				t.Errorf("got %s, want %s", got, want)
			}
			if bound := n.Bound * math.Abs(n.Coef); math.Abs(bound-c.bound) > 1e-9 {
				t.Errorf("bound %v, want %v", bound, c.bound)
			}
			if s.NormOf(n.Output.Producer) != n {
				t.Error("its last node is not a part of it")
			}
		})
	}
}

func TestNoNorm(t *testing.T) {
	for name, body := range map[string]string{
		"mean over the other axis": `mu = ReduceMean<axes = [0], keepdims = 0>(x) d = Sub(x, mu) s = Mul(d, d) v = ReduceMean<axes = [-1]>(s) r = Sqrt(v) y = Div(x, r)`,
		"variance of another":      `s = Mul(m, m) v = ReduceMean<axes = [-1]>(s) r = Sqrt(v) y = Div(x, r)`,
		"no root":                  `s = Mul(x, x) v = ReduceMean<axes = [-1]>(s) y = Div(x, v)`,
		"weights that differ":      `o = Unsqueeze(beta2, last) mu = MatMul(x, o) d = Sub(x, mu) s = Mul(d, d) v = MatMul(s, o) r = Sqrt(v) y = Div(d, r)`,
		"transposed only once":     `t0 = Transpose(x) g0 = MatMul(t0, x) a = Transpose(g0) b = Mul(a, a) v = ReduceMean<axes = [0]>(b) r = Sqrt(v) y = Div(g0, r)`,
		"repeated, not copied":     `s = Mul(x, x) v = ReduceMean<axes = [-1]>(s) r = Sqrt(v) w = Unsqueeze(r, first) z = Squeeze(w, last) t = Tile(z, eight) y = Div(x, t)`,
		"cut off above":            `r = ReduceL2<axes = [-1]>(x) c = Clip(r, eps, one) y = Div(x, c)`,
		"root of a product":        `a = Mul(x, m) s = Mul(a, x) v = ReduceMean<axes = [-1]>(s) r = Sqrt(v) y = Div(x, r)`,
	} {
		for _, n := range find(t, body).Norms {
			t.Errorf("%s: taken for a %v", name, n.Kind)
		}
	}
}

func TestSoftmaxSpellings(t *testing.T) {
	max := `mx = ReduceMax<axes = [-1]>(x) z = Sub(x, mx) `
	for _, c := range []struct {
		name, body       string
		max, log, native bool
	}{
		{"native", `y = Softmax(x)`, false, false, true},
		{"bare", `e = Exp(x) s = ReduceSum(e, last) y = Div(e, s)`, false, false, false},
		{"with maximum", max + `e = Exp(z) s = ReduceSum(e, last) y = Div(e, s)`, true, false, false},
		{"by reciprocal", max + `e = Exp(z) s = ReduceSum(e, last) i = Reciprocal(s) y = Mul(e, i)`, true, false, false},
		{"guarded maximum", `mx = ReduceMax<axes = [-1]>(x) b = IsInf(mx) g = Where(b, zero, mx) z = Sub(x, g) e = Exp(z) s = ReduceSum(e, last) y = Div(e, s)`, true, false, false},
		{"logarithm", max + `e = Exp(z) s = ReduceSum(e, last) l = Log(s) y = Sub(z, l)`, true, true, false},
		{"minus log-sum-exp", `l = ReduceLogSumExp<axes = [-1]>(x) y = Sub(x, l)`, false, true, false},
		{"max added back", max + `e = Exp(z) s = ReduceSum(e, last) l = Log(s) b = Add(l, mx) y = Sub(x, b)`, true, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := find(t, c.body)
			if len(s.Softmaxes) != 1 {
				t.Fatalf("%d softmaxes, want 1", len(s.Softmaxes))
			}
			x := s.Softmaxes[0]
			if (x.Max != nil) != c.max || x.Log != c.log || (x.Node != nil) != c.native || x.Input.Name != "x" || x.Output.Name != "y" {
				t.Errorf("got %+v", x)
			}
		})
	}
}

// TestBare: nothing that rounds, moves or changes a number is looked through.
func TestBare(t *testing.T) {
	for body, want := range map[string]string{
		`y = Identity(x)`:                          "x",
		`y = Cast<to = 1>(x)`:                      "x",
		`a = Cast<to = 10>(x) y = Cast<to = 1>(a)`: "y",
		`a = Transpose(x) y = Transpose(a)`:        "x",
		`a = Cast<to = 10>(x) b = Transpose(a) c = Transpose(b) y = Cast<to = 1>(c)`: "y",
		`a = Transpose(x) b = Cast<to = 10>(a) c = Cast<to = 1>(b) y = Transpose(c)`: "y",
		`a = Flatten<axis = 0>(x) y = Reshape(a, all)`:                               "x",
		`y = Neg(x)`: "y",
	} {
		m := parse(t, body)
		if got := pattern.Bare(m.Graph.Lookup("y")); got.Name != want {
			t.Errorf("%s: got %s, want %s", body, got.Name, want)
		}
	}
}

func TestRatios(t *testing.T) {
	for _, c := range []struct {
		name, body string
		kind       pattern.RatioKind
	}{
		{"share of a sum", `a = Relu(x) b = Add(a, eps) s = ReduceSum(b, last) y = Div(b, s)`, pattern.OfSum},
		{"l1", `s = ReduceL1<axes = [-1]>(x) y = Div(x, s)`, pattern.OfAbs},
		{"l1 by abs", `a = Abs(x) s = ReduceSum(a, last) c = Clip(s, eps) y = Div(x, c)`, pattern.OfAbs},
		{"largest magnitude", `a = Abs(x) s = ReduceMax<axes = [-1]>(a) y = Div(x, s)`, pattern.OfMax},
		{"weighted mean", `w = Mul(x, m) a = ReduceSum(w, last) b = ReduceSum(m, last) c = Max(b, eps) y = Div(a, c)`, pattern.OfMean},
		{"difference over sum", `a = Exp(x) b = Exp(m) d = Sub(a, b) s = Add(a, b) y = Div(d, s)`, pattern.OfTerms},
		{"x over 1 + |x|", `a = Abs(x) b = Add(a, one) y = Div(x, b)`, pattern.OfTerms},
		{"mean over a name", `f = Cast<to = 1>(size) z1 = ReduceSum<keepdims = 0>(named) y = Div(z1, f)`, pattern.OfCount},
		{"mean by a matrix product", `a = MatMul(q, k) b = ReduceSum(q, last) y = Div(a, b)`, pattern.OfMean},
		{"guarded by where", `w = Mul(x, m) a = ReduceSum(w, last) b = ReduceSum(m, last) e = Equal(b, zero) c = Where(e, one, b) y = Div(a, c)`, pattern.OfMean},
	} {
		s := find(t, c.body)
		if len(s.Ratios) != 1 || s.Ratios[0].Kind != c.kind {
			t.Errorf("%s: got %d ratios %+v", c.name, len(s.Ratios), s.Ratios)
		}
	}
}

// boxes takes the corners of two boxes a and b from x and m, and meeting is where they overlap.
const (
	boxes = `c0 = Constant<value = int64 {0}>() c1 = Constant<value = int64 {1}>() c2 = Constant<value = int64 {2}>() c3 = Constant<value = int64 {3}>()
a0 = Gather<axis = 1>(x, c0) a1 = Gather<axis = 1>(x, c1) a2 = Gather<axis = 1>(x, c2) a3 = Gather<axis = 1>(x, c3)
b0 = Gather<axis = 1>(m, c0) b1 = Gather<axis = 1>(m, c1) b2 = Gather<axis = 1>(m, c2) b3 = Gather<axis = 1>(m, c3)
wa = Sub(a2, a0) ha = Sub(a3, a1) wb = Sub(b2, b0) hb = Sub(b3, b1) `
	meeting = `i2 = Min(a2, b2) i0 = Max(a0, b0) i3 = Min(a3, b3) i1 = Max(a1, b1) iw = Sub(i2, i0) ih = Sub(i3, i1) rw = Relu(iw) rh = Relu(ih) inter = Mul(rw, rh) `
	union   = `s = Add(areaA, areaB) u = Sub(s, inter) ue = Add(u, eps) y = Div(inter, ue)`
)

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"three ways to cut at 0, factors swapped", boxes + meeting + `cp = Max(wa, zero) cq = Clip(ha, zero) areaA = Mul(cq, cp) r = Relu(wb) o = Max(zero, hb) areaB = Mul(r, o) ` + union, 1},
		{"a side that is cut off above", boxes + meeting + `cp = Max(wa, zero) cq = Clip(ha, zero, one) areaA = Mul(cq, cp) r = Relu(wb) o = Max(zero, hb) areaB = Mul(r, o) ` + union, 0},
		{"a side of the other box", boxes + meeting + `cp = Max(wa, zero) cq = Relu(hb) areaA = Mul(cq, cp) r = Relu(wb) o = Max(zero, hb) areaB = Mul(r, o) d = Add(ha, one) f = Relu(d) areaC = Mul(r, f) s = Add(areaA, areaC) u = Sub(s, inter) y = Div(inter, u)`, 0},
		{"an area that may be negative", boxes + meeting + `areaA = Mul(wa, ha) areaB = Mul(wb, hb) ` + union, 0},
	} {
		n := 0
		for _, r := range find(t, c.body).Ratios {
			if r.Kind == pattern.OfPart {
				n++
			}
		}
		if n != c.want {
			t.Errorf("%s: %d overlaps, want %d", c.name, n, c.want)
		}
	}
}

// TestNoRatio are quotients that only look as if their parts bounded them.
func TestNoRatio(t *testing.T) {
	for name, body := range map[string]string{
		"another sum":              `a = Exp(x) b = Exp(m) d = Sub(a, b) s = Add(a, one) y = Div(d, s)`,
		"a difference below":       `a = Exp(x) b = Exp(m) s = Sub(a, b) y = Div(a, s)`,
		"the size of another axis": `f = Cast<to = 1>(size) z1 = ReduceSum<keepdims = 0>(named, last) y = Div(z1, f)`,
		"weights of another axis":  `i = Constant<value = int64[1] {1}>() a = MatMul(q, k) b = ReduceSum<keepdims = 0>(q, last) c = Unsqueeze(b, i) y = Div(a, c)`,
	} {
		for _, r := range find(t, body).Ratios {
			t.Errorf("%s: taken for a ratio of kind %d", name, r.Kind)
		}
	}
}

func TestAttention(t *testing.T) {
	s := find(t, `p = MatMul(q, k) s = Div(p, two) b = Mul(drop, low) z = Add(s, b) y = Softmax(z)`)
	if len(s.Logits) != 1 || len(s.Masks) != 1 {
		t.Fatalf("%d logits and %d masks, want 1 and 1", len(s.Logits), len(s.Masks))
	}
	l, k := s.Logits[0], s.Masks[0]
	if l.MatMul.Outputs[0].Name != "p" || len(l.Scale) != 1 || len(l.Mask) != 1 || s.Logit(l.MatMul) != l {
		t.Errorf("logits %+v", l)
	}
	if k.Const.Name != "low" || k.Value > -1e8 || k.At.Op != "Add" || k.Softmax.Op != "Softmax" || len(s.MasksOf(k.Const)) != 1 {
		t.Errorf("mask %+v", k)
	}
}

func TestLogSumExp(t *testing.T) {
	s := find(t, `mx = ReduceMax<axes = [-1]>(x) z = Sub(x, mx) e = Exp(z) s = ReduceSum(e, last) l = Log(s) y = Add(l, mx)`)
	if len(s.ExpSums) != 1 || s.ExpSums[0].Max == nil || s.ExpSums[0].Output == nil || s.ExpSums[0].Count != 16 || len(s.Shifts) != 1 {
		t.Fatalf("got %+v", s.ExpSums)
	}
	e := s.ExpSums[0]
	if s.ExpSum(e.Sum) != e || s.ExpSum(e.Log) != e || s.ExpSum(e.Output) != e || s.Shift(s.Shifts[0].Output) == nil {
		t.Error("a value of it does not lead back to it")
	}
}

func TestCancel(t *testing.T) {
	for _, c := range []struct {
		name, body string
		mean       bool
	}{
		{"variance", `mu = ReduceMean<axes = [-1]>(x) xx = Mul(x, x) s = ReduceMean<axes = [-1]>(xx) mm = Mul(mu, mu) y = Sub(s, mm)`, true},
		{"negative", `mu = ReduceMean<axes = [-1]>(x) xx = Mul(x, x) s = ReduceMean<axes = [-1]>(xx) mm = Pow(mu, two) neg = Neg(mm) y = Add(neg, s)`, true},
		{"sum square", `mu = ReduceMean<axes = [-1]>(x) xx = ReduceSumSquare<axes = [-1]>(x) s = Div(xx, two) mm = Mul(mu, mu) y = Sub(s, mm)`, true},
		{"weighted", `w = Softmax<axis = -1>(x) wx = Mul(w, x) mu = ReduceSum(wx, last) wxx = Mul(wx, x) s = ReduceSum(wxx, last) mm = Mul(mu, mu) y = Sub(s, mm)`, true},
		{"weighted square", `w = Softmax<axis = -1>(x) wx = Mul(w, x) mu = ReduceSum(wx, last) xx = Pow(x, two) wxx = Mul(xx, w) s = ReduceSum(wxx, last) mm = Pow(mu, two) y = Sub(s, mm)`, true},
		{"distance", `a = ReduceSumSquare<axes = [-1]>(q) b = ReduceSumSquare<axes = [-2]>(k) p = MatMul(q, k) p2 = Mul(p, two) s = Add(a, b) y = Sub(s, p2)`, false},
		{"transposed sum", `qq = Mul(q, q) a = ReduceSum(qq, last) kt = Transpose<perm = [0, 2, 1]>(k) kk = Mul(kt, kt) b1 = ReduceSum(kk, last) b = Transpose<perm = [0, 2, 1]>(b1) p = MatMul(q, k) p2 = Mul(p, two) s = Add(a, b) y = Sub(s, p2)`, false},
	} {
		s := find(t, c.body)
		if len(s.Cancels) != 1 || s.Cancels[0].Output.Name != "y" || s.Cancels[0].Mean != c.mean || s.Cancel(s.Cancels[0].Output) == nil {
			t.Errorf("%s: got %+v", c.name, s.Cancels)
		}
	}
}

// TestNoCancel: weights of the squares that are none of the mean's make no variance.
func TestNoCancel(t *testing.T) {
	for _, body := range []string{
		`w = Softmax<axis = -1>(x) mu = ReduceMean<axes = [-1]>(x) xx = Mul(x, x) wxx = Mul(w, xx) s = ReduceSum(wxx, last) mm = Mul(mu, mu) y = Sub(s, mm)`,
		`w = Softmax<axis = -1>(x) wx = Mul(w, x) mu = ReduceSum(wx, last) w2 = Mul(wx, w) s = ReduceSum(w2, last) mm = Mul(mu, x) y = Sub(s, mm)`,
	} {
		if s := find(t, body); len(s.Cancels) != 0 {
			t.Errorf("%s: got %+v", body, s.Cancels[0])
		}
	}
}

// TestLongWays: values at both ends of a long chain of nodes that change no number are one, wherever in it they are
// taken; a number added on the way parts them.
func TestLongWays(t *testing.T) {
	chain := func(middle string) string {
		body := "c0 = Identity(x) "
		for i := range 40 {
			op := "Identity(c%d) "
			if i == 20 {
				op = middle
			}
			body += fmt.Sprintf("c%d = "+op, i+1, i)
		}
		return body + `mu = ReduceMean<axes = [-1]>(c40) a = Sub(c39, mu) b = Sub(c15, mu) s = Mul(a, b) v = ReduceMean<axes = [-1]>(s) r = Sqrt(v) y = Div(a, r)`
	}
	for middle, want := range map[string]bool{"Identity(c%d) ": true, "Add(c%d, zero) ": true, "Add(c%d, one) ": false} {
		m := parse(t, chain(middle))
		if n := pattern.Find(m).Norm(m.Graph.Lookup("y")); (n != nil) != want {
			t.Errorf("%s: norm %v, want one: %v", middle, n, want)
		}
	}
}

// TestDoublings: a sum of a sum with itself, and so on, is looked through once, and not by each of its two or
// three ways; and so is a mask.
func TestDoublings(t *testing.T) {
	chain := func(first, next string) string {
		for i := range 64 {
			first += strings.NewReplacer("NEW", fmt.Sprint("v", i+1), "OLD", fmt.Sprint("v", i)).Replace(next)
		}
		return first
	}
	if s := find(t, chain("v0 = Mul(x, zero) ", "NEW = Add(OLD, OLD) ")+"z = Add(x, v64) y = Mul(z, x)"); len(s.Squares) != 1 {
		t.Errorf("(x + 0)·x is no square: %+v", s.Squares)
	}
	if s := find(t, chain("v0 = Mul(x, half) ", "NEW = Sum(OLD, OLD, OLD) ")+"y = Mul(v64, v64)"); len(s.Squares) != 1 {
		t.Errorf("no square of sums: %+v", s.Squares)
	}
	way := "v0 = Where(m, zero, low) "
	for i := range 20 {
		way += fmt.Sprintf("v%d = Where(m, v%d, v%d) ", i+1, i, i)
	}
	if s := find(t, way+"z = Add(x, v20) y = Softmax<axis = -1>(z)"); len(s.Masks) == 0 {
		t.Error("a mask by many ways is not found")
	}
}

// TestBranches: what both branches of an If compute alike is found in each of them.
func TestBranches(t *testing.T) {
	branch := func(p string) string {
		return strings.ReplaceAll(`@e = Exp(x) @s = ReduceSum(@e, last) @y = Div(@e, @s)`, "@", p)
	}
	s := find(t, `c = Cast<to = 9>(two) y = If(c) <then_branch = a () => (float[2, 16] ty) { `+branch("t")+` }, else_branch = b () => (float[2, 16] ey) { `+branch("e")+` }>`)
	inputs := map[string]bool{}
	for _, q := range s.Softmaxes {
		inputs[q.Exp.Name] = true
	}
	if len(s.Softmaxes) != 2 || !inputs["te"] || !inputs["ee"] {
		t.Errorf("got the exponentials %v of %d softmaxes", inputs, len(s.Softmaxes))
	}
}
