package ort

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
)

// engine opens the library. Where python is named, as test.sh does, it must be there.
func engine(t *testing.T) *Engine {
	t.Helper()
	if !CanLoad {
		t.Skip("built without the tag ort, as test.sh builds it in a step of its own")
	}
	e, err := Open("")
	var missing *MissingError
	if errors.As(err, &missing) && os.Getenv("AMPLINT_PYTHON") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func parse(t *testing.T, text string) *graph.Model {
	t.Helper()
	m, err := onnxtxt.Parse("m.onnxtxt", []byte("<ir_version: 9, opset_import: [\"\" : 19, \"f\" : 1]>\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// agreements are models of an input x of type float or float16 on which onnxruntime must give what
// the evaluator gives, bit for bit.
var agreements = []struct {
	name, text string
	as         numfmt.Format
	x          []float32
}{
	{"as stored", `m (float[N] x) => (float[N] y) { y = Mul(x, x) }`, numfmt.Invalid, []float32{300, -2}},
	{"fp16 overflows inside", `m (float[N] x) => (float[N] y) { a = Mul(x, x) y = Sqrt(a) }`, numfmt.FP16, []float32{300, -2}},
	{"bf16", `m (float[N] x) => (float[N] y) { a = Mul(x, x) y = Sqrt(a) }`, numfmt.BF16, []float32{3.1415927, 1e30}},
	{"stored in fp16", `m (float16[N] x) => (float16[N] y) { a = Mul(x, x) y = Sqrt(a) }`, numfmt.Invalid, []float32{300, -2}},
	{"an fp16 output read inside", `m (float16[N] x) => (float16[N] a, float16[N] y) { a = Mul(x, x) y = Sqrt(a) }`, numfmt.Invalid, []float32{300, -2}},
	{"fp16 constants", `m (float16[N] x) => (float16[N] y) <float16 c = {26625}> { d = Constant<value = float16 {16385}>() a = Mul(x, c) y = Add(a, d) }`,
		numfmt.Invalid, []float32{3, -2}},
	{"constants are rounded", `m (float[N] x) => (float[N] y) <float c = {2049}> { d = Constant<value_float = 1.0002>() a = Mul(x, d) y = Add(a, c) }`,
		numfmt.FP16, []float32{1, 0.5}},
	{"subnormals", `m (float[N] x) => (float[N] y) { y = Neg(x) }`, numfmt.FP16, []float32{3e-8, 2.98e-8, 1e-7, 6.1e-5}},
	{"pinned scales", `m (float[1,1,N] x) => (float[A,B,C] y) <float[3] s = {1, 1, 1.5001}> { y = Resize<mode = "nearest">(x, , s) }`,
		numfmt.FP16, []float32{1.0001, 2049}},
	{"cast to fp16", `m (float[N] x) => (float[N] y) { h = Cast<to = 10>(x) g = Mul(h, h) y = Cast<to = 1>(g) }`, numfmt.Invalid, []float32{300, 1.0001}},
	{"branch", `m (float16[N] x) => (float16[N] y) <bool c = {1}, float16[1] k = {26625}> {
		y = If(c) <then_branch = t () => (float16[N] a) { a = Mul(x, k) }, else_branch = e () => (float16[1] b) <float16[1] b = {26625}> { }>
	}`, numfmt.Invalid, []float32{300, 2}},
	{"loop", `m (float[N] x) => (float[N] y) <int64 n = {4}> {
		y = Loop(n, , x) <body = b (int64 i, bool c, float[N] s) => (bool d, float[N] r) { d = Identity(c) r = Mul(s, x) }>
	}`, numfmt.FP16, []float32{20, 1.1}},
	{"function", `m (float[N] x) => (float[N] y) { a = f.square(x) y = Sqrt(a) }
		<domain: "f", opset_import: ["" : 19]> square (a) => (r) { r = Mul(a, a) }`, numfmt.FP16, []float32{300, 2}},
	{"no elements", `m (float[N] x) => (float[N] y) { y = Neg(x) }`, numfmt.FP16, []float32{}},
}

func TestAgreesWithEvaluator(t *testing.T) {
	e := engine(t)
	for _, c := range agreements {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, c.text)
			x := input(m, c.x)
			want := evaluate(t, m, c.as, x)
			s, err := e.Load(m, Options{As: c.as, Threads: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got, err := s.Run(context.Background(), map[string]*graph.Tensor{"x": x})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) {
				t.Errorf("%d outputs, want %d", len(got), len(want))
			}
			for name, w := range want {
				compare(t, name, got[name], w)
			}
		})
	}
}

// input makes x in the type and rank that the model declares: all dimensions but the last are 1.
func input(m *graph.Model, x []float32) *graph.Tensor {
	in := m.Graph.Inputs[0].Type
	dims := make([]int64, len(in.Shape))
	for i := range dims {
		dims[i] = 1
	}
	dims[len(dims)-1] = int64(len(x))
	return graph.FloatTensor("x", dims, x...).Converted(in.Elem, false)
}

func evaluate(t *testing.T, m *graph.Model, as numfmt.Format, x *graph.Tensor) map[string]*refeval.Tensor {
	t.Helper()
	r, err := refeval.New(m, refeval.Options{As: as})
	if err != nil {
		t.Fatal(err)
	}
	in, err := refeval.FromGraph(x)
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Run(context.Background(), map[string]*refeval.Value{"x": refeval.TensorValue(in)})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]*refeval.Tensor{}
	for name, v := range out {
		named[name] = v.Tensor
	}
	return named
}

func compare(t *testing.T, name string, got *graph.Tensor, want *refeval.Tensor) {
	t.Helper()
	if got == nil {
		t.Fatalf("there is no output %q", name)
	}
	g, err := refeval.FromGraph(got)
	if err != nil {
		t.Fatal(err)
	}
	if !g.EqualBits(want) {
		t.Errorf("%s is %s %v, want %s %v", name, g, g.F, want, want.F)
	}
}

// The bytes of a model run without any change: integers, bool and strings, scalars and no elements.
func TestRun(t *testing.T) {
	e := engine(t)
	m := parse(t, `m (int64[N] n, string[S] s, uint8[A,B] u) => (bool[N] p, string[S] t, uint8[B,A] v) {
		zero = Constant<value_int = 0>()
		p = Greater(n, zero) t = Identity(s) v = Transpose(u)
	}`)
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	out, err := e.Run(context.Background(), b.Bytes(), map[string]*graph.Tensor{
		"n": graph.IntTensor("n", []int64{3}, -1, 0, 5),
		"s": graph.NewStrings("s", []int64{2}, []string{"", "späť"}),
		"u": graph.NewTensor("u", graph.Uint8, []int64{2, 0}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := out["p"].Int64s()
	if err != nil || !slices.Equal(p, []int64{0, 0, 1}) {
		t.Errorf("p is %v, %v", p, err)
	}
	s, err := out["t"].Strings()
	if err != nil || !slices.Equal(s, []string{"", "späť"}) {
		t.Errorf("t is %q, %v", s, err)
	}
	if v := out["v"]; v.Elem != graph.Uint8 || !slices.Equal(v.Dims, []int64{0, 2}) {
		t.Errorf("v is %s", v.Type())
	}
}

// Weights beside the model are found in its folder, and rounded too.
func TestExternalData(t *testing.T) {
	e := engine(t)
	dir := t.TempDir()
	m := parse(t, `m (float[N] x) => (float[N] y) <float[1] w = ["location": "w.bin", "offset": "0", "length": "4"]> { y = Mul(x, w) }`)
	path := filepath.Join(dir, "m.onnx")
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	bits := math.Float32bits(1.0004) // 1 in fp16
	for name, data := range map[string][]byte{"m.onnx": b.Bytes(), "w.bin": {byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)}} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m, err := graph.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for as, want := range map[numfmt.Format]float32{numfmt.FP32: 1.0004, numfmt.FP16: 1} {
		s, err := e.Load(m, Options{As: as})
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(context.Background(), map[string]*graph.Tensor{"x": graph.FloatTensor("x", []int64{1}, 1)})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "y", out["y"], refeval.FloatTensor([]int{1}, want))
		s.Close()
	}
}

func TestCancel(t *testing.T) {
	e := engine(t)
	m := parse(t, `m (float[N] x) => (float[N] y) <int64 n = {1000000000}> {
		y = Loop(n, , x) <body = b (int64 i, bool c, float[N] s) => (bool d, float[N] r) { d = Identity(c) r = Add(s, x) }>
	}`)
	s, err := e.Load(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = s.Run(ctx, map[string]*graph.Tensor{"x": graph.FloatTensor("x", []int64{1}, 1)})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// What onnxruntime finds wrong comes back in its words, and nothing is lost to it.
func TestErrors(t *testing.T) {
	e := engine(t)
	if _, err := e.Run(context.Background(), []byte("no model"), nil); err == nil || !strings.HasPrefix(err.Error(), "onnxruntime: ") {
		t.Errorf("bytes that are no model: %v", err)
	}
	s, err := e.Load(parse(t, `m (float[2] x) => (float[2] y) { y = Neg(x) }`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background(), map[string]*graph.Tensor{"x": graph.FloatTensor("x", []int64{3}, 1, 2, 3)}); err == nil {
		t.Error("an input of another shape is taken")
	}
	if _, err := s.Run(context.Background(), nil); err == nil {
		t.Error("a missing input is taken")
	}
	if _, err := e.Load(parse(t, `m (float[2] x) => (float[2] y) { y = Neg(x) }`), Options{As: numfmt.E4M3FN}); err == nil {
		t.Error("fp8 is taken")
	}
}
