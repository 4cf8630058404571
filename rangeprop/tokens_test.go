package rangeprop_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// The first layer of an encoder with 24 words, 5 positions and 2 types, 16 channels and 2 heads, in parts
// that are spelled in several ways. They hand on t, the tokens; n, those normalised; q, k and v by heads;
// and y.
const (
	tokenWords, tokenPlaces, tokenTypes = 24, 5, 2
	tokenWidth                          = 16
)

var tokenSums = map[string]string{
	"three tables": `a = Gather(words, w) b = Gather(places, p) c = Gather(types, z) ab = Add(a, c) t = Add(ab, b)`,
	"one table":    `a = Gather(words, w) t = Identity(a)`,
	"scaled":       `a = Gather(words, w) four = Constant<value_float = 4.0>() ak = Mul(a, four) b = Gather(places, p) t = Add(b, ak)`,
	"cut":          `sh = Shape(w) nn = Slice(sh, i1, i2, i0) cut = Slice(long, i0, nn, i0) a = Gather(words, w) t = Add(cut, a)`,
	"far off":      `a = Gather(words, w) b = Gather(places, p) af = Add(a, fifty) t = Add(af, b)`,
	"a vector":     `a = Gather(words, w) b = Gather(types, z) ab = Add(a, b) t = Add(ab, g)`,
}

var tokenNorms = map[string]string{
	"operator":   `n = LayerNormalization<axis = -1, epsilon = 0.001>(t, g, b1)`,
	"no scale":   `one = ConstantOfShape<value = float[1] {1.0}>(wide) n = LayerNormalization<axis = -1>(t, one)`,
	"spelled":    `m = ReduceMean<axes = [-1]>(t) d = Sub(t, m) dd = Mul(d, d) va = ReduceMean<axes = [-1]>(dd) ve = Add(va, eps) r = Sqrt(ve) x = Div(d, r) xg = Mul(x, g) n = Add(xg, b1)`,
	"power":      `m = ReduceMean<axes = [-1]>(t) d = Sub(t, m) dd = Pow(d, two) va = ReduceMean<axes = [-1]>(dd) ve = Add(va, eps) r = Sqrt(ve) i = Reciprocal(r) x = Mul(d, i) xg = Mul(g, x) n = Add(b1, xg)`,
	"rms":        `dd = Mul(t, t) va = ReduceMean<axes = [-1]>(dd) ve = Add(va, eps) r = Sqrt(ve) x = Div(t, r) n = Mul(x, g)`,
	"length":     `dd = Mul(t, t) va = ReduceSum(dd, last) ve = Max(va, eps) r = Sqrt(ve) x = Div(t, r) n = Mul(x, g)`,
	"skip":       `zero = ConstantOfShape(wide) n = com.microsoft.SkipLayerNormalization<epsilon = 0.001>(t, zero, g, b1)`,
	"none":       `n = Identity(t)`,
	"rms by one": `n = SimplifiedLayerNormalization<axis = -1, epsilon = 0.001>(t, g)`,
}

var tokenHeads = map[string]string{
	"apart": `q1 = MatMul(n, wq) q2 = Add(q1, b1) q3 = Reshape(q2, split) q = Transpose<perm = [0, 2, 1, 3]>(q3)
 k1 = MatMul(n, wk) k2 = Add(g, k1) k3 = Reshape(k2, split) k = Transpose<perm = [0, 2, 3, 1]>(k3)
 v1 = MatMul(n, wv) v2 = Add(v1, b2) v3 = Reshape(v2, split) v = Transpose<perm = [0, 2, 1, 3]>(v3)`,
	"packed": `f = Reshape(n, rows) q1 = Gemm<transB = 1>(f, packed, b3) q2 = Reshape(q1, back) qa, ka, va1 = Split<axis = -1>(q2, thirds)
 q3 = Reshape(qa, split) q = Transpose<perm = [0, 2, 1, 3]>(q3) k3 = Reshape(ka, split) k = Transpose<perm = [0, 2, 3, 1]>(k3)
 v3 = Reshape(va1, split) v = Transpose<perm = [0, 2, 1, 3]>(v3)`,
	"scaled": `h = Constant<value_float = 0.5>() q1 = MatMul(n, wq) q3 = Reshape(q1, split) q4 = Mul(q3, h) q = Transpose<perm = [0, 2, 1, 3]>(q4)
 k1 = MatMul(n, wk) k2 = Div(k1, h) k3 = Reshape(k2, split) k = Transpose<perm = [0, 2, 3, 1]>(k3)
 v1 = MatMul(n, wv) v3 = Reshape(v1, split) v = Transpose<perm = [0, 2, 1, 3]>(v3)`,
	"by index": `f = Reshape(n, rows) q1 = Gemm<transB = 1>(f, packed, b3) q2 = Reshape(q1, five) q3 = Transpose<perm = [2, 0, 3, 1, 4]>(q2)
 n0 = Constant<value_int = 0>() n1 = Constant<value_int = 1>() n2 = Constant<value_int = 2>() q = Gather(q3, n0) k4 = Gather(q3, n1) k = Transpose<perm = [0, 1, 3, 2]>(k4) v = Gather(q3, n2)`,
}

const tokenTail = ` s = MatMul(q, k) soft = Softmax<axis = -1>(s) av = MatMul(soft, v) at = Transpose<perm = [0, 2, 1, 3]>(av) ar = Reshape(at, back2)
 o = MatMul(ar, wo) ob = Add(o, b2) y = Add(ob, n)`

// tokenSource is a model of parts.
func tokenSource(sum, norm, heads string) string {
	rng := rand.New(rand.NewSource(7))
	table := func(name string, rows, cols int, scale float64) string {
		var x []string
		for i := range rows * cols {
			k := scale
			if i < cols {
				k *= 3
			}
			x = append(x, fmt.Sprintf("%.4f", k*rng.NormFloat64()))
		}
		return fmt.Sprintf("float[%d, %d] %s = {%s}", rows, cols, name, strings.Join(x, ", "))
	}
	vector := func(name string, n int) string {
		return strings.Replace(table(name, 1, n, 0.3), "[1, ", "[", 1)
	}
	constants := []string{table("words", tokenWords, tokenWidth, 1), table("places", tokenPlaces, tokenWidth, 0.2), table("types", tokenTypes, tokenWidth, 0.1),
		table("wq", 16, 16, 0.4), table("wk", 16, 16, 0.4), table("wv", 16, 16, 0.3), table("wo", 16, 16, 0.3), table("packed", 48, 16, 0.4), vector("g", 16), vector("b1", 16), vector("b2", 16), vector("b3", 48), "float[16] fifty = {" + strings.Repeat("50.0, ", 15) + "50.0}",
		table("long", tokenWords*tokenPlaces*tokenTypes, tokenWidth, 0.1), "int64[1] i0 = {0}", "int64[1] i1 = {1}", "int64[1] i2 = {2}", "float eps = {0.001}", "float two = {2.0}", "int64[1] last = {-1}", "int64[1] wide = {16}", "int64[4] split = {0, 0, 2, 8}", "int64[2] rows = {-1, 16}", "int64[3] back = {1, -1, 48}",
		"int64[3] back2 = {0, 0, 16}", "int64[3] thirds = {16, 16, 16}", "int64[5] five = {1, -1, 3, 2, 8}"}
	return `<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
m (int64[1, N] w, int64[1, N] p, int64[1, N] z) => (float[1, N, 16] y) <` + strings.Join(constants, ", ") + ">\n{" + sum + "\n" + norm + "\n" + heads + "\n" + tokenTail + "}"
}

// eachTokens runs a test for models of all sums under all norms, with heads in all spellings.
func eachTokens(t *testing.T, test func(t *testing.T, src string)) {
	i := 0
	heads := slices.Sorted(maps.Keys(tokenHeads))
	for _, sum := range slices.Sorted(maps.Keys(tokenSums)) {
		for _, norm := range slices.Sorted(maps.Keys(tokenNorms)) {
			h := heads[i%len(heads)]
			i++
			t.Run(strings.Join([]string{sum, norm, h}, "/"), func(t *testing.T) {
				test(t, tokenSource(tokenSums[sum], tokenNorms[norm], tokenHeads[h]))
			})
		}
	}
}

// TestTokens holds the bounds of first layers in all spellings against all their tokens, in FP32 and as
// it is rounded to 16 bits.
func TestTokens(t *testing.T) {
	eachTokens(t, func(t *testing.T, src string) {
		for _, as := range []numfmt.Format{numfmt.Invalid, numfmt.FP16, numfmt.BF16} {
			t.Run(as.String(), func(t *testing.T) { probeTokens(t, src, as) })
		}
	})
}

// tokenRun is a run of a model that holds what it sees against bounds.
type tokenRun struct {
	t    *testing.T
	as   numfmt.Format
	m    *graph.Model
	res  *rangeprop.Result
	run  *refeval.Runner
	seen map[string]*refeval.Tensor
}

func newTokenRun(t *testing.T, src string, as numfmt.Format) *tokenRun {
	t.Helper()
	opt := rangeprop.Options{Ranges: map[string]rangeprop.Given{"w": given(0, tokenWords-1), "p": given(0, tokenPlaces-1), "z": given(0, tokenTypes-1)}}
	if as != numfmt.Invalid {
		opt.Hold = func(*graph.Value) numfmt.Format { return as }
	}
	r := &tokenRun{t: t, as: as, seen: map[string]*refeval.Tensor{}}
	r.m, r.res = analyze(t, src, opt)
	var err error
	r.run, err = refeval.New(r.m, refeval.Options{As: as, Observe: r.observe})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *tokenRun) observe(v *graph.Value, x *refeval.Tensor) {
	r.seen[v.Name] = x
	if r.as != numfmt.Invalid && !finite(x) {
		return
	}
	if why := outside(r.res.Val(v), x); why != "" && v.Const == nil {
		r.t.Errorf("%s: %s", v.Key(), why)
	}
}

// feed runs the model on a sequence of tokens.
func (r *tokenRun) feed(tokens [][3]int64) {
	r.t.Helper()
	in := map[string]*refeval.Value{}
	for i, name := range []string{"w", "p", "z"} {
		x := &refeval.Tensor{Elem: graph.Int64, Dims: []int{1, len(tokens)}}
		for _, k := range tokens {
			x.I = append(x.I, k[i])
		}
		in[name] = refeval.TensorValue(x)
	}
	if _, err := r.run.Run(context.Background(), in); err != nil {
		r.t.Fatal(err)
	}
}

// allTokens lists all there are.
func allTokens() (list [][3]int64) {
	for w := range int64(tokenWords) {
		for p := range int64(tokenPlaces) {
			for z := range int64(tokenTypes) {
				list = append(list, [3]int64{w, p, z})
			}
		}
	}
	return list
}

// probeTokens has all tokens meet one another, and each attend to none but itself.
func probeTokens(t *testing.T, src string, as numfmt.Format) {
	r := newTokenRun(t, src, as)
	all := allTokens()
	r.feed(all)
	for i := 0; i < len(all); i += 17 {
		r.feed(all[i : i+1])
	}
}

// TestTokensTight: the scores are bounded by the longest query and key, and a mean of values by the
// farthest, nearly as well as if each token were looked at.
func TestTokensTight(t *testing.T) {
	eachTokens(t, func(t *testing.T, src string) {
		r := newTokenRun(t, src, numfmt.Invalid)
		r.feed(allTokens())
		exact := 0.0
		for h := range 2 {
			exact = math.Max(exact, longest(r.seen["q"], h, false)*longest(r.seen["k"], h, true))
		}
		if got := r.hull("s"); got > 1.2*exact {
			t.Errorf("scores up to %v, no two are longer than %v", got, exact)
		}
		if got, exact := r.hull("o"), r.farthestMean(); got > 2.2*exact {
			t.Errorf("means up to %v, none is farther than %v", got, exact)
		}
	})
}

func (r *tokenRun) hull(name string) float64 {
	return r.res.Val(r.m.Graph.Lookup(name)).Hull().MaxAbs()
}

// longest is the greatest length of the vectors of a head, which run along the last axis or, if they are
// columns, the one before.
func longest(x *refeval.Tensor, head int, columns bool) float64 {
	n, d := x.Dims[2], x.Dims[3]
	squares := make([]float64, max(n, d))
	for at, v := range x.F[head*n*d : (head+1)*n*d] {
		vector := at / d
		if columns {
			vector = at % d
		}
		squares[vector] += float64(v) * float64(v)
	}
	return math.Sqrt(slices.Max(squares))
}

// farthestMean is how far the projection of one value of each head reaches.
func (r *tokenRun) farthestMean() float64 {
	v, wo := r.seen["v"], r.seen["wo"]
	if wo == nil {
		x, err := r.m.Graph.Lookup("wo").Const.Float64s()
		if err != nil {
			r.t.Fatal(err)
		}
		wo = &refeval.Tensor{}
		for _, e := range x {
			wo.F = append(wo.F, float32(e))
		}
	}
	most, n := 0.0, v.Dims[2]
	for j := range 16 {
		lo, hi := 0.0, 0.0
		for h := range 2 {
			a, b := math.Inf(1), math.Inf(-1)
			for i := range n {
				sum := 0.0
				for k := range 8 {
					sum += float64(v.F[(h*n+i)*8+k]) * float64(wo.F[(h*8+k)*16+j])
				}
				a, b = math.Min(a, sum), math.Max(b, sum)
			}
			lo, hi = lo+a, hi+b
		}
		most = math.Max(most, math.Max(-lo, hi))
	}
	return most
}
