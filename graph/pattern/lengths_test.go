package pattern_test

import (
	"fmt"
	"testing"

	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/graph/pattern"
)

// TestLengths reads means that are divided by a length instead of by the sum of the mask that it makes.
func TestLengths(t *testing.T) {
	const mean = ` c = Cast<to = 1>(k) w = Unsqueeze(c, a2) z = Mul(x, w) s = ReduceSum<keepdims = 0>(z, a1) f = Cast<to = 1>(l) y = Div(s, f)`
	const at = `r = Range(i0, n, i1) `
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"below", at + "k = Less(r, l)" + mean, true},
		{"the length first", at + "k = Greater(l, r)" + mean, true},
		{"not from there on", at + "g = GreaterOrEqual(r, l) k = Not(g)" + mean, true},
		{"both as floats", at + "rf = Cast<to = 1>(r) lf = Cast<to = 1>(l) k = Less(rf, lf)" + mean, true},
		{"a table of positions", "k = Less(table, l)" + mean, true},
		{"chosen", at + "g = GreaterOrEqual(r, l) w = Unsqueeze(g, a2) z = Where(w, zero, x) s = ReduceSum<keepdims = 0>(z, a1) f = Cast<to = 1>(l) c = Clip(f, one) y = Div(s, c)", true},
		{"one too many", at + "k = LessOrEqual(r, l)" + mean, false},
		{"the others", at + "k = GreaterOrEqual(r, l)" + mean, false},
		{"another length", at + "k = Less(r, j)" + mean, false},
		{"from below 0", "r = Range(im, i3, i1) k = Less(r, l)" + mean, false},
		{"in steps of 0", "k = Less(flat, l)" + mean, false},
		{"wrapped around", at + "r8 = Cast<to = 3>(r) l8 = Cast<to = 3>(l) k = Less(r8, l8)" + mean, false},
		{"along another axis", at + "k = Less(r, l) c = Cast<to = 1>(k) w = Unsqueeze(c, a2) z = Mul(x, w) s = ReduceSum<keepdims = 0>(z, a2) f = Cast<to = 1>(l) y = Div(s, f)", false},
		{"chosen the other way round", at + "g = GreaterOrEqual(r, l) w = Unsqueeze(g, a2) z = Where(w, x, zero) s = ReduceSum<keepdims = 0>(z, a1) f = Cast<to = 1>(l) y = Div(s, f)", false},
	} {
		if got := isMean(t, c.name, c.body, "int64[2, 1] l"); got != c.want {
			t.Errorf("%s: a mean %v, want %v", c.name, got, c.want)
		}
	}
}

// TestCounts reads means over masks that are counted in whole numbers, or by their contrary.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       bool
	}{
		{"whole numbers", "c = Cast<to = 1>(l) w = Unsqueeze(c, a2) z = Mul(x, w) s = ReduceSum<keepdims = 0>(z, a1) d = ReduceSum(l, a1) f = Cast<to = 1>(d) y = Div(s, f)", true},
		{"one at least", "c = Cast<to = 1>(l) w = Unsqueeze(c, a2) z = Mul(x, w) s = ReduceSum<keepdims = 0>(z, a1) d = ReduceSum(l, a1) k = Max(d, i1) f = Cast<to = 1>(k) y = Div(s, f)", true},
		{"what is not 1", "e = Equal(l, i1) w = Unsqueeze(e, a2) z = Where(w, zero, x) s = ReduceSum<keepdims = 0>(z, a1) no = Not(e) f = Cast<to = 1>(no) d = ReduceSum(f, a1) y = Div(s, d)", true},
		{"what is 1, counted by what is not", "e = Equal(l, i1) w = Unsqueeze(e, a2) z = Where(w, x, zero) s = ReduceSum<keepdims = 0>(z, a1) no = Not(e) f = Cast<to = 1>(no) d = ReduceSum(f, a1) y = Div(s, d)", false},
		{"whether whole numbers are 0, and they themselves", "b = Cast<to = 9>(l) c = Cast<to = 1>(b) w = Unsqueeze(c, a2) z = Mul(x, w) s = ReduceSum<keepdims = 0>(z, a1) d = ReduceSum(l, a1) f = Cast<to = 1>(d) y = Div(s, f)", false},
		{"wrapped around", "b = Cast<to = 3>(l) c = Cast<to = 1>(b) w = Unsqueeze(c, a2) z = Mul(x, w) s = ReduceSum<keepdims = 0>(z, a1) d = ReduceSum(l, a1) f = Cast<to = 1>(d) y = Div(s, f)", false},
	} {
		if got := isMean(t, c.name, c.body, "int64[2, 6] l"); got != c.want {
			t.Errorf("%s: a mean %v, want %v", c.name, got, c.want)
		}
	}
}

// isMean tells whether y of a body over x and whole numbers is read as a mean.
func isMean(t *testing.T, name, body, lengths string) bool {
	t.Helper()
	m, err := onnxtxt.Parse("test", []byte(fmt.Sprintf(`<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 6, 4] x, %s, int64[2, 1] j) => (y)
<int64[1] a1 = {1}, int64[1] a2 = {2}, int64 i0 = {0}, int64 i1 = {1}, int64 im = {-3}, int64 n = {6}, int64 i3 = {3}, int64[6] table = {0, 1, 2, 3, 4, 5}, int64[6] flat = {0, 1, 1, 2, 3, 4}, float zero = {0}, float one = {1}> { %s }`, lengths, body)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if _, err := infer.Run(m, infer.Options{}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	q := pattern.Find(m).Ratio(m.Graph.Lookup("y"))
	return q != nil && q.Kind == pattern.OfMean
}
