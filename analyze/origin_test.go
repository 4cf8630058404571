package analyze

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
)

// TestResultIsNotRunTwice has models with a product that stays below what its bound allows: it checks a result without edits by what runs of the original showed, and one with edits by
// runs of its own.
func TestResultIsNotRunTwice(t *testing.T) {
	for _, c := range []struct {
		name, text string
		carried    bool
	}{
		{"nothing to edit", `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-8600,8600]"]>
m (float[4, 4] x) => (float[4, 4] y)
<float small = {0.0001}, float[4, 4] a = {1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1, -1, -1, 1}>
{ b = MatMul(x, a) h = Relu(b) c = MatMul(h, a) k = Mul(c, small) y = Tanh(k) }`, true},
		{"an overflow", `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-8600,8600]"]>
m (float[4, 4] x) => (float[4, 4] y, float[4, 4] z)
<float small = {0.001}, float[4, 4] a = {1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1, -1, -1, 1}>
{ b = MatMul(x, a) h = Relu(b) c = MatMul(h, a) k = Mul(c, small) y = Tanh(k) s = Mul(k, x) z = Mul(s, small) }`, false},
		{"an edit where nothing overflows", `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-8600,8600]", "amplint.range.w": "[-0.0001,0.0001]"]>
m (float[4, 4] x, float[2, 64] w) => (float[4, 4] y, float[2, 1] z)
<float small = {0.0001}, float gain = {10000}, float[4, 4] a = {1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1, 1, -1, -1, 1}>
{ b = MatMul(x, a) h = Relu(b) c = MatMul(h, a) k = Mul(c, small) y = Tanh(k) q = Mul(w, w) e = ReduceMean<axes = [-1]>(q) r = Sqrt(e) z = Mul(r, gain) }`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := FixOptions{Options: Options{Target: FP16, Effort: "quick"}, Out: filepath.Join(t.TempDir(), "o.onnx")}
			f, err := Fix(context.Background(), written(t, c.text), opt)
			if err != nil || f.Refused != "" {
				t.Fatal(err, f.Refused)
			}
			if len(f.last.sought) == 0 {
				t.Fatal("nothing was left open")
			}
			own := f.last.seen != nil
			if own == c.carried {
				t.Errorf("the result had runs of its own: %t", own)
			}
			alone, err := Check(context.Background(), opt.Out, Options{Target: AsIs, Effort: "quick"})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := f.After.messages(), alone.messages(); !slices.Equal(got, want) {
				t.Errorf("the result is said to have %q, a check of its own gives %q", got, want)
			}
		})
	}
}

// messages lists what a report says.
func (r *Report) messages() (list []string) {
	for _, f := range r.Findings {
		list = append(list, f.Severity.String()+": "+f.Message)
	}
	return list
}
