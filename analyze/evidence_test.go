package analyze

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/rules"
)

// guardedNorm is a layer normalisation as torch's exporter spells it below opset 17, with the epsilon
// of BERT, over rows of a table or what is done to them.
const guardedNorm = `<ir_version: 8, opset_import: ["" : 14], metadata_props: ["amplint.range.ids": "[0,3]", "amplint.range.mask": "[0,1]", "amplint.range.x": "[-2,2]"]>
m (int64[2, 6] ids, int64[2, 6] mask, float[2, 6, 4] x) => (out)
<float[4, 4] table = {0.1, 0.3, -1, 0.4, 0.2, 1, -0.5, 0.3, 0.7, -0.2, 0.3, 0.1, 0.9, -0.4, 0.1, 0.2}, float two = {2}, float eps = {1e-12}, float floor = {1e-9}, int64[1] last = {2}, int64[1] one = {1}>
{
  h = Gather(table, ids)
  %s
  m = ReduceMean<axes = [-1]>(v)
  d = Sub(v, m)
  q = Pow(d, two)
  s = ReduceMean<axes = [-1]>(q)
  e = Add(s, eps)
  r = Sqrt(e)
  n = Div(d, r)
  w = Unsqueeze(mask, last)
  f = Cast<to = 1>(w)
  a = Mul(n, f)
  t = ReduceSum<keepdims = 0>(a, one)
  c = ReduceSum<keepdims = 0>(f, one)
  k = Clip(c, floor)
  out = Div(t, k)
}`

// checked checks the text of a model for FP16.
func checked(t *testing.T, text string) *Report {
	t.Helper()
	r, err := Check(context.Background(), written(t, text), Options{Target: FP16, Effort: "quick"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFarFromZero searches for rows that are constant: no row of the table is one, and each sequence has
// a token; where the input is free there are such.
func TestFarFromZero(t *testing.T) {
	for _, c := range []struct {
		body string
		want []string
	}{
		{"v = Identity(h)", []string{"note unproved tiny-epsilon e", "note unproved tiny-epsilon k", "note unproved reciprocal-overflow out"}},
		{"v = Mul(h, x)", []string{"error witness tiny-epsilon e", "note unproved tiny-epsilon k", "note unproved reciprocal-overflow out"}},
	} {
		r := checked(t, fmt.Sprintf(guardedNorm, c.body))
		var got []string
		for _, f := range r.Findings {
			got = append(got, fmt.Sprintf("%s %s %s %s", f.Severity, f.Evidence, f.Rule, f.Node.Out(0).Name))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.body, diff)
		}
	}
}

// TestFarEpsilon fixes such a model: the epsilon becomes the least number of the format, neither 0 nor
// one that counts beside a small variance.
func TestFarEpsilon(t *testing.T) {
	path, out := written(t, fmt.Sprintf(guardedNorm, "v = Identity(h)")), filepath.Join(t.TempDir(), "o.onnxtxt")
	f, err := Fix(context.Background(), path, FixOptions{Options: Options{Target: FP16, Effort: "quick"}, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range f.Edits {
		got = append(got, e.Describe())
	}
	want := []string{`change 1e-12 to 5.9605e-08 in constant "eps"`, `change 1e-09 to 5.9605e-08 in constant "floor"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edits (-want +got):\n%s", diff)
	}
}

// windowed is attention under a window of two places each way, or a causal one, and the padding of
// sequences, as torch's exporter spells it.
const windowed = `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.ids": "[0,3]", "amplint.range.mask": "[0,1]"]>
m (int64[2, 6] ids, int64[2, 6] mask) => (out)
<float[4, 4] table = {0.1, 0.3, -1, 0.4, 0.2, 1, -0.5, 0.3, 0.7, -0.2, 0.3, 0.1, 0.9, -0.4, 0.1, 0.2}, int64[6] place = {0, 1, 2, 3, 4, 5}, int64[6, 1] row = {0, 1, 2, 3, 4, 5}, int64 two = {2},
 float zero = {0}, float low = {-3.4028235e38}, int64[1] a1 = {1}>
{
  h = Gather(table, ids)
  t = Transpose<perm = [0, 2, 1]>(h)
  s = MatMul(h, t)
  bits = Cast<to = 9>(mask)
  key = Unsqueeze(bits, a1)
  d = Sub(row, place)
  %s
  k = And(key, band)
  w = Where(k, zero, low)
  c = Add(s, w)
  p = Softmax<axis = -1>(c)
  out = MatMul(p, h)
}`

// TestWindowedMask pads sequences as they mostly are, at their ends: that leaves a causal row its first
// place, and a window nothing.
func TestWindowedMask(t *testing.T) {
	for body, want := range map[string]rules.Severity{
		"far = Abs(d) band = LessOrEqual(far, two)":       rules.Error,
		"zi = Sub(two, two) band = GreaterOrEqual(d, zi)": rules.Warning,
	} {
		r := checked(t, fmt.Sprintf(windowed, body))
		if len(r.Findings) != 1 || r.Findings[0].Rule != "mask-constant" || r.Findings[0].Severity != want {
			t.Errorf("%s: want a mask-constant that is %s, got %+v", body, want, r.Findings)
		}
	}
}
