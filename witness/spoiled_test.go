package witness

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
)

// TestSpoiled looks for what rounding to FP16 spoils on ordinary inputs.
func TestSpoiled(t *testing.T) {
	for _, c := range []struct {
		name, text string
		ends       float64
		want       string // names of the values that must not be low
		whole      bool
	}{
		{"a small difference", `m (float[2, 8] x) => (float[2, 8] y) <float k = {1000}> { a = Add(x, k) y = Sub(a, k) }`, 1, "a", false},
		{"a difference that stays", `m (float[2, 8] x) => (float[2, 8] y) <float k = {1}> { a = Add(x, k) y = Sub(a, k) }`, 1, "", false},
		{"an order behind an offset", `m (float[32, 8] x) => (int64[32, 1] y) <float k = {1000}> { a = Add(x, k) y = ArgMax<axis = 1>(a) }`, 1, "a", true},
		{"an order among near ties", `m (float[4, 4096] x) => (int64[4, 1] y) { a = Neg(x) y = ArgMax<axis = 1>(a) }`, 1, "", true},
		{"a place among near ties", `m (float[4, 4096] x) => (float[4, 1] y) { a = Neg(x) i = ArgMax<axis = 1>(a) y = Cast<to = 1>(i) }`, 1, "", false},
		{"an order", `m (float[32, 8] x) => (int64[32, 1] y) { a = Neg(x) y = ArgMax<axis = 1>(a) }`, 1, "", true},
		{"many small differences", `m (float[2, 64] x) => (float[2, 64] y) <float k = {26}, float q = {1.003}> { ` + differences + ` }`, 1, "", false},
		{"a mask that hides all", `m (float[2, 8] x, int64[2, 8] keep) => (float[2, 8] y) <float k = {-10000}, float one = {1}> { f = Cast<to = 1>(keep) d = Sub(one, f) n = Mul(d, k) s = Add(x, n) y = Softmax(s) }`, 4, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, info, inputs := bounded(t, head+c.text, map[string]rangeprop.Range{"x": {Lo: -c.ends, Hi: c.ends}, "keep": {Lo: 0, Hi: 1}})
			opt := Options{Target: numfmt.FP16, Hold: func(v *graph.Value) (numfmt.Format, bool) { return numfmt.FP16, v.Type.Float() }, Work: 1e8, Runs: 12}
			s := NewTrial(context.Background(), m, info, inputs, opt).Spoiled(context.Background(), m, opt, 0.05)
			var names []string
			if s != nil {
				for _, v := range s.Values {
					names = append(names, v.Name)
				}
				if s.Fault.Whole != c.whole || s.Fault.Error <= 0 {
					t.Errorf("fault %+v", s.Fault)
				}
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("%q must not be low, want %q", got, c.want)
			}
		})
	}
}

// differences takes a number off a sum twenty times, with the difference moved off its grid in between.
var differences = func() string {
	text := "b0 = Neg(x)"
	for i := range 20 {
		text += fmt.Sprintf(" a%d = Add(b%d, k) c%d = Sub(a%d, k) b%d = Mul(c%d, q)", i, i, i, i, i+1, i)
	}
	return text + " y = Neg(b20)"
}()

// TestLeast takes away what a list can do without.
func TestLeast(t *testing.T) {
	var list []*graph.Value
	for range 64 {
		list = append(list, &graph.Value{})
	}
	needs := func(need ...int) func([]*graph.Value) bool {
		return func(some []*graph.Value) bool {
			have := map[*graph.Value]bool{}
			for _, v := range some {
				have[v] = true
			}
			for _, i := range need {
				if !have[list[i]] {
					return false
				}
			}
			return true
		}
	}
	if got := Least(list, needs(3, 60)); len(got) != 2 || got[0] != list[3] || got[1] != list[60] {
		t.Errorf("%d values left of 64, want 2", len(got))
	}
	all := make([]int, 64)
	for i := range all {
		all[i] = i
	}
	if got := Least(list, needs(all...)); got != nil {
		t.Errorf("%d values are no small part of 64", len(got))
	}
}
