package rangeprop_test

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// merged adds one element after another to a weighted mean, as recurrent attention does: the sum of the
// weights is kept below the maximum of all exponents so far.
const merged = `<ir_version: 8, opset_import: ["" : 17]>
m (float[4] k, float[4] l, float[4] n, float[4] decay) => (float[4] y)
<float start = {-1e30}, float zero = {0}>
{
  m0 = Max(start, k)
  s0 = Sub(start, m0) e0 = Exp(s0) t0 = Sub(k, m0) f0 = Exp(t0)
  p0 = Mul(e0, zero) d0 = Add(p0, f0)
  less = Sub(m0, decay)
  m1 = Max(less, l)
  s1 = Sub(less, m1) e1 = Exp(s1) t1 = Sub(l, m1) f1 = Exp(t1)
  p1 = Mul(e1, d0) d1 = Add(p1, f1)
  half = CASTS
  m2 = Max(m1, n)
  s2 = Sub(half, m2) e2 = Exp(s2) t2 = Sub(n, m2) f2 = Exp(t2)
  p2 = Mul(d1, e2) d2 = Add(f2, p2)
  y = Div(f2, d2)
}`

// TestMerge holds the sums of weights against runs: none is below 1 but for rounding, also where one copy of an exponent
// has lost digits on the way.
func TestMerge(t *testing.T) {
	for name, casts := range map[string]string{"one format": "Identity(m1)", "rounded": "Cast<to = 1>(low) low = Cast<to = 10>(m1)"} {
		t.Run(name, func(t *testing.T) {
			src := strings.Replace(merged, "CASTS", casts, 1)
			ranges := map[string]rangeprop.Given{"k": given(-60, 60), "l": given(-60, 60), "n": given(-60, 60), "decay": given(0, 3)}
			m, res := analyze(t, src, rangeprop.Options{Ranges: ranges})
			for _, v := range m.Graph.Values {
				if v.Name == "d0" && res.Val(v).Hull().Lo < 0.999 || v.Name == "d1" && res.Val(v).Hull().Lo < 0.999 || v.Name == "d2" && res.Val(v).Hull().Lo < 0.5 {
					t.Errorf("%s may come down to %v", v.Name, res.Val(v).Hull().Lo)
				}
			}
			runMerged(t, m, res)
		})
	}
}

func runMerged(t *testing.T, m *graph.Model, res *rangeprop.Result) {
	run := observed(t, m, res)
	rng := rand.New(rand.NewSource(3))
	for range 200 {
		in := map[string]*refeval.Value{}
		k := 60 * (2*rng.Float64() - 1)
		for _, name := range []string{"k", "l", "n", "decay"} {
			x := &refeval.Tensor{Elem: graph.Float, Dims: []int{4}}
			for i := range 4 {
				e := k
				if i > 1 {
					e = 60 * (2*rng.Float64() - 1)
				}
				if name == "decay" {
					e = 3 * rng.Float64()
				}
				x.F = append(x.F, float32(e))
			}
			in[name] = &refeval.Value{Tensor: x}
		}
		if _, err := run.Run(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
}
