package rangeprop_test

import (
	"context"
	"fmt"
	"math/rand"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// TestCancellation draws rows whose variance E[x²] - m² is lost to rounding: the normalised value leaves
// ±√n, and must not leave its range.
func TestCancellation(t *testing.T) {
	for _, eps := range []string{"1e-3", "1e-5", "9.765625e-4"} {
		for _, floor := range []string{"Relu", "Identity"} {
			t.Run(floor+" "+eps, func(t *testing.T) {
				src := fmt.Sprintf(`<ir_version: 8, opset_import: ["" : 17]>
b (float[256, 16] x) => (float[256, 16] y) <float small = {%s}>
{ %s f = %s(v) ve = Add(f, small) r = Sqrt(ve) d = Sub(x, mu) y = Div(d, r) }`, eps, fastNorm, floor)
				m, res := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-100, 100)}})
				if top := nearlyConstant(t, m, res); top < 4.2 {
					t.Errorf("no row came out above √16, the largest is %v: these rows test nothing", top)
				}
			})
		}
	}
}

// nearlyConstant runs a model on rows that hold almost one number each, and returns the largest output.
func nearlyConstant(t *testing.T, m *graph.Model, res *rangeprop.Result) float64 {
	top := 0.0
	y := m.Graph.Outputs[0]
	run, err := refeval.New(m, refeval.Options{Observe: func(v *graph.Value, x *refeval.Tensor) {
		if why := outside(res.Val(v), x); why != "" {
			t.Errorf("%s: %s", v.Key(), why)
		}
		for _, f := range x.F {
			if v == y && float64(f) > top {
				top = float64(f)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewSource(5))
	for range 60 {
		x := &refeval.Tensor{Elem: graph.Float, Dims: []int{256, 16}}
		for range 256 {
			c, d := 50+49*rng.Float64(), 0.3*rng.Float64()
			for i := range 16 {
				e := 0.1 * d * rng.NormFloat64()
				if i == 7 {
					e += d
				}
				x.F = append(x.F, float32(min(c+e, 100)))
			}
		}
		if _, err := run.Run(context.Background(), map[string]*refeval.Value{"x": refeval.TensorValue(x)}); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// A mean over nobody knows how many numbers stays within them: no tensor has so many that their sum
// overflows FP32 on the way.
func TestMeanOfUnknownCount(t *testing.T) {
	m, res := analyze(t, `<ir_version: 9, opset_import: ["" : 18]>
g (float[N, M] x) => (float[1, 1] y) { y = ReduceMean(x) }`, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-4, 4)}})
	want := rangeprop.Range{Lo: -4.01, Hi: 4.01}
	if h := res.Val(m.Graph.Outputs[0]).Hull(); !want.Contains(h) {
		t.Errorf("%v, want within %v", h, want)
	}
}
