package rangeprop_test

import (
	"context"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
)

// TestModelFolder runs every model of the folder that AMPLINT_MODELS names, each with one sample
// NAME.npz beside it: AMPLINT_RUNS random inputs and as many at the corners of the sample's hull.
// Every value must lie in its range.
func TestModelFolder(t *testing.T) {
	dir := os.Getenv("AMPLINT_MODELS")
	if dir == "" {
		t.Skip("AMPLINT_MODELS names no folder")
	}
	runs, err := strconv.Atoi(os.Getenv("AMPLINT_RUNS"))
	if err != nil {
		runs = 50
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.onnx"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no models: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { probeModel(t, path, runs) })
	}
}

func probeModel(t *testing.T, path string, runs int) {
	m, err := graph.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	info, err := infer.Run(m, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := samples.Load(path[:len(path)-len(".onnx")]+".npz", m.Graph.Inputs)
	if err != nil || len(list) == 0 {
		t.Skipf("no sample: %v", err)
	}
	given := map[string]rangeprop.Given{}
	for name, x := range list[0].Inputs {
		h, err := x.Tensor.Hull()
		if err != nil {
			t.Fatal(err)
		}
		given[name] = rangeprop.Given{Range: rangeprop.Range{Lo: h.Lo, Hi: h.Hi}, Basis: rangeprop.Declared}
	}
	res, err := rangeprop.Analyze(m, info, rangeprop.Options{Ranges: given})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[*graph.Value]bool{}
	run, err := refeval.New(m, refeval.Options{Observe: func(v *graph.Value, x *refeval.Tensor) {
		if why := outside(res.Val(v), x); why != "" && !seen[v] && v.Const == nil {
			seen[v] = true
			t.Errorf("%s: %s", v.Key(), why)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(4))
	for k := range 2 * runs {
		in := map[string]*refeval.Value{}
		for name, x := range list[0].Inputs {
			in[name] = refeval.TensorValue(within(rng, k%2 == 1, x.Tensor, given[name].Range))
		}
		if _, err := run.Run(context.Background(), in); err != nil {
			t.Fatal(err)
		}
	}
}

// within draws a tensor of a sample's type and size inside a range, or of its corners.
func within(rng *rand.Rand, corners bool, a *samples.Array, r rangeprop.Range) *refeval.Tensor {
	x := &refeval.Tensor{Elem: a.Elem}
	for _, d := range a.Dims {
		x.Dims = append(x.Dims, int(d))
	}
	for range a.Len() {
		u := rng.Float64()
		if corners {
			u = float64(rng.Intn(2))
		}
		switch e := r.Lo + u*(r.Hi-r.Lo); {
		case !a.Elem.IsFloat():
			x.I = append(x.I, int64(math.Round(e)))
		case a.Elem == graph.Double:
			x.D = append(x.D, e)
		default:
			x.F = append(x.F, float32(e))
		}
	}
	return x
}
