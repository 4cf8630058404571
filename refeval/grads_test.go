package refeval

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/amplint/amplint/graph"
)

// gradCase is a function and the operators that compute its gradients. Both see the inputs by
// name; g is the gradient of the result, which is summed with it.
type gradCase struct {
	name    string
	inputs  string // as the header of a model declares them
	forward string // makes y
	grad    string // makes dNAME
	by      []string
}

// TestGrads holds gradients against differences of the function itself.
func TestGrads(t *testing.T) {
	for _, gc := range []gradCase{
		{"relu", "float[2,3] x, float[2,3] g", "y = Relu(x)", "dx = com.microsoft.ReluGrad(g, x)", []string{"x"}},
		{"tanh", "float[2,3] x, float[2,3] g", "y = Tanh(x)", "t = Tanh(x) dx = com.microsoft.TanhGrad(g, t)", []string{"x"}},
		{"gelu", "float[2,3] x, float[2,3] g", "y = com.microsoft.Gelu(x)", "dx = com.microsoft.GeluGrad(g, x)", []string{"x"}},
		{"fast gelu", "float[2,3] x, float[2,3] g", "y = com.microsoft.FastGelu(x)", "dx = com.microsoft.FastGeluGrad(g, x)", []string{"x"}},
		{"bias gelu", "float[2,3] x, float[3] b, float[2,3] g", "y = com.microsoft.BiasGelu(x, b)", "dx = com.microsoft.BiasGeluGrad_dX(g, x, b)", []string{"x"}},
		{"division", "float[2,3] x, float[3] b, float[2,3] g", "y = Div(x, b)", "dx, db = com.microsoft.DivGrad(g, x, b)", []string{"x", "b"}},
		{"softmax", "float[2,3] x, float[2,3] g", "y = Softmax<axis = 0>(x)", "s = Softmax<axis = 0>(x) dx = com.microsoft.SoftmaxGrad_13<axis = 0>(g, s)", []string{"x"}},
		{"log softmax", "float[2,3] x, float[2,3] g", "y = LogSoftmax(x)", "s = LogSoftmax(x) dx = com.microsoft.LogSoftmaxGrad_13(g, s)", []string{"x"}},
		{"layer norm", "float[2,3] x, float[3] s, float[3] b, float[2,3] g", "y = LayerNormalization(x, s, b)",
			"u, m, i = LayerNormalization(x, s, b) dx, ds, db = com.microsoft.LayerNormalizationGrad(g, x, s, m, i)", []string{"x", "s", "b"}},
		{"batch norm", "float[2,3,2] x, float[3] s, float[3] b, float[2,3,2] g", "q = Abs(s) y = com.microsoft.BatchNormInternal(x, s, b, b, q)",
			"u, r, v, m, i = com.microsoft.BatchNormInternal(x, s, b, b, q) dx, ds, db = com.microsoft.BatchNormalizationGrad(g, x, s, m, i)", []string{"x", "s", "b"}},
		{"convolution", "float[2,4,3] x, float[2,2,2] s, float[2] b, float[2,2,2] g", "y = Conv<group = 2, pads = [1, 0], strides = [2]>(x, s, b)",
			"dx, ds, db = com.microsoft.ConvGrad<group = 2, pads = [1, 0], strides = [2]>(g, x, s)", []string{"x", "s", "b"}},
		{"gather", "float[2,3] x, float[2,4] g", "k = Constant<value = int64[4] {0, 2, 2, -1}>() y = Gather<axis = 1>(x, k)",
			"n = Shape(x) dx = com.microsoft.GatherGrad<axis = 1>(n, k, g)", []string{"x"}},
		{"cross entropy", "float[2,3] x, float g", "k = Constant<value = int64[2] {0, 2}>() y = SoftmaxCrossEntropyLoss(x, k)",
			"v, l = SoftmaxCrossEntropyLoss(x, k) dx = com.microsoft.SoftmaxCrossEntropyLossGrad(g, l, k)", []string{"x"}},
	} {
		t.Run(gc.name, gc.check)
	}
}

func (gc gradCase) check(t *testing.T) {
	outs := ""
	for _, n := range gc.by {
		outs += ", float[] d" + n
	}
	in := map[string]*Value{}
	m := parse(t, gc.model("float[] y"+outs, gc.forward+" "+gc.grad))
	for k, v := range m.Graph.Inputs {
		dims := v.Type.Shape
		x := &Tensor{Elem: graph.Float, Dims: make([]int, len(dims))}
		for i, d := range dims {
			x.Dims[i] = int(d.N)
		}
		x.F = make([]float32, size(x.Dims))
		for i := range x.F {
			x.F[i] = float32(math.Sin(float64(3*i+7*k+1)))*0.9 + 0.05
		}
		in[v.Name] = TensorValue(x)
	}
	r, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range gc.by {
		gc.compare(t, r, in, name)
	}
}

func (gc gradCase) model(outs, body string) string {
	return fmt.Sprintf("<ir_version: 10, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\nm (%s) => (%s) { %s }", gc.inputs, outs, body)
}

// compare moves each element of an input a little to both sides.
func (gc gradCase) compare(t *testing.T, r *Runner, in map[string]*Value, name string) {
	run := func() map[string]*Value {
		out, err := r.Run(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	grad := run()["d"+name].Tensor
	x, g := in[name].Tensor, in["g"].Tensor
	const h = 1e-2
	loss := func() (sum float64) {
		y := run()["y"].Tensor
		for i := range y.F {
			sum += float64(y.F[i]) * float64(g.F[i])
		}
		return sum
	}
	for i := range x.F {
		old := x.F[i]
		x.F[i] = old + h
		up := loss()
		x.F[i] = old - h
		want := (up - loss()) / (2 * h)
		x.F[i] = old
		if d := math.Abs(float64(grad.F[i]) - want); d > 5e-3*(1+math.Abs(want)) {
			t.Errorf("d%s[%d] is %g, differences give %g", name, i, grad.F[i], want)
		}
	}
}

func TestTrainingOps(t *testing.T) {
	const p = `float r = {0.1}, int64 t = {1}, float[2] x = {1, 2}, float[2] g = {1, -1}, float[2] h = {0, 4}`
	checkOps(t, Options{}, []opCase{
		{"accumulate", 17, `(bool[1] f, float[N] y, float[N] z) <` + p + `, bool[1] o = {1}> { f, y = com.microsoft.InPlaceAccumulatorV2(x, g) e, z = com.microsoft.InPlaceAccumulatorV2(x, g, o) }`, "bool[1] 1; float[2] 2 1; float[2] 1 -1"},
		{"scale", 17, `(float[N] y, float[N] z) <` + p + `, int64 k = {4}> { y = com.microsoft.Scale(x, r) z = com.microsoft.Scale<scale_down = 1>(x, k) }`, "float[2] 0.1 0.2; float[2] 0.25 0.5"},
		{"adamw", 17, `(int64[1] f, float[N] y, float[N] m) <float[1] r = {0.1}, int64[1] t = {1}, float[2] x = {1, 2}, float[2] g = {1, -1}, float[2] h = {0, 0}, int64 k = {0}> { w = SequenceConstruct(x) d = SequenceConstruct(g) s = SequenceConstruct(h) f, a, b, c = com.microsoft.AdamWOptimizer<weight_decay = 0.0>(r, t, w, d, s, s) y = SequenceAt(a, k) m = SequenceAt(b, k) }`, "int64[1] 1; float[2] 0.9 2.1; float[2] 0.1 -0.1"},
	})
}
