package refeval

import (
	"context"
	"testing"
	"unsafe"

	"github.com/amplint/amplint/graph"
)

// chain is a row of nodes whose values die at once, but for one that is read again at the end.
const chainText = `<ir_version: 8, opset_import: ["" : 17]>
chain (float[8, 64] x, float[64] b) => (float[8, 64] y, float[8, 64] kept)
{
  a = Relu(x)
  c = Add(a, b)
  kept = Mul(c, c)
  d = Exp(kept)
  e = Sub(b, d)
  f = Sum(e, e, e)
  g = Div(f, a)
  y = Softmax<axis = -1>(g)
}`

func TestMemoryIsUsedAgain(t *testing.T) {
	m := parse(t, chainText)
	r, err := New(m, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]*Value{"x": ramp(8, 64), "b": ramp(64)}
	first, err := r.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	want := keep(t, m, in)
	for range 3 {
		out, err := r.Run(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range want {
			if !out[name].Tensor.EqualBits(v.Tensor) || !first[name].Tensor.EqualBits(v.Tensor) {
				t.Errorf("%s differs from a run that uses no memory again", name)
			}
		}
		if a, b := out["y"].Tensor.F, out["kept"].Tensor.F; unsafe.SliceData(a) == unsafe.SliceData(b) {
			t.Error("two results lie in the same memory")
		}
	}
	a := r.arena.Load()
	if a.held == 0 || a.held > 2*a.peak {
		t.Errorf("%d bytes are kept, the most in use were %d", a.held, a.peak)
	}
}

// keep runs a model that is observed, whose results all have memory of their own.
func keep(t *testing.T, m *graph.Model, in map[string]*Value) map[string]*Value {
	t.Helper()
	r, err := New(m, Options{Threads: 1, Observe: func(*graph.Value, *Tensor) {}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestArenaServesFromLarger(t *testing.T) {
	a := &arena{free: map[int][][]float32{}}
	a.put(make([]float32, 1024))
	a.put(make([]float32, 512))
	if got := a.get(500); len(got) != 512 {
		t.Errorf("500 elements lie in %d", len(got))
	}
	if got := a.get(500); len(got) != 1024 {
		t.Errorf("500 elements lie in %d", len(got))
	}
	a.put(make([]float32, 4096))
	if got := a.get(100); got != nil {
		t.Errorf("100 elements lie in %d", len(got))
	}
	a.drop(5000)
	if a.held != 0 || a.get(4096) != nil {
		t.Errorf("%d bytes are held after a drop", a.held)
	}
}

// ramp makes a tensor of numbers of both signs and many magnitudes.
func ramp(dims ...int) *Value {
	t, err := newTensor(graph.Float, dims)
	if err != nil {
		panic(err)
	}
	seed := uint32(1)
	for i := range t.F {
		seed = seed*1664525 + 1013904223
		t.F[i] = (float32(seed>>8)/(1<<24) - 0.5) * 3
	}
	return TensorValue(t)
}

// TestWhatIsShownStays holds what an observer keeps against a run in which nothing is used again.
func TestWhatIsShownStays(t *testing.T) {
	m := parse(t, chainText)
	in := map[string]*Value{"x": ramp(8, 64), "b": ramp(64)}
	seen := func(o Options) map[string]*Tensor {
		kept := map[string]*Tensor{}
		o.Threads, o.Observe = 1, func(v *graph.Value, x *Tensor) { kept[v.Name] = x }
		r, err := New(m, o)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second finds memory of the first
			if _, err := r.Run(context.Background(), in); err != nil {
				t.Fatal(err)
			}
		}
		return kept
	}
	all := seen(Options{})
	for name := range seen(Options{Shown: func(v *graph.Value) bool { return v.Name == "c" || v.Name == "f" }}) {
		part := seen(Options{Shown: func(v *graph.Value) bool { return v.Name == name }})
		if !part[name].EqualBits(all[name]) {
			t.Errorf("%s was changed after it was shown", name)
		}
	}
	if glanced := seen(Options{Glance: true}); len(glanced) != len(all) {
		t.Errorf("%d values were shown at a glance, %d without", len(glanced), len(all))
	} else if glanced["c"].EqualBits(all["c"]) {
		t.Error("the memory of a value that was shown at a glance served no other")
	}
}
