package rangeprop_test

import (
	"context"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// recurrentTensor writes numbers with a spread, as a constant of the text form.
func recurrentTensor(rng *rand.Rand, name string, spread float64, dims ...int) string {
	n, list := 1, []string(nil)
	for _, d := range dims {
		n *= d
		list = append(list, fmt.Sprint(d))
	}
	var x []string
	for range n {
		x = append(x, fmt.Sprintf("%.4f", spread*rng.NormFloat64()))
	}
	return fmt.Sprintf("float[%s] %s = {%s}", strings.Join(list, ", "), name, strings.Join(x, ", "))
}

// TestRecurrentMoments holds estimates of recurrent layers against runs on normal inputs.
func TestRecurrentMoments(t *testing.T) {
	for _, c := range []struct {
		name, node   string
		gates, steps int
	}{
		{"LSTM", `y, h, c = LSTM<hidden_size = 8>(x, w, r, b)`, 4, 5},
		{"LSTM from a state", `y, h, c = LSTM<hidden_size = 8>(x, w, r, b, , h0, c0)`, 4, 3},
		{"LSTM with coupled gates", `y, h, c = LSTM<hidden_size = 8, input_forget = 1>(x, w, r, b)`, 4, 5},
		{"both directions", `y, h, c = LSTM<hidden_size = 8, direction = "bidirectional">(x, w2, r2)`, 4, 4},
		{"batches first", `t = Transpose<perm = [1, 0, 2]>(x) y, h, c = LSTM<hidden_size = 8, layout = 1>(t, w, r, b)`, 4, 2},
		{"gates in another order", `i0 = Constant<value = int64[1] {0}>() i8 = Constant<value = int64[1] {8}>() i24 = Constant<value = int64[1] {24}>() i99 = Constant<value = int64[1] {2147483647}>()
  m = Squeeze(w, i0) w1 = Slice(m, i0, i8, i0) w3 = Slice(m, i24, i99, i0) w4 = Slice(m, i8, i24, i0) wc = Concat<axis = 0>(w1, w3, w4) wu = Unsqueeze(wc, i0) y, h, c = LSTM<hidden_size = 8>(x, wu, r, b)`, 4, 3},
		{"GRU", `y, h = GRU<hidden_size = 8>(x, w, r, b)`, 3, 5},
		{"GRU that resets late", `y, h = GRU<hidden_size = 8, linear_before_reset = 1>(x, w, r, b)`, 3, 5},
		{"RNN", `y, h = RNN<hidden_size = 8>(x, w, r, b)`, 1, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewSource(3))
			rows := 8 * c.gates
			src := fmt.Sprintf("<ir_version: 8, opset_import: [\"\" : 17]>\nb (float[%d, 400, 6] x, float[1, 400, 8] h0, float[1, 400, 8] c0) => (float[N] y) <%s, %s, %s, %s, %s> { %s }", c.steps,
				recurrentTensor(rng, "w", 0.5, 1, rows, 6), recurrentTensor(rng, "r", 0.4, 1, rows, 8), recurrentTensor(rng, "b", 0.4, 1, 2*rows),
				recurrentTensor(rng, "w2", 0.5, 2, rows, 6), recurrentTensor(rng, "r2", 0.4, 2, rows, 8), c.node)
			m, res := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-6, 6), "h0": given(-1, 1), "c0": given(-1, 1)}})
			seen := runRecurrent(t, m, rng)
			for _, name := range []string{"y", "h", "c"} {
				v := m.Graph.Lookup(name)
				if v == nil {
					continue
				}
				mean, sd, ok := res.Val(v).Moments()
				got, want := math.Hypot(mean, sd), seen[name]
				if !ok || math.Abs(got-want) > 0.12*want {
					t.Errorf("%s: estimated %.4g (mean %.4g), seen %.4g", name, got, mean, want)
				}
			}
		})
	}
}

// runRecurrent returns the root mean squares of what a model computes of normal inputs: with a deviation of 2,
// as their range of ±6 lets expect, and states of 1/√3.
func runRecurrent(t *testing.T, m *graph.Model, rng *rand.Rand) map[string]float64 {
	seen := map[string]float64{}
	run, err := refeval.New(m, refeval.Options{Observe: func(v *graph.Value, x *refeval.Tensor) {
		sum := 0.0
		for _, f := range x.F {
			sum += float64(f) * float64(f)
		}
		seen[v.Name] = math.Sqrt(sum / float64(len(x.F)))
	}})
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]*refeval.Value{}
	for _, v := range m.Graph.Inputs {
		if v.Init != nil {
			continue
		}
		x := &refeval.Tensor{Elem: graph.Float}
		n := 1
		for _, d := range v.Type.Shape {
			x.Dims = append(x.Dims, int(d.N))
			n *= int(d.N)
		}
		for range n {
			if v.Name == "x" {
				x.F = append(x.F, float32(2*rng.NormFloat64()))
			} else {
				x.F = append(x.F, float32(2*rng.Float64()-1))
			}
		}
		in[v.Name] = refeval.TensorValue(x)
	}
	if _, err := run.Run(context.Background(), in); err != nil {
		t.Fatal(err)
	}
	return seen
}
