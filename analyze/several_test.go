package analyze

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amplint/amplint/rules"
)

// TestBehindAnError finds an exponential that overflows behind a square that does: the one leaves nothing of the other in
// a run, unless it is held in FP32 as its fix would.
func TestBehindAnError(t *testing.T) {
	for _, f := range []struct{ elem, small, temp string }{{"float", "0.001", "8"}, {"float16", "5145", "18432"}} {
		r := checkedAsIs(t, fmt.Sprintf(`<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-300,300]"]>
m (%[1]s[2, 16] x) => (y) <%[1]s small = {%[2]s}, %[1]s temp = {%[3]s}>
{ q = Mul(x, x) v = ReduceMean<axes = [-1]>(q) e = Add(v, small) s = Sqrt(e) n = Div(x, s) a = Mul(n, temp) b = Exp(a) z = ReduceSum(b) y = Div(b, z) }`, f.elem, f.small, f.temp))
		got := map[string]rules.Severity{}
		for _, x := range r.Findings {
			got[x.Node.Op] = max(got[x.Node.Op], x.Severity)
		}
		if got["Mul"] != rules.Error || got["Exp"] != rules.Error {
			t.Errorf("%s: %v, want errors at Mul and Exp", f.elem, got)
		}
	}
}

// checkedAsIs checks a text as the command line does that is told no target.
func checkedAsIs(t *testing.T, text string) *Report {
	t.Helper()
	r, err := Check(context.Background(), written(t, text), Options{Target: Auto, Effort: "quick"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRestoredTwice fixes files that have lost a constant, and their results once more: with the constant back, what is
// rounded beside it shows, which is put right at once and not the second time.
func TestRestoredTwice(t *testing.T) {
	for _, body := range []string{
		"d = Sub(one, k) m = Mul(d, ninf) s = Add(x, m) y = Softmax(s)",
		"c = Clip(k, zero) l = Log(c) y = Mul(l, x)",
		"q = Mul(k, k) s = ReduceSum(q) a = Add(s, zero) y = Div(q, a)",
	} {
		path := written(t, `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-4,4]", "amplint.range.k": "[0,1]"]>
m (float16[2, 8] x, float16[2, 8] k) => (y) <float16 zero = {0}, float16 one = {15360}, float16 ninf = {64512}> { `+body+` }`)
		var texts []string
		for i := range 2 {
			out := filepath.Join(t.TempDir(), "o.onnxtxt")
			f, err := Fix(context.Background(), path, FixOptions{Options: Options{Target: AsIs, Effort: "quick"}, Out: out})
			if err != nil || f.Refused != "" {
				t.Fatalf("%s: %v %s", body, err, f.Refused)
			}
			if i == 0 && f.After.Failed(FailOnError) {
				t.Errorf("%s: errors remain", body)
			}
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			texts, path = append(texts, string(text)), out
		}
		if texts[0] != texts[1] {
			t.Errorf("%s: fixed\n%s\nand again\n%s", body, texts[0], texts[1])
		}
	}
}

// TestOwnRounding: an output that a file declares in 16 bits holds no more than they do.
func TestOwnRounding(t *testing.T) {
	r := checkedAsIs(t, `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[1,2]"]>
m (float16[2, 8] x) => (float16[2, 8] y) <float small = {1e-7}> { f = Cast<to = 1>(x) a = Mul(f, small) y = Cast<to = 10>(a) }`)
	if r.Failed(FailOnError) {
		t.Errorf("%+v", r.Findings)
	}
}

// TestNearALimit: inputs that come close to a threshold are no reason to hold a model in FP32.
func TestNearALimit(t *testing.T) {
	path := written(t, `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-4,4]"]>
m (float[64, 256] x) => (float[64, 256] y) <float half = {0.5}> { a = ThresholdedRelu<alpha = 1.0>(x) y = Mul(a, half) }`)
	f, err := Fix(context.Background(), path, FixOptions{Options: Options{Target: FP16, Effort: "quick"}, Out: filepath.Join(t.TempDir(), "o.onnxtxt")})
	if err != nil || f.Refused != "" {
		t.Fatal(err, f.Refused)
	}
	if f.Summary.Low != 2 || len(f.Edits) > 0 {
		t.Errorf("%d nodes are low, %d edits; want 2 and none", f.Summary.Low, len(f.Edits))
	}
}

// TestTiedElsewhere: where the numbers that are compared stay FP32, ties among them excuse nothing. The start of a row is
// no number of bfloat16, and the column is counted from it.
func TestTiedElsewhere(t *testing.T) {
	path := written(t, `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[0,1]"]>
m (float[2, 12288] x) => (float[2] row, float[2] col) <float width = {96}>
{ i = ArgMax<axis = 1, keepdims = 0>(x) f = Cast<to = 1>(i) q = Div(f, width) row = Floor(q) start = Mul(row, width) col = Sub(f, start) }`)
	out := filepath.Join(t.TempDir(), "o.onnxtxt")
	f, err := Fix(context.Background(), path, FixOptions{Options: Options{Target: BF16, Effort: "quick"}, Out: out})
	if err != nil || f.Refused != "" {
		t.Fatal(err, f.Refused)
	}
	r, err := Check(context.Background(), out, Options{Target: AsIs, Effort: "quick"})
	if err != nil || r.Failed(FailOnError) {
		t.Errorf("the result is not right: %v, %+v", err, r)
	}
}

// TestAnglesOfAFile: a search decides of what a bound alone speaks for in a file of 16 bits as it does in one that is to
// be narrowed.
func TestAnglesOfAFile(t *testing.T) {
	r := checkedAsIs(t, `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-1,1]"]>
m (float16[1, 2] x) => (y) <int64 from = {0}, int64 to = {4096}, int64 by = {1}, int64[1] second = {1}, float16[1, 2] turns = {15360, 14336}>
{ r = Range(from, to, by) f = Cast<to = 10>(r) p = Unsqueeze(f, second) a = Mul(p, turns) s = Sin(a) y = Mul(s, x) }`)
	if !r.Failed(FailOnError) {
		t.Errorf("%+v", r.Findings)
	}
}

// TestStashInFP32: a norm that is told to compute in float16 is named where all it reads and gives is FP32, and put right
// by every way of fixing.
func TestStashInFP32(t *testing.T) {
	path := written(t, `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-3000,3000]"]>
m (float[8, 64] x) => (float[8, 64] y) <float[64] g = {`+strings.Repeat("1, ", 63)+`1}> { y = LayerNormalization<axis = -1, stash_type = 10>(x, g) }`)
	r, err := Check(context.Background(), path, Options{Target: AsIs, Effort: "quick"})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Rule != "norm-variance" {
		t.Fatalf("%v %+v", err, r)
	}
	for _, o := range []FixOptions{{Options: Options{Target: FP32}}, {Options: Options{Target: FP16}, Strategy: "weights"}, {Options: Options{Target: FP16}}} {
		o.Effort, o.Out = "quick", filepath.Join(t.TempDir(), "o.onnxtxt")
		f, err := Fix(context.Background(), path, o)
		if err != nil || f.Refused != "" {
			t.Fatal(o.Target, err, f.Refused)
		}
		if r, err := Check(context.Background(), o.Out, Options{Target: AsIs, Effort: "quick"}); err != nil || len(r.Findings) > 0 {
			t.Errorf("%s: %v %+v", o.Target, err, r.Findings)
		}
	}
}
