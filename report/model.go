package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rules"
)

// File is a check report: all formats are written from it, and its JSON reads back as the same. Its
// fields are a contract: tools read them.
type File struct {
	Schema string   `json:"schema"`
	Tool   Tool     `json:"tool"`
	Models []*Model `json:"models"`
	// Failures are the models that could not be read or analysed, where several were asked for.
	Failures []Failure `json:"failures,omitempty"`
	// Shard is set where the report is of a part of a run.
	Shard *Shard `json:"shard,omitempty"`
}

// Failure is a model that could not be read or analysed.
type Failure struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// Schema names the form of the JSON of a check.
const Schema = "amplint.check/1"

// Tool is the program that wrote a report.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Model is what was found in one model. It holds nothing of the model itself, so that reports of
// thousands can be kept.
type Model struct {
	Path     string    `json:"path"`
	Target   string    `json:"target"`
	Inputs   []Input   `json:"inputs"`
	Summary  Summary   `json:"summary"`
	Findings []Finding `json:"findings"`
	// Suppressed are findings that somebody has decided about. They fail nothing.
	Suppressed []Suppressed `json:"suppressed,omitempty"`
	// Remarks tell what had to be put right or overlooked, and which ignores match nothing.
	Remarks []string `json:"remarks,omitempty"`
	// Profile is what a page draws, nil where the analysis was not asked for it. JSON has it as Drawing,
	// and only that of shards.
	Profile *analyze.Profile `json:"-"`
	Drawing []byte           `json:"drawing,omitempty"`
}

// Suppressed is a finding that the project has looked at and lives with; see [analyze.Suppressed].
type Suppressed struct {
	By      string  `json:"by"` // what said so: "config" or "baseline"
	Reason  string  `json:"reason,omitempty"`
	Until   string  `json:"until,omitempty"` // a date, from then on it is reported again
	Finding Finding `json:"finding"`
}

// Failed tells whether a finding makes the run fail.
func (m *Model) Failed(t analyze.Threshold) bool {
	return slices.ContainsFunc(m.Findings, func(f Finding) bool { return t.Reached(f.Severity.level()) })
}

// Input is the range an input was taken to have.
type Input struct {
	Name  string `json:"name"`
	Range Span   `json:"range"`
	Basis string `json:"basis"`
	Note  string `json:"note,omitempty"` // the evidence of a default
}

// Span is a range as a list of two numbers.
type Span [2]Number

func spanOf(r rangeprop.Range) Span { return Span{Number(r.Lo), Number(r.Hi)} }

// Summary counts.
type Summary struct {
	Nodes     int     `json:"nodes"`
	Values    int     `json:"values"`
	Unbounded int     `json:"unbounded"`
	Unknown   []Count `json:"unknown_operators"`
	Errors    int     `json:"errors"`
	Warnings  int     `json:"warnings"`
	Notes     int     `json:"notes"`
	Ignored   int     `json:"ignored"`
	Known     int     `json:"known"` // findings of the baseline
}

// Count is how often an operator occurs.
type Count struct {
	Op    string `json:"op"`
	Count int    `json:"count"`
}

// Severity is "note", "warning" or "error".
type Severity string

// level returns the severity as the rules have it.
func (s Severity) level() rules.Severity {
	l, _ := rules.ParseSeverity(string(s))
	return l
}

// bySeverity returns findings with the gravest first and else in the order of the report.
func bySeverity(list []Finding) []*Finding {
	sorted := make([]*Finding, len(list))
	for i := range list {
		sorted[i] = &list[i]
	}
	slices.SortStableFunc(sorted, func(a, b *Finding) int { return cmp.Compare(b.Severity.level(), a.Severity.level()) })
	return sorted
}

// Finding is one hazard found; see [rules.Finding].
type Finding struct {
	Rule        string   `json:"rule"`
	Kind        string   `json:"kind"`
	Severity    Severity `json:"severity"`
	Evidence    string   `json:"evidence"`
	Consequence string   `json:"consequence"`
	Node        Node     `json:"node"`
	Value       string   `json:"value"`
	// ValueKey is the value with the scopes it lies in, where that is not its name.
	ValueKey     string   `json:"value_key,omitempty"`
	Range        Span     `json:"range"`
	Basis        string   `json:"basis"`
	Limit        Number   `json:"limit"`
	Message      string   `json:"message"`
	Reason       string   `json:"reason,omitempty"`
	Occurrences  []Place  `json:"occurrences"`
	Consequences []string `json:"consequences"`
	Fixes        []Fix    `json:"fixes"`
	Fingerprint  string   `json:"fingerprint"`
	// Source is nil where the exporter left no trace.
	Source *Source `json:"source,omitempty"`
}

// Source is the place in the program that the model was exported from; see [rules.Source].
type Source struct {
	Module string `json:"module"`
	File   string `json:"file"`
	Line   int    `json:"line"`
}

// valueKey returns the value with its scopes, "" for a finding on no value.
func (f *Finding) valueKey() string {
	if f.ValueKey != "" {
		return f.ValueKey
	}
	return f.Value
}

// limited tells whether the finding is about a finite limit.
func (f *Finding) limited() bool {
	return f.Limit != 0 && !math.IsInf(float64(f.Limit), 0) && f.Limit == f.Limit
}

// Node is the place of a finding; its key is "" where the finding is on an input or on the
// whole model.
type Node struct {
	Key     string   `json:"key"`
	Name    string   `json:"name"`
	Op      string   `json:"op"`
	Domain  string   `json:"domain"`
	Index   int      `json:"index"`
	Path    []string `json:"path"`
	Outputs []string `json:"outputs"`
}

// Place is one of several places that a finding stands for.
type Place struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Value string `json:"value"`
	// Module is the path of the module in the exported program, where the exporter left it.
	Module string `json:"module,omitempty"`
}

// Fix is an edit that helps.
type Fix struct {
	Kind        string `json:"kind"`
	Target      string `json:"target"`
	Description string `json:"description"`
	Safe        bool   `json:"safe"`
}
