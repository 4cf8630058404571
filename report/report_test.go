package report

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
)

var update = flag.Bool("update", false, "rewrite the wanted reports")

const text = `<ir_version: 8, opset_import: ["" : 17]>
g (bool c, float[N, 3, ?] x) => (float y)
<float[1] neg = {-1e9}>
{
  [pick] y = If(c) <
    then_branch = t () => (float a) { a = Add(x, neg) },
    else_branch = e () => (float b) { [other] b = Add(x, neg) }>
}`

// example is a report with everything in it.
func example(t *testing.T) (*analyze.Report, *graph.Model) {
	t.Helper()
	m, err := onnxtxt.Parse("m", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	x, neg := m.Graph.Lookup("x"), m.Graph.Lookup("neg")
	add, other := neg.Uses[0].Node, neg.Uses[1].Node
	inf := math.Inf(1)
	found := []rules.Finding{
		{Rule: "mask-constant", Kind: rules.Overflow, Severity: rules.Error, Evidence: rules.Constant, Consequence: rules.Visible,
			Node: add, Value: neg, Range: rangeprop.Range{Lo: -1e9, Hi: -1e9}, Basis: rangeprop.Constant, Limit: 65504, Message: "neg is -1e+09, which is -Inf in fp16",
			Reason: "0 times -Inf is NaN", Occurrences: []rules.Place{{Node: add, Value: neg}, {Node: other, Value: neg}},
			Consequences: []string{"pick/then_branch/a"}, Edits: []rewrite.Edit{rewrite.Clamp{Const: neg, Lo: -16384, Hi: 16384},
				rewrite.KeepFP32{Node: add}}, Fingerprint: "f1"},
		{Rule: "unknown-range", Severity: rules.Note, Value: x, Range: rangeprop.Range{Lo: -inf, Hi: inf}, Limit: inf,
			Message: "no range for x: 2 values depend on it", Fingerprint: "f2"},
		{Rule: "long-sum", Kind: rules.Swamping, Severity: rules.Warning, Evidence: rules.Kernel, Limit: math.NaN(), Message: "<sum>"},
	}
	known := rules.Finding{Rule: "mask-constant", Node: other, Value: neg, Message: "neg is -Inf"}
	return &analyze.Report{Path: "dir/m.onnx", Target: analyze.FP16, Findings: found,
		Suppressed: []analyze.Suppressed{{Finding: known, By: "config", Reason: "not read", Until: "2099-01-01"}},
		Inputs:     []rangeprop.InputRange{{Value: x, Range: rangeprop.Range{Lo: -inf, Hi: inf}}},
		Summary: analyze.Summary{Nodes: 3, Values: 4, Unbounded: 1, Unknown: []rangeprop.OpCount{{Op: "my.Op", Count: 2}},
			Errors: 1, Warnings: 1, Notes: 1, Ignored: 2}}, m
}

// one is a file of one report.
func one(r *analyze.Report) *File { return &File{Models: []*Model{Of(r)}} }

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}

func TestCheckFormats(t *testing.T) {
	r, _ := example(t)
	for format, file := range map[string]string{"text": "check.txt", "json": "check.json"} {
		var b strings.Builder
		if err := Check(&b, format, one(r), Options{Version: "1.2.3"}); err != nil {
			t.Fatal(err)
		}
		golden(t, file, b.String())
	}
}

// TestRead shows that a report read back is written as it was, in every format.
func TestRead(t *testing.T) {
	r, _ := example(t)
	want := one(r)
	var b strings.Builder
	if err := Check(&b, "json", want, Options{Version: "1.2.3"}); err != nil {
		t.Fatal(err)
	}
	f, err := Read(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.Models, f.Models, cmp.Comparer(func(a, b Number) bool { return a == b || a != a && b != b })); d != "" {
		t.Error(d)
	}
	if !f.Models[0].Failed(analyze.FailOnError) || f.Models[0].Failed(analyze.FailNever) {
		t.Error("the error is not failed for, or what nothing fails for is")
	}
	if _, err := Read(strings.NewReader(`{"schema":"amplint.ranges/1"}`)); err == nil || !strings.Contains(err.Error(), "amplint.ranges/1") {
		t.Errorf("error %v", err)
	}
}

func TestColor(t *testing.T) {
	r, _ := example(t)
	var b strings.Builder
	if err := Check(&b, "text", one(r), Options{Color: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\x1b[31;1merror\x1b[") {
		t.Errorf("no red error in %q", b.String())
	}
}

func TestRanges(t *testing.T) {
	_, m := example(t)
	inf := math.Inf(1)
	a := m.Graph.Lookup("neg").Uses[0].Node.Outputs[0]
	r := &analyze.Ranges{Path: "m.onnx", Bounds: []analyze.Bound{
		{Value: m.Graph.Lookup("x"), Range: rangeprop.Range{Lo: -inf, Hi: 1e-45}, NaN: true},
		{Value: a, Range: rangeprop.Range{Lo: -1, Hi: 1e300}, Basis: rangeprop.Declared},
		{Value: m.Graph.Lookup("neg"), Range: rangeprop.Range{Lo: -1e9, Hi: -1e9}, Basis: rangeprop.Constant},
	}}
	for format, file := range map[string]string{"text": "ranges.txt", "json": "ranges.json"} {
		var b strings.Builder
		if err := Ranges(&b, format, r); err != nil {
			t.Fatal(err)
		}
		golden(t, file, b.String())
	}
}

func TestFixed(t *testing.T) {
	r, _ := example(t)
	f := &analyze.Fixed{Path: "m.onnx", Out: "o.onnx", Strategy: "mixed", Before: r, After: r, Applied: r.Findings[:1],
		Edits: r.Findings[0].Edits, Summary: rewrite.Summary{Changed: true, Casts: 3, Removed: 1, Low: 5, FP32: 2}, Refused: "1 finding would remain"}
	for format, file := range map[string]string{"text": "fix.txt", "json": "fix.json"} {
		var b strings.Builder
		if err := Fixed(&b, format, f, Options{Version: "1.2.3"}); err != nil {
			t.Fatal(err)
		}
		golden(t, file, b.String())
	}
}

func TestUnknownFormat(t *testing.T) {
	for _, err := range []error{Known("pdf"), Check(nil, "pdf", &File{}, Options{}), Ranges(nil, "pdf", nil), Fixed(nil, "pdf", nil, Options{})} {
		if err == nil || !strings.Contains(err.Error(), `unknown format "pdf"`) {
			t.Errorf("error %v", err)
		}
	}
}
