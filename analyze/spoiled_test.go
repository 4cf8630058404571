package analyze

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/amplint/amplint/rules"
)

// TestSpoiledSmall finds what small inputs show that random ones do not, in a model that is to be narrowed and in one
// that stores FP16.
func TestSpoiledSmall(t *testing.T) {
	for _, c := range []struct {
		body string
		lo   float64
		want bool
	}{
		{"e = Exp(x) d = Sub(e, one) y = Div(d, x)", 0.0001, true},
		{"e = Exp(x) d = Sub(e, one) y = Div(d, x)", 0.5, false},
		{"a = Add(x, one) l = Log(a) y = Div(l, x)", 0.0001, true},
		{"a = Add(x, one) l = Log(a) y = Div(l, x)", 0.5, false},
		{"a = Add(x, one) y = Log(a)", 0.0001, false},
		{"q = Mul(x, x) n = Neg(q) y = Exp(n)", -400, false}, // 0 nearly everywhere, and of its tail nobody misses the digits
	} {
		for _, f := range []struct{ elem, one string }{{"float", "1"}, {"float16", "15360"}} {
			r := checked(t, fmt.Sprintf(`<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[%g,1]"]>
m (%s[4, 16] x) => (y) <%s one = {%s}> { %s }`, c.lo, f.elem, f.elem, f.one, c.body))
			if got := r.Failed(FailOnError); got != c.want {
				t.Errorf("%s of %s from %g on: an error %v, want %v: %+v", c.body, f.elem, c.lo, got, c.want, r.Findings)
			}
		}
	}
}

// TestCutFactor knows what a factor of at most 1 over the length of what it scales does: a length that overflows makes
// it 0, and one of 0 makes no more than 1 of it, with an epsilon or without.
func TestCutFactor(t *testing.T) {
	for most, want := range map[float64]rules.Severity{8: rules.Note, 40: rules.Error} {
		r := checked(t, fmt.Sprintf(`<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-%g,%g]"]>
m (float[8, 64] x) => (y) <float one = {1}, float eps = {1e-6}, int64[2] all = {0, 1}>
{ q = Mul(x, x) s = ReduceSum(q, all) n = Sqrt(s) d = Add(n, eps) f = Div(one, d) c = Min(f, one) y = Mul(x, c) }`, most, most))
		worst := rules.Note
		for _, f := range r.Findings {
			if worst = max(worst, f.Severity); f.Severity > rules.Note && f.Rule != "sum-of-squares" {
				t.Errorf("up to %g: %s %s", most, f.Severity, f.Rule)
			}
		}
		if worst != want {
			t.Errorf("up to %g: %s, want %s", most, worst, want)
		}
	}
}

// TestSpoiledAlike says nothing of what only a constant signal brings about: the sum of a whole period is 0 for it, and
// as far off as rounded weights put it where its elements are off by as little.
func TestSpoiledAlike(t *testing.T) {
	var wave strings.Builder
	for i := range 63 {
		fmt.Fprintf(&wave, "%s%.9g", strings.Repeat(", ", min(i, 1)), math.Sin(2*math.Pi*2*(float64(i)+0.3)/63))
	}
	r := checked(t, fmt.Sprintf(`<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-1,1]"]>
m (float[2, 63] x) => (y) <float[63, 1] w = {%s}, float k = {1000}> { s = MatMul(x, w) a = Mul(s, k) y = Tanh(a) }`, &wave))
	if len(r.Findings) > 0 {
		t.Errorf("%+v", r.Findings)
	}
}
