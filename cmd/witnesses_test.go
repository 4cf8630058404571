package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// breaking are models whose errors rest on different evidence: an overflow that is certain, a
// constant, one of FP32 itself where a weight has to move, a value inside a branch, an index.
var breaking = []struct{ name, text, flags string }{
	{"square", `<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 8] x) => (float[2, 1] y) <int64[1] last = {-1}> { ["a/square"] q = Mul(x, x) m = ReduceMean<axes = [-1]>(q) y = Sqrt(m) }`, "--range x=-600,600"},
	{"epsilon", `<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 8] x) => (float[2, 8] y) <float eps = {1e-12}> { a = Add(x, eps) y = Log(a) }`, "--range x=0,1"},
	{"weight", `<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 8] x) => (float[2, 1] y) <float[8, 1] w = {0, 0, 0, 0, 0, 0, 0, 0}> { l = MatMul(x, w) y = Exp(l) }`, "--target fp32 --range x=-1,1 --range w=-50,50"},
	{"branch", `<ir_version: 8, opset_import: ["" : 17]>
g (float[2, 8] x, bool c) => (float[2, 8] y) { s = If(c) <then_branch = t () => (float[2, 8] u) { u = Mul(x, x) }, else_branch = e () => (float[2, 8] w) { w = Abs(x) }> y = Sqrt(s) }`, "--range x=-600,600 --range c=0,1"},
	{"index", `<ir_version: 8, opset_import: ["" : 17]>
g (int64[4] i) => (int64[4] y) { f = Cast<to = 1>(i) y = Cast<to = 7>(f) }`, "--range i=0,5000"},
}

// tracedJSON is what the test reads of amplint.trace/1.
type tracedJSON struct{ Values []tracedValue }

type tracedValue struct {
	Name   string
	Path   []string
	Target struct{ Inf, NaN int64 }
	Error  struct {
		Overflowed, NaN, Flushed int64
		MaxAbs                   any `json:"max_abs"`
	}
}

// TestSaveWitness replays the input of every error by the command that was written beside it.
func TestSaveWitness(t *testing.T) {
	for _, c := range breaking {
		dir := t.TempDir()
		path := filepath.Join(dir, c.name+".onnxtxt")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		saved := filepath.Join(dir, "w")
		var out, notes strings.Builder
		args := append([]string{"check", path, "--save-witness", saved}, strings.Fields(c.flags)...)
		if code := Main(args, &out, &notes); code != exitFindings || notes.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s%s", c.name, code, out.String(), notes.String())
		}
		list := readWitnesses(t, saved)
		if len(list) != strings.Count(out.String(), "error: ") {
			t.Errorf("%s: %d witnesses\n%s", c.name, len(list), out.String())
		}
		for _, w := range list {
			replay(t, c.name, w)
		}
	}
}

func readWitnesses(t *testing.T, dir string) []witnessEntry {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, witnessesName))
	if err != nil {
		t.Fatal(err)
	}
	var f witnessFile
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	return f.Witnesses
}

// replay runs the command of a witness and looks at the value.
func replay(t *testing.T, name string, w witnessEntry) {
	t.Helper()
	var out, notes strings.Builder
	args := append(strings.Fields(strings.ReplaceAll(w.Replay, "'", ""))[1:], "--format", "json")
	if code := Main(args, &out, &notes); code != exitClean {
		t.Errorf("%s: %s: exit code %d: %s", name, w.Replay, code, notes.String())
	}
	var r tracedJSON
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Values, func(v tracedValue) bool { return strings.Join(append(v.Path, v.Name), "/") == w.Value })
	if at < 0 {
		t.Fatalf("%s: %s shows no value %s", name, w.Replay, w.Value)
	}
	v := r.Values[at]
	if v.Target.Inf+v.Target.NaN+v.Error.Overflowed+v.Error.Flushed == 0 && (v.Error.MaxAbs == 0.0 || w.Kind != "index-exactness") {
		t.Errorf("%s: %s shows nothing: %+v", name, w.Replay, v)
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"a/b.npz": "a/b.npz", "x y": "'x y'", "it's": `'it'\''s'`, "": "''", "$(rm)": "'$(rm)'"} {
		if got := quoted(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
