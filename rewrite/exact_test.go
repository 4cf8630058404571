package rewrite

import (
	"context"
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
)

// TestPowersAreExact: what is multiplied by a power of two and divided again is the same in FP32, to the
// bit.
func TestPowersAreExact(t *testing.T) {
	for _, name := range []string{"rescale", "rescale_square", "rebalance"} {
		a, err := txtar.ParseFile("testdata/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		m := parsed(t, section(a, "model"))
		p := planOf(t, string(a.Comment), m)
		p.Target, p.Strategy = numfmt.FP16, Repair
		out, sum, err := p.Apply(m)
		if err != nil || !sum.Changed {
			t.Fatal(name, sum, err)
		}
		if diff := cmp.Diff(results(t, m), results(t, out)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
}

// results runs a model in FP32 on random inputs.
func results(t *testing.T, m *graph.Model) map[string][]float32 {
	t.Helper()
	r, err := refeval.New(m, refeval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(1))
	in := map[string]*refeval.Value{}
	for _, v := range m.Graph.Inputs {
		dims, n := []int64{}, int64(1)
		for _, d := range v.Type.Shape {
			dims, n = append(dims, d.N), n*d.N
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(4*rng.Float64() - 2)
		}
		tensor, err := refeval.FromGraph(graph.FloatTensor(v.Name, dims, x...))
		if err != nil {
			t.Fatal(err)
		}
		in[v.Name] = refeval.TensorValue(tensor)
	}
	got, err := r.Run(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string][]float32{}
	for name, v := range got {
		list[name] = v.Tensor.F
	}
	return list
}
