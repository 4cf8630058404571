package rangeprop_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// readTwice are patterns that read a number as it is in one place and rounded in another.
var readTwice = map[string]string{
	"shift":      `m = ReduceMax<axes = [1]>(k) y = Sub(r, m)`,
	"rise":       `m = ReduceMin<axes = [1]>(k) y = Sub(r, m)`,
	"exp sum":    `m = ReduceMax<axes = [1]>(k) d = Sub(r, m) e = Exp(d) s = ReduceSum(e, ax) y = Log(s)`,
	"gap":        `z = ReduceLogSumExp<axes = [1]>(k) y = Sub(r, z)`,
	"shares":     `m = ReduceMax<axes = [1]>(k) d = Sub(r, m) e = Exp(d) g = Sub(k, m) f = Exp(g) s = ReduceSum(f, ax) y = Div(e, s)`,
	"largest":    `a = Abs(k) m = ReduceMax<axes = [1]>(a) y = Div(r, m)`,
	"sum":        `a = Abs(r) m = ReduceSum(a, ax) y = Div(k, m)`,
	"length":     `m = ReduceL2<axes = [1]>(k) y = Div(r, m)`,
	"rms":        `s = Mul(k, k) q = ReduceMean<axes = [1]>(s) e = Add(q, one) m = Sqrt(e) y = Div(r, m)`,
	"span":       `a = ReduceMin<axes = [1]>(k) b = ReduceMax<axes = [1]>(k) c = Sub(r, a) d = Sub(b, a) y = Div(c, d)`,
	"layer norm": `u = ReduceMean<axes = [1]>(k) c = Sub(r, u) d = Sub(k, u) s = Mul(d, d) q = ReduceMean<axes = [1]>(s) m = Sqrt(q) y = Div(c, m)`,
	"epsilon":    `u = ReduceMean<axes = [1]>(k) c = Sub(r, u) d = Sub(k, u) s = Mul(d, d) q = ReduceMean<axes = [1]>(s) e = Add(q, one) m = Sqrt(e) y = Div(c, m)`,
	"blend":      `z = Sigmoid(r) p = Sub(one, z) w = Sigmoid(k) a = Mul(w, k) b = Mul(p, k) y = Add(a, b)`,
	"mean":       `w = Softmax<axis = 1>(k) a = Mul(w, r) n = ReduceSum(a, ax) d = ReduceSum(w, ax) y = Div(n, d)`,
	"crest":      `g = Neg(k) m = Max(k, g) y = Sub(r, m)`,
}

// TestReadTwice holds what patterns say of one number where it is two: a copy in fewer bits lies beside it.
func TestReadTwice(t *testing.T) {
	for name, body := range readTwice {
		for _, low := range []int{10, 16} {
			for _, h := range []rangeprop.Range{{Lo: -1000, Hi: 1000}, {Lo: -8, Hi: 8}, {Lo: 1, Hi: 1.2}, {Lo: 200, Hi: 204}} {
				t.Run(fmt.Sprint(name, low, h), func(t *testing.T) {
					src := fmt.Sprintf(`<ir_version: 8, opset_import: ["" : 17]>
m (float[16, 8] k) => (float y) <float one = {1}, int64[1] ax = {1}> { l = Cast<to = %d>(k) r = Cast<to = 1>(l) %s }`, low, body)
					m, res := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"k": given(h.Lo, h.Hi)}})
					runTwice(t, m, res, h)
				})
			}
		}
	}
}

// runTwice runs a model on rows far apart and close together.
func runTwice(t *testing.T, m *graph.Model, res *rangeprop.Result, h rangeprop.Range) {
	run := observed(t, m, res)
	rng := rand.New(rand.NewSource(9))
	for i := range 12 {
		x := &refeval.Tensor{Elem: graph.Float, Dims: []int{16, 8}}
		for range 16 {
			c := h.Lo + (h.Hi-h.Lo)*rng.Float64()
			for range 8 {
				e := c + 1e-3*float64(i%4)*rng.NormFloat64()
				if i%2 == 1 {
					e = h.Lo + (h.Hi-h.Lo)*rng.Float64()
				}
				x.F = append(x.F, float32(max(h.Lo, min(e, h.Hi))))
			}
		}
		if _, err := run.Run(t.Context(), map[string]*refeval.Value{"k": refeval.TensorValue(x)}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOneCopy keeps what patterns say where all of one reads the same copy.
func TestOneCopy(t *testing.T) {
	m, res := analyze(t, `<ir_version: 8, opset_import: ["" : 17]>
m (float[16, 8] k) => (float[16, 8] y) {
  l = Cast<to = 10>(k) r = Cast<to = 1>(l) m = ReduceMax<axes = [1]>(r) y = Sub(r, m)
}`, rangeprop.Options{Ranges: map[string]rangeprop.Given{"k": given(-1000, 1000)}})
	if h := res.Val(m.Graph.Outputs[0]).Hull(); h.Hi > 0 {
		t.Errorf("%v, want none above 0", h)
	}
}
