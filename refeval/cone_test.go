package refeval

import (
	"context"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
)

const twoTails = `<ir_version: 9, opset_import: ["" : 18]>
m (float[2] x, bool c) => (float[2] y, float[2] z)
<float[2] w = {3, 4}>
{
  a = Mul(x, w)
  b = If(c) <then_branch = t () => (float[2] u) { u = Add(a, w) }, else_branch = e () => (float[2] v) { v = Neg(a) }>
  y = Exp(b)
  q = Sqrt(x)
  z = Mul(q, q)
}`

func parsed(t *testing.T, text string) *graph.Model {
	t.Helper()
	m, err := onnxtxt.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := infer.Run(m, infer.Options{}); err != nil {
		t.Fatal(err)
	}
	return m
}

// A goal runs what it needs, through a branch too, and nothing else.
func TestGoal(t *testing.T) {
	m := parsed(t, twoTails)
	for _, c := range []struct{ goal, not string }{{"b", "q"}, {"q", "a"}, {"a", "b"}} {
		seen := map[string]bool{}
		r, err := New(m, Options{Goal: []*graph.Value{m.Graph.Lookup(c.goal)}, Observe: func(v *graph.Value, _ *Tensor) { seen[v.Name] = true }})
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Run(context.Background(), map[string]*Value{
			"x": TensorValue(&Tensor{Elem: graph.Float, Dims: []int{2}, F: []float32{1, 2}}), "c": TensorValue(&Tensor{Elem: graph.Bool, I: []int64{1}})})
		if err != nil {
			t.Fatal(err)
		}
		if !seen[c.goal] || seen[c.not] || len(out) != 0 {
			t.Errorf("goal %s: seen %v, %d outputs", c.goal, seen, len(out))
		}
	}
}

// A free initializer has its own value where none is given.
func TestFree(t *testing.T) {
	m := parsed(t, twoTails)
	r, err := New(m, Options{Free: []*graph.Value{m.Graph.Lookup("w")}})
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]*Value{"x": TensorValue(&Tensor{Elem: graph.Float, Dims: []int{2}, F: []float32{1, 0}}), "c": TensorValue(&Tensor{Elem: graph.Bool, I: []int64{1}})}
	for _, c := range []struct {
		w    []float32
		want float32 // exp(x*w + w) of the second element
	}{{nil, 54.59815}, {[]float32{0, 0}, 1}} {
		if c.w != nil {
			in["w"] = TensorValue(&Tensor{Elem: graph.Float, Dims: []int{2}, F: c.w})
		}
		out, err := r.Run(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		if got := out["y"].Tensor.F[1]; got < c.want*0.9999 || got > c.want*1.0001 {
			t.Errorf("w = %v: %v, want %v", c.w, got, c.want)
		}
	}
}
