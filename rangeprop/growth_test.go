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
		next         func(v float64) float64
	}{
		{"a sum", `v2 = Add(v, x)`, 8, 1.5, func(v float64) float64 { return v + 8 }},
		{"a product", `k = Constant<value_float = 3.0>() v2 = Mul(v, k)`, 48, 3, func(v float64) float64 { return 3 * v }},
		{"both", `k = Constant<value_float = 3.0>() p = Mul(v, k) v2 = Add(p, x)`, 72, 3.25, func(v float64) float64 { return 3*v + 8 }},
		{"steps that die out", `k = Constant<value_float = 0.5>() p = Mul(v, k) v2 = Add(p, x)`, 0, 0, nil},
		{"what is held", `v2 = Tanh(v)`, 0, 0, nil},
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
			continue
		}
		const limit = 65500 // that no iteration meets exactly: the bounds are rounded outwards
		n := 0.0
		for v := 8.0; v < limit; n++ {
			v = c.next(v)
		}
		if got := list[0].Iterations(limit); got != n {
			t.Errorf("%s: past %d after %v iterations, want %v", c.name, limit, got, n)
		}
	}
}

// TestCounted bounds what grows in a loop that ends after a known number of iterations: constant, or
// declared as at most that.
func TestCounted(t *testing.T) {
	const turns = 500
	held := float32(8) // as the model computes it
	for range turns {
		held *= 1.125
	}
	grown := float64(held)
	for _, trips := range []string{`n = Constant<value_int = 500>()`, `n = Identity(most)`} {
		src := header + `g (int64 most, float[4] x) => () { ` + trips + ` t = Constant<value = bool {1}>()
			y, s = Loop(n, t, x) <body = b (int64 i, bool c, float[4] v) => (c2, v2, v3) { c2 = Identity(c) k = Constant<value_float = 1.125>() v2 = Mul(v, k) v3 = Neg(v2) }> }`
		m, res := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-4, 8), "most": given(0, turns)}})
		for name, want := range map[string]rangeprop.Range{"y": {Lo: -grown / 2, Hi: grown}, "s": {Lo: -grown, Hi: grown / 2}} {
			got := res.Val(m.Graph.Lookup(name)).Hull()
			if !got.Contains(want) || got.MaxAbs() > want.MaxAbs()*1.001 {
				t.Errorf("%s: %s in %v, want %v", trips, name, got, want)
			}
		}
	}
}
