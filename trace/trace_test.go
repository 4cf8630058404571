package trace

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// model writes a text model to a file and opens it.
func model(t *testing.T, body string) *graph.Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.onnxtxt")
	text := "<ir_version: 8, opset_import: [\"\" : 17]>\ng " + body
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := onnxtxt.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func traced(t *testing.T, m *graph.Model, opt Options) *Trace {
	t.Helper()
	tr, err := Of(context.Background(), m, []*samples.Sample{{}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func (t *Trace) value(name string) *Value {
	for _, v := range t.Values {
		if v.Key() == name {
			return v
		}
	}
	return nil
}

func TestStats(t *testing.T) {
	s := noStats()
	s.add(refeval.FloatTensor([]int{6}, -3, 0, 1e-6, 7, float32(math.Inf(1)), float32(math.NaN())), numfmt.FP16)
	want := Stats{Elements: 6, Min: -3, Max: 7, Tiny: float64(float32(1e-6)), Inf: 1, NaN: 1, Zero: 1, Subnormal: 1}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	if n := noStats(); n.Bad() || n.Min == n.Min {
		t.Errorf("of nothing: %+v", n)
	}
}

func TestDiff(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	var d Diff
	d.add(refeval.FloatTensor([]int{6}, 1, 2.5, 0, inf, nan, nan), refeval.FloatTensor([]int{6}, 1, 2, 1e-9, 4, 5, nan), numfmt.FP16, Tolerance{Abs: 1e-3})
	if d.MaxAbs != 0.5 || d.MaxRel != 1 || d.MaxUlp != 256 || d.Scale != 2 || d.Overflowed != 1 || d.NaN != 1 || d.Flushed != 1 || d.Outside != 3 {
		t.Errorf("got %+v", d)
	}
	if c := d.Cosine(); math.Abs(c-6/math.Sqrt(7.25*5)) > 1e-12 {
		t.Errorf("cosine %v", c)
	}
	var shape, whole Diff
	shape.add(refeval.FloatTensor([]int{1}, 1), refeval.FloatTensor([]int{}, 1), numfmt.FP32, Tolerance{})
	if !shape.Shape {
		t.Error("shapes [1] and [] count as equal")
	}
	whole.add(refeval.IntTensor([]int{2}, 1, 9), refeval.IntTensor([]int{2}, 1, 7), numfmt.FP32, Tolerance{Abs: 100})
	if whole.Outside != 1 || whole.MaxAbs != 2 {
		t.Errorf("integers: %+v", whole)
	}
}

func TestFirst(t *testing.T) {
	m := model(t, `() => (float[2] y) <float[2] x = {300, 0.5}> { s = Mul(x, x) t = Neg(s) y = Relu(t) }`)
	tr := traced(t, m, Options{As: numfmt.FP16})
	if f := tr.NonFinite; f == nil || f.Value.Name != "s" || tr.First() != f {
		t.Errorf("first %+v", f)
	}
	if v := tr.value("y"); v.Target.Bad() || v.Format != numfmt.FP16 || v.Error.MaxAbs != 0 {
		t.Errorf("what Relu absorbed: %+v", v)
	}
	if tr := traced(t, m, Options{}); tr.First() != nil {
		t.Errorf("in float: %+v", tr.First())
	}
}

// TestParting has the two runs go other ways: rounding decides a condition and the length of a loop.
func TestParting(t *testing.T) {
	m := model(t, `() => (float y, float z) <float big = {70000}, float more = {80000}, float limit = {65520}, int64 n = {6}> {
		low = Equal(big, more)
		y = If(low) <then_branch = a () => (float p) { q = Neg(limit) p = Abs(q) }, else_branch = b () => (float r) { r = Sqrt(limit) }>
		one = Constant<value = float {1}>()
		go = Less(one, limit)
		z = Loop(n, go, one) <body = c (int64 i, bool still, float v) => (bool on, float w) { w = Mul(v, limit) on = Less(w, limit) }>
	}`)
	tr := traced(t, m, Options{As: numfmt.FP16})
	if p := tr.value("#y/then_branch/p"); p == nil || p.Reference.Elements != 0 {
		t.Errorf("a branch that the reference does not take: %+v", p)
	}
	z := tr.value("z")
	if z == nil || z.Reference.Elements != 1 || !math.IsNaN(z.Target.Max) {
		t.Errorf("after the loop: %+v", z)
	}
}

func TestWide(t *testing.T) {
	m := model(t, `() => (float16[1] y) <float[1] w = {300}> { h = Cast<to = 10>(w) s = Mul(h, h) y = Sqrt(s) }`)
	tr := traced(t, m, Options{})
	if f := tr.NonFinite; f == nil || f.Value.Name != "s" || f.Value.Reference.Max != 90000 {
		t.Errorf("first %+v", f)
	}
}

func TestCancelled(t *testing.T) {
	m := model(t, `() => (float y) <float x = {1}> { s = Neg(x) y = Neg(s) }`)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Of(ctx, m, []*samples.Sample{{}}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestFails(t *testing.T) {
	m := model(t, `() => (float[2] y) <float[2] x = {1, 2}, float[3] z = {1, 2, 3}> { s = Neg(x) y = Add(s, z) }`)
	if tr := traced(t, m, Options{}); tr.Stopped == nil || !strings.Contains(tr.Stopped.Error(), `node "#y" (Add)`) || tr.value("s") == nil {
		t.Errorf("stopped by %v", tr.Stopped)
	}
	in := model(t, `(float[2, n] x) => (float[2, n] y) { y = Neg(x) }`)
	for what, x := range map[string]*graph.Tensor{
		"none":         nil,
		"another rank": graph.FloatTensor("", []int64{2}, 1, 2),
		"another size": graph.FloatTensor("", []int64{3, 1}, 1, 2, 3),
	} {
		s := &samples.Sample{Inputs: map[string]*samples.Value{}}
		if x != nil {
			s.Inputs["x"] = samples.TensorValue(x)
		}
		var input *refeval.InputError
		if _, err := Of(context.Background(), in, []*samples.Sample{s}, Options{}); !errors.As(err, &input) || input.Name != "x" {
			t.Errorf("a sample of %s: error %v", what, err)
		}
	}
}

// TestConverted feeds doubles and int64, as numpy makes them, to a model of narrower types.
func TestConverted(t *testing.T) {
	m := model(t, `(float[1] x, int32[1] k) => (float[1] y, int32[1] z) { y = Neg(x) z = Neg(k) }`)
	s := &samples.Sample{Inputs: map[string]*samples.Value{
		"x": samples.TensorValue(graph.NewTensor("", graph.Double, []int64{1}, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f})),
		"k": samples.TensorValue(graph.IntTensor("", []int64{1}, 5)),
	}}
	out, err := Run(context.Background(), m, s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Value.Tensor.Elem != graph.Float || out[1].Value.Tensor.Elem != graph.Int32 {
		t.Errorf("types %s and %s", out[0].Value.Tensor.Elem, out[1].Value.Tensor.Elem)
	}
	s.Inputs["k"] = s.Inputs["x"]
	if _, err := Run(context.Background(), m, s, Options{}); err == nil || !strings.Contains(err.Error(), `input "k"`) {
		t.Errorf("doubles for integers: %v", err)
	}
}

// bundled makes a bundle of a trace and returns its path.
func bundled(t *testing.T, m *graph.Model, opt Options) string {
	t.Helper()
	tr := traced(t, m, opt)
	s := &samples.Sample{Name: "here"}
	values, err := LedTo(context.Background(), m, s, opt, tr)
	if err != nil {
		t.Fatal(err)
	}
	if len(values) == 0 {
		t.Error("nothing led to the failure")
	}
	var b bytes.Buffer
	if err := (&Bundle{Tool: "test", Model: m, Sample: s, Options: opt, Trace: tr, Values: values}).Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "b.zip")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBundle(t *testing.T) {
	m := model(t, `() => (float[2] y) <float[2] x = {300, 0.5}> { [square] s = Mul(x, x) y = Neg(s) }`)
	opt := Options{As: numfmt.FP16, Accumulate: refeval.Target, Flush: true, Seed: 3}
	path := bundled(t, m, opt)
	r, err := OpenBundle(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Options(); err != nil || got.As != opt.As || got.Accumulate != opt.Accumulate || !got.Flush || got.Seed != 3 {
		t.Errorf("options %+v, %v", got, err)
	}
	if r.Manifest.Node != "square" || r.Manifest.Value != "s" || r.Manifest.Sample != "here" {
		t.Errorf("manifest %+v", r.Manifest)
	}
	want, _ := os.ReadFile(m.Path)
	if got, err := os.ReadFile(r.Model); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the model in the bundle is %q, %v", got, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(r.Model); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

func TestDamagedBundle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.zip")
	for _, content := range []string{"", "PK\x03\x04", "no archive"} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenBundle(path); err == nil || !strings.Contains(err.Error(), "no bundle") {
			t.Errorf("%q: error %v", content, err)
		}
	}
	var b bytes.Buffer
	if err := samples.WriteNPZ(&b, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenBundle(path); err == nil || !strings.Contains(err.Error(), "manifest.json") {
		t.Errorf("without a manifest: %v", err)
	}
}

func TestVerify(t *testing.T) {
	a := model(t, `() => (float[2] y, float[2] z) <float[2] x = {300, 0.5}> { z = Neg(x) y = Mul(z, x) }`)
	b := model(t, `() => (float[2] out, float[2] z) <float[2] x = {300, 0.5}> { z = Neg(x) out = Mul(z, x) }`)
	opt := VerifyOptions{Tolerance: Tolerance{Rel: 1e-3}, Values: true}
	v, err := Verify(context.Background(), a, b, []*samples.Sample{{}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !v.OK() || len(v.Outputs) != 2 || v.Outputs[0].Name != "out" || len(v.Values) != 1 || v.Values[0].Name != "z" {
		t.Errorf("got %+v", v)
	}
	opt.B.As = numfmt.FP16
	if v, err = Verify(context.Background(), a, b, []*samples.Sample{{}}, opt); err != nil || v.OK() || v.Outputs[0].BadB != 1 || v.Outputs[1].Diff.Outside != 0 {
		t.Errorf("in half precision: %+v, %v", v.Outputs[0], err)
	}
}
