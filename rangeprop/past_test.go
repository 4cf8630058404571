package rangeprop_test

import (
	"strings"
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// TestPast holds which inputs take the bounds of the outputs that become them.
func TestPast(t *testing.T) {
	for _, c := range []struct {
		name, in, out, body string
		want                *rangeprop.Range
	}{
		{"keys are added", "past_key_values.0.key", "present.0.key", `k = Erf(x) OUT = Concat<axis = 0>(IN, k)`, &rangeprop.Range{Lo: -1, Hi: 1}},
		{"other names", "past_key_self_0", "present_key_self_0", `k = Sigmoid(x) OUT = Concat<axis = 0>(IN, k)`, &rangeprop.Range{Lo: 0, Hi: 1}},
		{"what is added depends on the past, within limits", "past_0", "present_0", `m = ReduceMean<keepdims = 1>(IN) s = Sigmoid(m) t = Tanh(x) k = Mul(s, t) OUT = Concat<axis = 0>(IN, k)`, &rangeprop.Range{Lo: -1, Hi: 1}},
		{"it grows", "past_0", "present_0", `t = Tanh(x) m = ReduceMax<keepdims = 1>(IN) k = Add(t, m) OUT = Concat<axis = 0>(IN, k)`, nil},
		{"nothing bounds what is added", "past_0", "present_0", `OUT = Concat<axis = 0>(IN, x)`, nil},
		{"handed on as it is", "past.0.encoder.key", "present.0.encoder.key", `OUT = Identity(IN)`, nil},
		{"names that do not match", "past_0", "present_1", `k = Tanh(x) OUT = Concat<axis = 0>(IN, k)`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := `<ir_version: 8, opset_import: ["" : 17]> g (float[1, 4] x, float[P, 4] "` + c.in + `") => (float[Q, 4] "` + c.out + `") { ` + c.body + ` }`
			_, r := analyze(t, strings.NewReplacer("IN", `"`+c.in+`"`, "OUT", `"`+c.out+`"`).Replace(src), rangeprop.Options{})
			for _, in := range r.Inputs() {
				if in.Value.Name == "x" {
					continue
				}
				if c.want == nil && in.Basis != rangeprop.Unknown || c.want != nil && (in.Range != *c.want || !in.Derived) {
					t.Errorf("%v (%v, derived %v), want %v", in.Range, in.Basis, in.Derived, c.want)
				}
			}
		})
	}
}

// TestPastGiven holds that what is declared stays.
func TestPastGiven(t *testing.T) {
	src := `<ir_version: 8, opset_import: ["" : 17]> g (float[1, 4] x, float[P, 4] past_0) => (float[Q, 4] present_0) { k = Tanh(x) present_0 = Concat<axis = 0>(past_0, k) }`
	_, r := analyze(t, src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"past_0": given(-3, 3)}})
	if in := r.Inputs()[1]; in.Range != (rangeprop.Range{Lo: -3, Hi: 3}) || in.Basis != rangeprop.Declared {
		t.Errorf("%v (%v)", in.Range, in.Basis)
	}
}
