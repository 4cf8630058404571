package report

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/joshdk/go-junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// everything is a file with all that a report can hold: two models, one of them with names that are
// markup in some format, suppressed findings, remarks and a model that could not be read.
func everything(t *testing.T) *File {
	t.Helper()
	r, _ := example(t)
	r.Notes = []string{`config: ignore 2 (rule "", node "nosuch", value "") matches nothing`}
	f := one(r)
	f.Models[0].Findings[0].Source = &Source{"encoder.layer.0", "/home/u/proj/net.py", 12}
	f.Models = append(f.Models, hostile(), &Model{Path: "clean.onnx", Target: "as-is"})
	f.Failures = []Failure{{"broken.onnx", "broken.onnx: unexpected end\nof the file"}}
	return f
}

// hostile is a report on a model whose names try to be more than names.
func hostile() *Model {
	f := Finding{Rule: "exp-overflow", Kind: "overflow", Severity: "error", Evidence: "witness", Consequence: "silent",
		Node:  Node{Key: "a|b`c\n::error::x%", Name: "a|b`c\n::error::x%", Op: "Exp", Domain: "my<b>"},
		Value: "</script><script>alert(1)</script>", Range: Span{-1, 12}, Limit: 65504,
		Message: "<img src=x onerror=alert(1)> \x1b[31m@user *bold* [l](http://x)", Reason: "\u202egnp.exe", Fingerprint: "f9",
		Fixes:       []Fix{{Kind: "widen", Target: "v", Description: `hold "x|y" in fp32`}},
		Occurrences: []Place{{Key: "l.0/e", Name: "e"}, {Key: "l.1/e", Name: "e"}}}
	return &Model{Path: "we,ird: 100%.onnx", Target: "fp16", Findings: []Finding{f}, Summary: Summary{Errors: 1}}
}

// options are those of the tests.
func options() Options {
	return Options{Version: "1.2.3", ExitCode: 3, Roots: []Root{{"/home/u/proj", "src"}}, Remarks: []string{"ignore 3 matches nothing"}}
}

// written returns a report in a format.
func written(t *testing.T, format string, f *File) string {
	t.Helper()
	var b strings.Builder
	if err := Check(&b, format, f, options()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	for format, file := range map[string]string{"sarif": "all.sarif", "junit": "all.junit.xml", "github": "all.github.txt",
		"markdown": "all.md", "text": "all.txt"} {
		golden(t, file, stable(written(t, format, everything(t))))
	}
}

// stable leaves out what other packages may change: the pages of rules, and how many rules pass.
func stable(text string) string {
	for pattern, with := range map[string]string{
		`("(?:text|markdown)": )"# .*"`:            `$1"…"`,
		`("fullDescription": \{\s*"text": )".*"`:   `$1"…"`,
		`\n *<testcase [^>]* time="0"></testcase>`: "",
		` tests="\d+"`: ` tests="…"`,
		`(?s)(<dt id="rule-[^"]*">.*?<dd>).*? <span`: `$1… <span`,
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, with)
	}
	return text
}

// TestSARIFSchema holds what is written against the schema of the standard, with and without content.
func TestSARIFSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	raw, err := os.Open("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	doc, err := jsonschema.UnmarshalJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource(sarifSchema, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(sarifSchema)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*File{everything(t), {}} {
		text := written(t, "sarif", f)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Error(err)
		}
	}
	// The schema finds what is wrong.
	wrong := strings.Replace(written(t, "sarif", everything(t)), `"level": "error"`, `"level": "fatal"`, 1)
	if v, err := jsonschema.UnmarshalJSON(strings.NewReader(wrong)); err != nil || schema.Validate(v) == nil {
		t.Errorf("a wrong level passes: %v", err)
	}
}

// TestSARIFReader has a public library read what is written.
func TestSARIFReader(t *testing.T) {
	r, err := sarif.FromBytes([]byte(written(t, "sarif", everything(t))))
	if err != nil {
		t.Fatal(err)
	}
	run := r.Runs[0]
	if len(run.Results) != 5 || len(run.Tool.Driver.Rules) != 4 {
		t.Fatalf("%d results, %d rules", len(run.Results), len(run.Tool.Driver.Rules))
	}
	first := run.Results[0]
	if *first.RuleID != "mask-constant" || first.Level != "error" || run.Tool.Driver.Rules[first.RuleIndex].ID == nil {
		t.Errorf("the first result is %v", first)
	}
	at := first.Locations[0]
	if *at.PhysicalLocation.ArtifactLocation.URI != "src/net.py" || *at.PhysicalLocation.Region.StartLine != 12 {
		t.Errorf("it stands at %v", at.PhysicalLocation)
	}
	if *at.LogicalLocations[0].FullyQualifiedName != "pick/then_branch/#a" {
		t.Errorf("it is on %v", at.LogicalLocations[0])
	}
	if help := run.Tool.Driver.Rules[0].Help; !strings.Contains(*help.Markdown, "## Bad") {
		t.Errorf("help %v", help)
	}
	ignored := 0
	for _, x := range run.Results {
		ignored += len(x.Suppressions)
	}
	if inv := run.Invocations[0]; ignored != 1 || *inv.ExecutionSuccessful || *inv.ExitCode != 3 || len(inv.ToolExecutionNotifications) != 3 {
		t.Errorf("%d suppressions, invocation %+v", ignored, inv)
	}
}

// TestJUnitReader has a public library read what is written.
func TestJUnitReader(t *testing.T) {
	suites, err := junit.Ingest([]byte(written(t, "junit", everything(t))))
	if err != nil {
		t.Fatal(err)
	}
	if len(suites) != 4 || suites[0].Name != "dir/m.onnx" {
		t.Fatalf("%d suites", len(suites))
	}
	for i, want := range []junit.Totals{{Failed: 1}, {Failed: 1}, {}, {Error: 1}} {
		if got := suites[i].Totals; got.Failed != want.Failed || got.Error != want.Error || got.Tests == 0 {
			t.Errorf("%s: %+v, want %+v", suites[i].Name, got, want)
		}
	}
	for _, c := range suites[0].Tests {
		if c.Name == "mask-constant" && (c.Status != junit.StatusFailed || !strings.Contains(c.Error.Error(), "0 times -Inf")) {
			t.Errorf("%s is %v: %v", c.Name, c.Status, c.Error)
		}
	}
	if e := suites[3].Tests[0].Error; e == nil || !strings.Contains(e.Error(), "unexpected end") {
		t.Errorf("the model that could not be read: %v", e)
	}
}

// TestJUnitSkips shows that a rule of which all findings are ignored is a skipped test.
func TestJUnitSkips(t *testing.T) {
	f := everything(t)
	f.Models[0].Findings = nil
	suites, err := junit.Ingest([]byte(written(t, "junit", f)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range suites[0].Tests {
		if c.Name == "mask-constant" && (c.Status != junit.StatusSkipped || c.Message != "config: not read (until 2099-01-01)") {
			t.Errorf("%s is %v: %q", c.Name, c.Status, c.Message)
		}
	}
}

// TestGitHubLimits shows that no more is annotated than GitHub shows, and that the rest is named.
func TestGitHubLimits(t *testing.T) {
	m := &Model{Path: "m.onnx", Target: "fp16"}
	for range 14 {
		m.Findings = append(m.Findings, Finding{Rule: "long-sum", Severity: "warning", Message: "m"}, Finding{Rule: "near-one", Severity: "note", Message: "n"})
	}
	m.Findings = append(m.Findings, Finding{Rule: "exp-overflow", Severity: "error", Message: "e"})
	lines := strings.Split(written(t, "github", &File{Models: []*Model{m}}), "\n")
	count := map[string]int{}
	for _, l := range lines {
		head, _, _ := strings.Cut(l, " file=")
		count[head]++
	}
	if !strings.HasPrefix(lines[0], "::error file=m.onnx,line=1,title=amplint%3A exp-overflow::e") {
		t.Errorf("first %q", lines[0])
	}
	if count["::error"] != 1 || count["::warning"] != 10 || count["::notice"] != 10 || count["  m.onnx: warning: m [long-sum]"] != 4 {
		t.Errorf("lines %v", count)
	}
}

// TestNothingSteers shows that no name ends a line or carries a control character, in the formats that
// people read.
func TestNothingSteers(t *testing.T) {
	f := &File{Models: []*Model{hostile()}}
	for _, format := range []string{"text", "github", "markdown"} {
		text := written(t, format, f)
		for _, bad := range []string{"\x1b", "\u202e", "\n::error::x", "<script", "<img"} {
			if format == "text" && bad[0] == '<' || format == "github" && (bad[0] == '<' || bad == "\u202e" || bad == "\x1b") {
				continue // no markup there
			}
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q:\n%s", format, bad, text)
			}
		}
	}
}

// TestMarkdownLimit shows that a summary stays below what GitHub takes.
func TestMarkdownLimit(t *testing.T) {
	f := &File{}
	for range 3000 {
		m := hostile()
		m.Findings = append(m.Findings, m.Findings...)
		f.Models = append(f.Models, m)
	}
	text := written(t, "markdown", f)
	if len(text) > maxMarkdown || !strings.Contains(text, "are left out here") {
		t.Errorf("%d bytes", len(text))
	}
}

func TestParseRoot(t *testing.T) {
	r, err := ParseRoot(`C:\build\=src`)
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Roots: []Root{r}}
	for file, want := range map[string]string{`C:\build\net.py`: "src/net.py", "net/a.py": "net/a.py", "/opt/x.py": "m.onnx", `C:\builder\x.py`: "m.onnx"} {
		at, _ := opt.at(&Model{Path: "m.onnx"}, &Finding{Source: &Source{File: file, Line: 3}})
		if at.File != want {
			t.Errorf("%s is %s, want %s", file, at.File, want)
		}
	}
	if _, err := ParseRoot("nothing"); err == nil {
		t.Error("a root without = passes")
	}
	if r, _ := ParseRoot("/app=."); r != (Root{"/app", "."}) {
		t.Errorf("root %v", r)
	}
}

func TestURI(t *testing.T) {
	for p, want := range map[string]string{"a b/m#1.onnx": "a%20b/m%231.onnx", "/m.onnx": "file:///m.onnx", "C:/m.onnx": "file:///C:/m.onnx",
		"x:y.onnx": "./x:y.onnx", "100%.onnx": "100%25.onnx"} {
		if got := uri(p); got != want {
			t.Errorf("%s is %s, want %s", p, got, want)
		}
	}
}

// TestJSONFields shows that what was added to the report is left out where there is nothing to say.
func TestJSONFields(t *testing.T) {
	var got map[string]any
	if err := json.Unmarshal([]byte(written(t, "json", &File{Models: []*Model{{}}})), &got); err != nil {
		t.Fatal(err)
	}
	m := got["models"].([]any)[0].(map[string]any)
	for _, name := range []string{"remarks", "suppressed"} {
		if _, ok := m[name]; ok {
			t.Errorf("%s is there", name)
		}
	}
	if strings.Contains(written(t, "json", &File{}), "failures") {
		t.Error("failures are there")
	}
}
