package rules

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/rewrite"
)

const runModel = `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-20,20]", "amplint.range.keep": "[0,1]", "amplint.range.big": "[-60000,60000]", "amplint.range.ids": "[0,99]"]>
m (int64[2, 4] ids, float[2, 4] x, bool[2, 4] keep, float[2, 4] unknown, float[2, 4] big, float[1, 2, 4, 4] img) => (y)
<float low = {-3.4028235e38}, float inf = {1e38}, float tiny = {1e-12}, float one = {1}, float small = {0.000001}, float k5 = {0.0001}, float two = {2}, int64[1] last = {-1},
 bool[2, 4] causal = {1, 0, 0, 0, 1, 1, 0, 0}, float[2] s = {1, 1}, float[2] var = {100000, 4}>
{ %s }`

// loop takes x times a factor in each of 100 turns.
const loop = `n = Constant<value_int = 100>() on = Constant<value = bool {1}>()
  y = Loop(n, on, x) <body = turn (int64 i, bool c, float[2, 4] last) => (c2, next) { c2 = Identity(c) f = Constant<value_float = %s>() next = Mul(last, f) }>`

// TestRun lists what is found in small models, one line a finding: severity, evidence, consequence,
// rule, and the value it is about.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"a mask under an input", "w = Where(keep, x, low) y = Softmax(w)", []string{"error constant visible mask-constant low"}},
		{"a causal mask", "w = Where(causal, x, low) y = Softmax(w)", []string{"note constant absorbed mask-constant low"}},
		{"a bound that binds nothing", "w = Min(x, inf) y = Max(w, low)", nil},
		{"a divisor", "y = Div(x, inf)", []string{"error constant silent constant-overflow inf"}},
		{"a running variance", "y = BatchNormalization(img, s, s, s, var)", []string{"note unproved  unknown-range img", "error constant silent constant-overflow var"}},
		{"an epsilon beside a root that is never small", "a = Abs(x) b = Add(a, one) c = Add(b, tiny) y = Div(x, c)", nil},
		{"an epsilon beside a norm", "q = Mul(x, x) a = ReduceSum(q, last) b = Add(a, tiny) c = Sqrt(b) y = Div(x, c)", []string{"error constant visible tiny-epsilon tiny"}},
		{"an exponential that saturates", "e = Exp(x) p = Add(e, one) l = Log(p) g = Tanh(l) y = Mul(x, g)", []string{"note witness absorbed exp-overflow e"}},
		{"an exponential that is not chosen", "c = Less(x, one) e = Exp(x) y = Where(c, e, x)", []string{"note witness absorbed exp-overflow e"}},
		{"what an overflow passes on", "q = Mul(big, big) a = Add(q, one) b = ReduceMean(a, last) y = Sqrt(b)", []string{"error witness visible sum-of-squares q"}},
		{"an input without a range", "q = Mul(unknown, unknown) y = ReduceSum(q, last)", []string{"note unproved  unknown-range unknown"}},
		{"a factor that vanishes with its product", "z = Mul(x, tiny) y = Add(z, x)", []string{"note constant absorbed constant-underflow tiny"}},
		{"a loop that grows past the limit", fmt.Sprintf(loop, "1.5"), []string{"note unproved  loop-growth next"}},
		{"a loop that ends before", fmt.Sprintf(loop, "1.01"), nil},
		{"rows of 64", "f = Cast<to = 1>(ids) w = Constant<value_float = 64.0>() m = Mul(f, w) y = Cast<to = 7>(m)", nil},
		{"rows of 64 and columns", "f = Cast<to = 1>(ids) w = Constant<value_float = 64.0>() m = Mul(f, w) n = Add(m, one) y = Cast<to = 7>(n)", []string{"error witness silent integer-in-half n"}},
		{"a sigmoid by the exponential", "n = Neg(x) e = Exp(n) p = Add(e, one) y = Reciprocal(p)", []string{"note witness absorbed exp-overflow e"}},
		{"its logarithm", "n = Neg(x) e = Exp(n) p = Add(e, one) r = Reciprocal(p) y = Log(r)", []string{"error witness visible exp-overflow e", "warning likely  log-of-zero y"}},
		{"a gate by the exponential", "n = Neg(x) e = Exp(n) p = Add(e, one) y = Div(x, p)", []string{"note witness absorbed exp-overflow e"}},
		{"a quotient that is always small", "a = Abs(x) b = Add(a, two) k = Mul(b, two) c = Mul(k, two) e = Exp(c) p = Add(e, one) y = Reciprocal(p)", []string{"error witness silent exp-overflow e"}},
		{"a harmonic mean", "a = Abs(x) b = Add(a, tiny) r = Reciprocal(b) m = ReduceMean(r, last) y = Reciprocal(m)", []string{"note constant absorbed tiny-epsilon tiny", "note witness absorbed reciprocal-overflow r"}},
		{"its logarithm", "a = Abs(x) b = Add(a, tiny) r = Reciprocal(b) m = ReduceMean(r, last) h = Reciprocal(m) y = Log(h)", []string{"error constant visible tiny-epsilon tiny", "error witness visible reciprocal-overflow r", "warning likely  log-of-zero y"}},
		{"shares of reciprocals", "a = Abs(x) b = Add(a, tiny) r = Reciprocal(b) m = ReduceSum(r, last) y = Div(r, m)", []string{"error constant visible tiny-epsilon tiny", "error witness visible reciprocal-overflow r"}},
		{"a root of an epsilon that saturates", "a = Abs(x) b = Add(a, tiny) u = Sqrt(b) r = Reciprocal(u) y = Tanh(r)", []string{"note constant absorbed tiny-epsilon tiny", "note witness absorbed reciprocal-overflow r"}},
		{"a lost epsilon in 16 bits", "gone = Constant<value = float16 {0}>() h = Cast<to = 10>(x) a = Abs(h) b = Add(a, gone) r = Reciprocal(b) m = ReduceMean(r, last) y = Reciprocal(m)", []string{"note constant absorbed constants-lost gone"}},
		{"an epsilon whose logarithm fades", "a = Abs(x) b = Add(a, tiny) l = Log(b) c = Exp(l) y = Mul(x, c)", []string{"note constant absorbed tiny-epsilon tiny"}},
		{"an epsilon under a floored logarithm", "a = Abs(x) b = Add(a, tiny) l = Log(b) c = Max(l, small) y = Mul(x, c)", []string{"note constant absorbed tiny-epsilon tiny"}},
		{"one beside what may be 0", "g = Sigmoid(x) t = Tanh(x) q = Mul(g, t) a = Abs(q) b = Add(a, tiny) l = Log(b) c = Max(l, small) y = Mul(x, c)", []string{"note likely absorbed tiny-epsilon tiny"}},
		{"a tanh of what passes the limit", "q = Mul(big, one) r = Mul(q, two) u = Mul(r, k5) y = Tanh(u)", []string{"note witness absorbed value-overflow r"}},
		{"a factor of 0 whose product a larger number swallows", "gone = Constant<value = float16 {0}>() h = Cast<to = 10>(x) z = Mul(h, gone) y = Add(z, h)", []string{"note constant absorbed constants-lost gone"}},
		{"a factor of 0 that a file in 16 bits holds", "gone = Constant<value = float16 {0}>() h = Cast<to = 10>(x) y = Mul(h, gone)", []string{"error constant silent constants-lost gone"}},
		{"a factor of 0 that bfloat16 would hold", "zero = Constant<value = bfloat16 {0}>() h = Cast<to = 16>(x) z = Mul(h, zero) y = Add(z, h)", nil},
		{"zeros beside what is multiplied", "pad = Constant<value = float16[2, 1] {0, 0}>() h = Cast<to = 10>(x) c = Concat<axis = 1>(h, pad) y = Mul(c, c)", nil},
		{"ids compared with one of them", "f = Cast<to = 1>(ids) k = Constant<value_float = 5000.0>() g = Add(f, k) c = Constant<value_float = 5050.0>() e = Equal(g, c) y = Cast<to = 1>(e)", []string{"error witness silent integer-in-half g"}},
		{"ids compared with the last, which no other is rounded to", "f = Cast<to = 1>(ids) k = Constant<value_float = 5000.0>() g = Add(f, k) c = Constant<value_float = 5099.0>() e = Equal(g, c) y = Cast<to = 1>(e)", nil},
		{"positions compared in a causal mask", "f = Cast<to = 1>(ids) k = Constant<value_float = 5000.0>() g = Add(f, k) t = Constant<value_ints = [4, 2]>() w = Reshape(g, t) u = Transpose(g) e = Less(w, u) y = Cast<to = 1>(e)", []string{"error witness silent integer-in-half g"}},
		{"ids compared with a number between two that are held", "f = Cast<to = 1>(ids) k = Constant<value_float = 5000.0>() g = Add(f, k) c = Constant<value_float = 5046.0>() e = Greater(g, c) y = Cast<to = 1>(e)", []string{"error witness silent integer-in-half g"}},
		{"ids that nothing bounds", "i = Cast<to = 7>(unknown) f = Cast<to = 1>(i) k = Constant<value_float = 7.0>() g = Mod<fmod = 1>(f, k) y = Identity(g)", []string{"note unproved  unknown-range unknown", "note unproved  integer-in-half f"}},
		{"a bounded number", "t = Tanh(x) q = Mul(t, t) y = ReduceSum(q, last)", nil},
	} {
		if diff := cmp.Diff(c.want, summary(Run(prepareText(t, fmt.Sprintf(runModel, c.body))))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// An exponential that overflows inside a kernel is a warning, unlike a sum that loses digits there.
func TestExponentialInside(t *testing.T) {
	for end, want := range map[string][]string{"40": {"warning kernel  fused-accumulation y"}, "6": nil} {
		found := Run(prepareText(t, `<ir_version: 9, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-`+end+`,`+end+`]"]>
m (float[4, 16] x) => (float[4, 1] y) { y = ReduceLogSumExp<axes = [-1]>(x) }`))
		if diff := cmp.Diff(want, summary(found)); diff != "" {
			t.Errorf("to %s (-want +got):\n%s", end, diff)
		}
	}
}

// TestSoftplusInside: a kernel of Softplus that computes the logarithm as written overflows as Exp does, in FP16.
func TestSoftplusInside(t *testing.T) {
	for end, want := range map[string][]string{"12": {"warning kernel  exp-overflow y"}, "11": nil} {
		found := Run(prepareText(t, `<ir_version: 9, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-`+end+`,`+end+`]"]>
m (float[4, 16] x) => (float[4, 16] y) { y = Softplus(x) }`))
		if diff := cmp.Diff(want, summary(found)); diff != "" {
			t.Errorf("to %s (-want +got):\n%s", end, diff)
		}
	}
}

// TestInsideKernels finds what one operator computes on the way to a result that fits, and scales that FP16 loses.
func TestInsideKernels(t *testing.T) {
	for _, c := range []struct {
		opset, r, body string
		want           []string
	}{
		{"17", "200", "y = ReduceL2(x)", []string{"warning kernel  sum-of-squares y"}},
		{"17", "30", "y = ReduceL2(x)", nil},
		{"17", "60000", "y = ReduceL2(x)", []string{"error witness visible value-overflow y"}},
		{"19", "10", "s = Constant<value_float = 1e-9>() q = Cast<to = 3>(x) y = DequantizeLinear(q, s)", []string{"error constant silent scale-underflow s"}},
		{"19", "10", "s = Constant<value_floats = [0.5, 1e-9, 0.25, 1.0]>() q = Cast<to = 3>(x) y = DequantizeLinear<axis = 1>(q, s)", []string{"error constant silent scale-underflow s"}},
		{"19", "10", "s = Constant<value_float = 0.1>() q = Cast<to = 3>(x) y = DequantizeLinear(q, s)", nil},
	} {
		found := Run(prepareText(t, `<ir_version: 9, opset_import: ["" : `+c.opset+`], metadata_props: ["amplint.range.x": "[-`+c.r+`,`+c.r+`]"]>
m (float[4, 4] x) => (y) { `+c.body+` }`))
		if diff := cmp.Diff(c.want, summary(found)); diff != "" {
			t.Errorf("%s to %s (-want +got):\n%s", c.body, c.r, diff)
		}
	}
}

// TestHabitOfExps: the logarithm of two exponentials is how exporters write logaddexp, that of one and a number is not.
func TestHabitOfExps(t *testing.T) {
	for body, want := range map[string]bool{"e = Exp(z) s = Add(a, e)": true, "s = Add(a, z)": false, "s = Mul(a, z)": false} {
		found := Run(prepareText(t, `<ir_version: 9, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-40,40]", "amplint.range.z": "[1,2]"]>
m (float[4] x, float[4] z) => (float[4] y) { a = Exp(x) `+body+` y = Log(s) }`))
		if len(found) == 0 || strings.Contains(found[0].Message, "logaddexp") != want {
			t.Errorf("%s: %+v", body, found)
		}
	}
}

// TestLongRows: the weights of a long row vanish, their logarithms do not.
func TestLongRows(t *testing.T) {
	for op, want := range map[string][]string{"Softmax": {"warning kernel  softmax-flush y"}, "LogSoftmax": nil} {
		found := Run(prepareText(t, `<ir_version: 9, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-1,1]"]>
m (float[2, 200000] x) => (float[2, 200000] y) { y = `+op+`(x) }`))
		if diff := cmp.Diff(want, summary(found)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", op, diff)
		}
	}
}

// TestDomains: what an input takes out of a domain is seen, what only a bound does is likely, and whole negative
// exponents are for other rules.
func TestDomains(t *testing.T) {
	for body, want := range map[string][]string{
		"y = Log(x)":               {"error witness visible domain-error y"},
		"s = Sin(x) y = Log(s)":    {"warning likely  domain-error y"},
		"s = Sin(x) y = Sqrt(s)":   {"warning likely  domain-error y"},
		"s = Sin(x) y = Acos(s)":   nil,
		"s = Sin(x) y = Pow(s, k)": nil,
		"s = Sin(x) y = Pow(s, h)": {"warning likely  domain-error y"},
		"e = Exp(x) y = Log(e)":    nil,
		"e = Exp(x) y = Acosh(e)":  {"error witness visible domain-error y"},
	} {
		found := Run(prepareText(t, `<ir_version: 9, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-2,2]", "amplint.target": "fp32"]>
m (float[4, 4] x) => (float[4, 4] y) <float h = {0.5}, float k = {3}> { `+body+` }`))
		if diff := cmp.Diff(want, summary(found)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
	}
}

// TestIntegerSum holds a sum of 8-bit products in FP32, and nothing behind its scale: what is scaled is as
// large as before the model was quantised, whatever its bound.
func TestIntegerSum(t *testing.T) {
	for _, sum := range []string{
		"i = MatMulInteger(q, w, z)",
		"r = MatMulInteger(q, w, z) k2 = Mul(s, ws) b = Div(x1, k2) b1 = Floor(b) b2 = Cast<to = 6>(b1) i = Add(r, b2)", // a bias of integers
	} {
		in := prepareText(t, `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-1000,1000]"]>
m (float[2, 8] x) => (float[2, 4] y)
<int8[8, 4] w = {90, -80, 70, 60, 127, -127, 3, 4, 9, 8, 7, 6, 5, 4, 3, 2, 90, -80, 70, 60, 127, -127, 3, 4, 9, 8, 7, 6, 5, 4, 3, 2}, float ws = {0.01}, float[4] x1 = {1, -2, 3, 4}>
{ q, s, z = DynamicQuantizeLinear(x) `+sum+` f = Cast<to = 1>(i) k = Mul(s, ws) h = Mul(f, k) y = Mul(h, h) }`)
		at := slices.IndexFunc(Run(in), func(f Finding) bool { return f.Rule == castOverflow.Name })
		if at < 0 {
			t.Errorf("%s: nothing is said of the sum", sum)
			continue
		}
		if f := Run(in)[at]; f.Evidence != Likely || len(f.Edits) != 1 || f.Edits[0] != rewrite.Edit(rewrite.Widen{Value: in.Model.Graph.Lookup("f")}) {
			t.Errorf("%s: want a likely overflow of f, and f alone held in FP32, got %+v", sum, f)
		}
	}
}

// TestEpsilonEdits holds what an epsilon is added to in FP32 where rounding leaves nothing of it.
func TestEpsilonEdits(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"a magnitude", "a = Abs(x) e = Add(a, tiny) y = Div(x, e)", "e"},
		{"a difference", "q = Mul(x, x) d = Sub(one, q) e = Add(d, tiny) u = Sqrt(e) y = Reciprocal(u)", "q d e u y"},
		{"a length, in a model with more to it", "a = Abs(x) m = ReduceMax(a, last) e = Max(m, tiny) n = Div(x, e) b = Tanh(n) c = Neg(b) d = Tanh(c) f = Neg(d) g = Tanh(f) h = Neg(g) y = Tanh(h)", "m a e"},
		{"a length that a reciprocal divides by", "q = Mul(x, x) m = ReduceMean(q, last) e = Add(m, tiny) r = Reciprocal(e) n = Mul(x, r) b = Tanh(n) c = Neg(b) d = Tanh(c) f = Neg(d) g = Tanh(f) y = Neg(g)", "m q e r"},
		{"a logarithm", "a = Abs(x) e = Add(a, tiny) y = Log(e)", "a e"},
	} {
		var names []string
		for _, f := range Run(prepareText(t, fmt.Sprintf(runModel, c.body))) {
			if f.Rule != tinyEpsilon.Name {
				continue
			}
			for _, e := range f.Edits {
				names = append(names, e.(rewrite.Widen).Value.Name)
			}
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %q is held in FP32, want %q", c.name, got, c.want)
		}
	}
}

func prepareText(t *testing.T, text string) *Input {
	t.Helper()
	m, err := onnxtxt.Parse("case", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return prepare(t, m, false)
}

// summary writes findings as the cases do.
func summary(found []Finding) []string {
	var list []string
	for _, f := range found {
		list = append(list, fmt.Sprintf("%s %s %s %s %s", f.Severity, f.Evidence, f.Consequence, f.Rule, f.Value.Name))
	}
	return list
}

// layersModel holds one hazard three times and another one once.
const layersModel = `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-600,600]", "amplint.range.z": "[-600,600]"]>
m (float[2, 4] x, float[2, 4] z) => (%[1]sa, %[1]sb, %[1]sc, %[1]sd)
{ ["layer.0/mul"] %[1]sa = Mul(x, z) ["layer.1/mul"] %[1]sb = Mul(x, z) ["layer.12/mul"] %[1]sc = Mul(x, z) [head] %[1]sd = MatMul(x, %[1]st) %[1]st = Transpose(z) }`

func TestLayersAreOneFinding(t *testing.T) {
	found := Run(prepareText(t, fmt.Sprintf(layersModel, "")))
	if len(found) != 2 {
		t.Fatalf("%d findings: %v", len(found), summary(found))
	}
	var keys []string
	for _, at := range found[0].Occurrences {
		keys = append(keys, at.Node.Key())
	}
	if diff := cmp.Diff([]string{"layer.0/mul", "layer.1/mul", "layer.12/mul"}, keys); diff != "" {
		t.Error(diff)
	}
	if len(found[0].Edits) != 3 {
		t.Errorf("%d edits", len(found[0].Edits))
	}
}

func TestFingerprints(t *testing.T) {
	seen := map[string]bool{}
	a, b := Run(prepareText(t, fmt.Sprintf(layersModel, ""))), Run(prepareText(t, fmt.Sprintf(layersModel, "other_")))
	for i := range a {
		if a[i].Fingerprint != b[i].Fingerprint {
			t.Errorf("%s: the fingerprint depends on names", a[i].Rule)
		}
		if seen[a[i].Fingerprint] {
			t.Errorf("%s: two findings have one fingerprint", a[i].Rule)
		}
		seen[a[i].Fingerprint] = true
	}
}

func TestDisabled(t *testing.T) {
	in := prepareText(t, fmt.Sprintf(runModel, "y = Div(x, inf)"))
	in.Disabled = map[string]bool{"constant-overflow": true, "scale-underflow": true}
	if found := Run(in); len(found) > 0 {
		t.Errorf("found %v", summary(found))
	}
}

func TestStrict(t *testing.T) {
	in := prepareText(t, fmt.Sprintf(runModel, "y = Neg(unknown)"))
	in.Strict = true
	if diff := cmp.Diff([]string{"warning unproved  unknown-range unknown"}, summary(Run(in))); diff != "" {
		t.Error(diff)
	}
}

// TestPagesAndRules holds the list of rules and the folder of pages equal.
func TestPagesAndRules(t *testing.T) {
	names := map[string]bool{}
	for _, r := range All() {
		if names[r.Name] || r.Title == "" || strings.HasSuffix(r.Title, ".") || r.Model == nil {
			t.Errorf("rule %q: name twice, or no proper title or check", r.Name)
		}
		names[r.Name] = true
	}
	files, err := fs.Glob(pages, "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(strings.TrimPrefix(f, "docs/"), ".md"); !names[name] {
			t.Errorf("page %s has no rule", f)
		}
	}
	if len(files) != len(names) {
		t.Errorf("%d pages for %d rules", len(files), len(names))
	}
}
