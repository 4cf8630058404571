package rangeprop_test

import (
	"math"
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// TestGrowth measures the growth of what loops carry.
func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		name, body   string
		step, factor float64
	}{
		{"a sum", `v2 = Add(v, x)`, 8, 1.5},
		{"a product", `k = Constant<value_float = 3.0>() v2 = Mul(v, k)`, 48, 3},
		{"what is held", `v2 = Tanh(v)`, 0, 0},
	} {
		src := header + `g (int64 n, float[4] x) => () { t = Constant<value = bool {1}>() y = Loop(n, t, x) <body = b (int64 i, bool c, float[4] v) => (c2, v2) { c2 = Identity(c) ` + c.body + ` }> }`
		m, res := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-8, 8), "n": given(0, 1e6)}})
		list := res.Growth()
		y := res.Val(m.Graph.Lookup("y")).Hull()
		if c.step == 0 {
			if len(list) != 0 || !y.Bounded() {
				t.Errorf("%s: %v, y in %v", c.name, list, y)
			}
			continue
		}
		if len(list) != 1 || math.Abs(list[0].Step-c.step) > 1e-4 || math.Abs(list[0].Factor-c.factor) > 1e-4 || list[0].Value.Name != "v" || y.Bounded() {
			t.Errorf("%s: %+v, y in %v; want a step of %v and a factor of %v", c.name, list, y, c.step, c.factor)
		}
	}
}
