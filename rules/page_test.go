package rules

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/graph/pattern"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/witness"
)

var update = flag.Bool("update", false, "rewrite the printed output in the pages")

// TestPages runs every rule's page: the models under Bad give the findings marked in them and the
// output printed below them, and are silent once their fixes are applied; those under Good are
// silent under all rules.
func TestPages(t *testing.T) {
	for _, r := range All() {
		t.Run(r.Name, func(t *testing.T) {
			text, ok := Page(r.Name)
			if !ok {
				t.Fatalf("rule %s has no page", r.Name)
			}
			checkPage(t, r, text)
		})
	}
}

// fence finds a heading of an example, its model and, for bad ones, the output below.
var fence = regexp.MustCompile("(?s)## (Bad|Good)([^\n]*)\n(.*?)```onnx\n(.*?)```\n(?:\n```\n(.*?)```\n)?")

func checkPage(t *testing.T, r Rule, text string) {
	if !strings.HasPrefix(text, "# "+r.Name+"\n") {
		t.Errorf("the page does not begin with the rule's name")
	}
	for _, part := range []string{"\n## Spellings\n", "\n## Fix in the source\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q", strings.TrimSpace(part))
		}
	}
	seen := map[string]bool{}
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		kind, model, want := m[1], m[4], m[5]
		seen[kind] = true
		got := checkExample(t, kind, model)
		if kind == "Good" || got == want {
			continue
		}
		if !*update {
			t.Errorf("output differs (-want +got):\n%s", cmp.Diff(want, got))
			continue
		}
		text = strings.Replace(text, "```onnx\n"+model+"```\n\n```\n"+want+"```\n", "```onnx\n"+model+"```\n\n```\n"+got+"```\n", 1)
		if err := os.WriteFile("docs/"+r.Name+".md", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if !seen["Bad"] || !seen["Good"] {
		t.Errorf("the page needs an example under Bad and one under Good")
	}
}

// checkExample checks one model and returns what is printed for it.
func checkExample(t *testing.T, kind, text string) string {
	t.Helper()
	m, src, err := onnxtxt.ParseSource(strings.ToLower(kind), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	in := prepare(t, m, false)
	found := judged(in)
	if kind == "Good" {
		for _, f := range found {
			t.Errorf("good example: %s [%s]", f.Message, f.Rule)
		}
		return ""
	}
	if diff := cmp.Diff(wanted(text), marked(src, text, found)); diff != "" {
		t.Errorf("findings differ (-want +got):\n%s", diff)
	}
	checkFixed(t, in, found)
	return printed(src, found)
}

// prepare analyses a model for the target its metadata name, FP16 by default. A model that holds
// low values, or has been fixed, is taken as it is.
func prepare(t testing.TB, m *graph.Model, fixed bool) *Input {
	t.Helper()
	info, err := infer.Run(m, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ranges, err := rangeprop.Analyze(m, info, rangeprop.Options{Ranges: metaRanges(t, m)})
	if err != nil {
		t.Fatal(err)
	}
	in := &Input{Model: m, Info: info, Ranges: ranges, Patterns: pattern.Find(m), Target: numfmt.FP16, Hold: narrowed}
	for _, e := range m.Meta {
		if e.Key == "amplint.target" {
			if in.Target, err = numfmt.Parse(e.Value); err != nil {
				t.Fatal(err)
			}
			target := in.Target
			in.Hold = func(v *graph.Value) (numfmt.Format, bool) { return target, v.Type.Float() }
		}
	}
	if fixed || holdsLow(m) {
		in.Hold = held
	}
	in.Tolls = tolls(in)
	return in
}

// judged runs the rules, and the model where they find nothing.
func judged(in *Input) []Finding {
	found := Run(in)
	if in.Spoiled = spoiled(in, found); in.Spoiled == nil {
		return found
	}
	return Run(in)
}

// spoiled runs a model of which nothing is known on a few inputs.
func spoiled(in *Input, found []Finding) *Spoiled {
	if len(found) > 0 || in.Target.Bits() != 16 || holdsLow(in.Model) {
		return nil
	}
	opt := witness.Options{Target: in.Target, Hold: in.Hold, Work: 1e8, Runs: 12}
	trial := witness.NewTrial(context.Background(), in.Model, in.Info, in.Ranges.Inputs(), opt)
	s := trial.Spoiled(context.Background(), in.Model, opt, max(0.05, 32*in.Target.Unit()))
	if s == nil {
		return nil
	}
	return &Spoiled{Values: s.Values, Most: s.Most, Output: s.Fault.Output, Error: s.Fault.Error, Whole: s.Fault.Whole, Input: s.Fault.Input}
}

// tolls runs the model with kernels that add in the operands' type.
func tolls(in *Input) func(*graph.Value, Depends) (Toll, bool) {
	opt := witness.Options{Target: in.Target, Hold: in.Hold, Work: 2e6, Runs: 4, Accumulate: refeval.Target}
	if in.Target == numfmt.FP32 {
		return nil
	}
	if holdsLow(in.Model) {
		opt.Target = numfmt.Invalid
	}
	added := sync.OnceValue(func() map[*graph.Value]witness.Toll {
		return witness.Tolls(context.Background(), in.Model, in.Info, in.Ranges.Inputs(), opt, true)
	})
	return func(v *graph.Value, d Depends) (Toll, bool) {
		if d != OnAccumulation {
			return Toll{}, false
		}
		x, ok := added()[v]
		return Toll{Want: x.Want, Got: x.Got, Right: x.Right}, ok
	}
}

func narrowed(v *graph.Value) (numfmt.Format, bool) { return numfmt.FP16, v.Type.Float() }

func held(v *graph.Value) (numfmt.Format, bool) {
	f, ok := v.Type.Elem.Format()
	return f, ok && f != numfmt.FP32 && f != numfmt.FP64
}

func holdsLow(m *graph.Model) bool {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if _, ok := held(v); ok {
				return true
			}
		}
	}
	return false
}

func metaRanges(t testing.TB, m *graph.Model) map[string]rangeprop.Given {
	t.Helper()
	ranges := map[string]rangeprop.Given{}
	for _, e := range m.Meta {
		name, ok := strings.CutPrefix(e.Key, "amplint.range.")
		if !ok {
			continue
		}
		d := rangeprop.Given{Basis: rangeprop.Declared}
		if _, err := fmt.Sscanf(e.Value, "[%g,%g]", &d.Range.Lo, &d.Range.Hi); err != nil {
			t.Fatalf("range of %s: %v", name, err)
		}
		ranges[name] = d
	}
	return ranges
}

// wanted lists the marked lines of a model, each with its rules.
func wanted(text string) []string {
	var list []string
	for i, line := range strings.Split(text, "\n") {
		if _, names, ok := strings.Cut(line, "# want "); ok {
			for _, name := range strings.Fields(names) {
				list = append(list, fmt.Sprintf("%d: %s", i+1, name))
			}
		}
	}
	slices.Sort(list)
	return list
}

// marked lists the places of findings as wanted does. A finding on an input stands on the line of
// the graph's header.
func marked(src *onnxtxt.Source, text string, found []Finding) []string {
	var list []string
	for _, f := range found {
		places := f.Occurrences
		if len(places) == 0 {
			places = []Place{{f.Node, f.Value}}
		}
		for _, at := range places {
			list = append(list, fmt.Sprintf("%d: %s", lineOf(src, text, at.Node), f.Rule))
		}
	}
	slices.Sort(list)
	return list
}

func lineOf(src *onnxtxt.Source, text string, n *graph.Node) int {
	if n != nil {
		line, _, _ := src.Position(n)
		return line
	}
	for i, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "=>") {
			return i + 1
		}
	}
	return 0
}

// printed writes findings as the page shows them.
func printed(src *onnxtxt.Source, found []Finding) string {
	var b strings.Builder
	for _, f := range found {
		at := "bad"
		line := ""
		if f.Node != nil {
			row, col, _ := src.Position(f.Node)
			at = fmt.Sprintf("bad:%d:%d", row, col)
			line, _, _ = strings.Cut(src.Line(row), "#")
		}
		fmt.Fprintf(&b, "%s: %s: %s [%s]\n", at, f.Severity, f.Message, f.Rule)
		if line != "" {
			fmt.Fprintf(&b, "    %s\n", strings.TrimSpace(line))
		}
		for _, e := range f.Edits {
			fmt.Fprintf(&b, "    fix: %s\n", e.Describe())
		}
	}
	return b.String()
}

// checkFixed applies the edits of all findings and checks the result, which must be silent.
func checkFixed(t *testing.T, in *Input, found []Finding) {
	t.Helper()
	plan := rewrite.Plan{Target: in.Target}
	if holdsLow(in.Model) {
		plan.Strategy = rewrite.Repair
	}
	for _, f := range found {
		plan.Edits = append(plan.Edits, f.Edits...)
	}
	if len(plan.Edits) == 0 {
		return
	}
	fixed, _, err := plan.Apply(in.Model)
	if err != nil {
		t.Fatalf("fixes do not apply: %v", err)
	}
	for _, f := range Run(prepare(t, fixed, true)) {
		t.Errorf("after the fixes: %s: %s [%s]", f.Severity, f.Message, f.Rule)
	}
}
