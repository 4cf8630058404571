package rangeprop_test

import (
	"math"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/rangeprop"
)

func analyze(t testing.TB, src string, opt rangeprop.Options) (*graph.Model, *rangeprop.Result) {
	t.Helper()
	m, err := onnxtxt.Parse("test", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	info, err := infer.Run(m, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rangeprop.Analyze(m, info, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

func given(lo, hi float64) rangeprop.Given {
	return rangeprop.Given{Range: rangeprop.Range{Lo: lo, Hi: hi}, Basis: rangeprop.Declared}
}

const header = `<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]>
`

// TestModels bounds the output y of small models over x in [-8, 8].
func TestModels(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name, src string
		lo, hi    float64
		nan       bool
	}{
		{"square", `g (float[N, 4] x) => (float[N, 4] y) { y = Mul(x, x) }`, 0, 64, false},
		{"difference of itself", `g (float[N, 4] x) => (float[N, 4] y) { y = Sub(x, x) }`, 0, 0, false},
		{"exp overflows FP32", `g (float[N, 4] x) => (float[N, 4] y) <float k = {20}> { a = Mul(x, k) y = Exp(a) }`, 0, inf, false},
		{"inf less inf", `g (float[N, 4] x) => (float[N, 4] y) <float k = {20}> { a = Mul(x, k) e = Exp(a) f = Exp(a) y = Sub(e, f) }`, -inf, inf, true},
		{"root of negative", `g (float[N, 4] x) => (float[N, 4] y) { y = Sqrt(x) }`, 0, math.Sqrt(8), true},
		{"columns", `g (float[N, 2] x) => (float[N, 2] y) <float[2, 2] w = {1, 2, -1, 0}> { y = MatMul(x, w) }`, -16, 16, false},
		{"function per call", `<ir_version: 10, opset_import: ["" : 21, "l" : 1]>
g (float[N, 4] x) => (float[N, 4] y) { a = l.twice(x) y = l.twice(a) }
<opset_import: ["" : 21], domain: "l"> twice (v) => (w) { w = Add(v, v) }`, -32, 32, false},
		{"if joins", `g (float[N, 4] x, bool b) => (float[N, 4] y) { y = If(b) <then_branch = t () => (float[N, 4] p) { p = Relu(x) }, else_branch = e () => (float[N, 4] q) { q = Sub(x, x) }> }`, 0, 8, false},
		{"weights of 4 bits", `g (float[N, 2] x) => (float[N, 1] y) <uint8[1, 1, 8] b = {154, 0, 0, 0, 0, 0, 0, 0}, float[1] s = {3}> { y = com.microsoft.MatMulNBits<K = 2, N = 1, bits = 4, block_size = 16>(x, b, s) }`, -72, 72, false},
		{"weights of 8 bits with a zero", `g (float[N, 2] x) => (float[N, 1] y) <uint8[1, 1, 2] b = {3, 0}, float[1] s = {2}, uint8[1] z = {2}, float[1] o = {1}> { y = com.microsoft.MatMulNBits<K = 2, N = 1, bits = 8, block_size = 2>(x, b, s, z, , o) }`, -47, 49, false},
		{"softmax", `g (float[N, 4] x) => (float[N, 4] y) { y = Softmax(x) }`, 0, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := c.src
			if src[0] != '<' {
				src = header + src
			}
			m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-8, 8)}})
			y := r.Val(m.Graph.Outputs[0])
			h := y.Hull()
			if !near(h.Lo, c.lo) || !near(h.Hi, c.hi) || y.NaN() != c.nan {
				t.Errorf("got %v, NaN %v, want [%v, %v], %v", h, y.NaN(), c.lo, c.hi, c.nan)
			}
			if y.Basis() != rangeprop.Declared {
				t.Errorf("rests on %v", y.Basis())
			}
		})
	}
}

// A range of a sequence is one of its tensors, which are of a type of their own.
func TestSequenceGiven(t *testing.T) {
	m, r := analyze(t, header+`g (seq(float[4]) x) => (float[4] y) { i = Constant<value_int = 0>() y = SequenceAt(x, i) }`,
		rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-8, 8)}})
	if y := r.Val(m.Graph.Outputs[0]); y.Integer() || y.Hull() != (rangeprop.Range{Lo: -8, Hi: 8}) {
		t.Errorf("%v, integer %v", y.Hull(), y.Integer())
	}
}

func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 1e-5*math.Max(1, math.Abs(want))
}

func TestUnknownInput(t *testing.T) {
	m, r := analyze(t, header+`g (float[N, 4] x) => (float[N, 4] y, float[N, 4] z) { a = Add(x, x) z = Tanh(a) y = Relu(a) }`, rangeprop.Options{})
	x, y, z := r.Val(m.Graph.Lookup("x")), r.Val(m.Graph.Lookup("y")), r.Val(m.Graph.Lookup("z"))
	if x.Hull().Bounded() || x.PosInf() || x.NaN() || x.Basis() != rangeprop.Unknown {
		t.Errorf("x is any finite number, got %v", x.Hull())
	}
	if y.Basis() != rangeprop.Unknown || y.Why() != m.Graph.Lookup("x") {
		t.Errorf("y rests on %v", y.Basis())
	}
	if z.Basis() != rangeprop.Constant || z.Hull().MaxAbs() > 1.001 {
		t.Errorf("z is bounded by Tanh itself, got %v, %v", z.Hull(), z.Basis())
	}
}

func TestUnknownOperator(t *testing.T) {
	m, r := analyze(t, header+`g (float[N, 4] x) => (y) { a = com.microsoft.NoSuchThing(x) b = com.microsoft.NoSuchThing(a) y = Relu(b) }`,
		rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(0, 1)}})
	if got := r.UnknownOps(); len(got) != 1 || got[0] != (rangeprop.OpCount{Op: "com.microsoft.NoSuchThing", Count: 2}) {
		t.Errorf("unknown operators %v", got)
	}
	if y := r.Val(m.Graph.Lookup("y")); y.Why() != m.Graph.Lookup("b") || !y.NaN() {
		t.Errorf("y rests on %v", y.Why())
	}
}

func TestFreedInitializer(t *testing.T) {
	src := header + `g (float[N, 2] x) => (float[N, 2] y) <float[2] w = {1, 2}, float[2] k = {0, 3}> { a = Mul(w, k) y = Add(x, a) }`
	for _, c := range []struct {
		name string
		r    rangeprop.Given
		hi   float64
	}{{"moved", given(-10, 10), 31}, {"spanned exactly", given(1, 2), 7}} {
		m, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(0, 1), "w": c.r}})
		if got := r.Val(m.Graph.Lookup("y")).Hull().Hi; !near(got, c.hi) {
			t.Errorf("%s: y up to %v, want %v", c.name, got, c.hi)
		}
	}
}

func TestChannels(t *testing.T) {
	m, r := analyze(t, header+`g (float[N, 2] x) => (float[N, 2] y) <float[2] w = {1, 100}> { y = Mul(x, w) }`,
		rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-1, 1)}})
	lo, hi, axis := r.Val(m.Graph.Lookup("y")).Channels()
	if axis != 1 || len(lo) != 2 || hi[0] != 1 || hi[1] != 100 {
		t.Errorf("got %v %v along %d", lo, hi, axis)
	}
}
