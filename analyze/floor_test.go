package analyze

import (
	"strings"
	"testing"

	"github.com/amplint/amplint/rules"
)

// TestLostFloor runs a file of 16 bits for a divisor that a lost epsilon or floor leaves at 0: FP32 has lost it too, and
// what is not finite tells by itself. An overlap without an end at 0 that reasoning knows of is such a divisor.
func TestLostFloor(t *testing.T) {
	for body, want := range map[string]rules.Severity{
		"d = Add(u, zero) y = Div(x, d)": rules.Error,
		"d = Max(u, zero) y = Div(x, d)": rules.Error,
		"d = Add(u, one) y = Div(x, d)":  rules.Note,
	} {
		r := checked(t, `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[0,1]", "amplint.range.z": "[0,1]"]>
m (float16[4, 8] x, float16[4, 8] z) => (y) <float16 zero = {0}, float16 one = {15360}> { a = Min(x, z) s = Add(x, z) u = Sub(s, a) `+body+` }`)
		worst := rules.Note
		for _, f := range r.Findings {
			worst = max(worst, f.Severity)
		}
		if worst != want {
			t.Errorf("%s: %s, want %s", body, worst, want)
		}
	}
}

// TestFP32Sums: before opset 14 a running sum has no kernel below FP32, and is read in FP16 all the same.
func TestFP32Sums(t *testing.T) {
	for most, want := range map[string]bool{"4000": true, "100": false} {
		r := checked(t, `<ir_version: 7, opset_import: ["" : 13], metadata_props: ["amplint.range.x": "[0,`+most+`]"]>
m (float[4, 32] x) => (y) <int64 last = {1}, float k = {0.001}> { s = CumSum(x, last) y = Mul(s, k) }`)
		got := false
		for _, f := range r.Findings {
			got = got || f.Severity == rules.Error && f.Node != nil && strings.HasPrefix(f.Node.Op, "CumSum")
		}
		if got != want {
			t.Errorf("up to %s: an error %v, want %v", most, got, want)
		}
	}
}
