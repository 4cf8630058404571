package report

import (
	"encoding/json"
	"io"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
)

// checkFile is the JSON of a check report. Its fields are a contract: tools read them.
type checkFile struct {
	Schema string      `json:"schema"`
	Tool   toolJSON    `json:"tool"`
	Models []modelJSON `json:"models"`
}

type toolJSON struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type modelJSON struct {
	Path     string        `json:"path"`
	Target   string        `json:"target"`
	Inputs   []inputJSON   `json:"inputs"`
	Summary  summaryJSON   `json:"summary"`
	Findings []findingJSON `json:"findings"`
}

type inputJSON struct {
	Name  string `json:"name"`
	Range span   `json:"range"`
	Basis string `json:"basis"`
	Note  string `json:"note,omitempty"` // the evidence of a default
}

// span is a range as a list of two numbers.
type span [2]number

func spanOf(r rangeprop.Range) span { return span{number(r.Lo), number(r.Hi)} }

type summaryJSON struct {
	Nodes     int         `json:"nodes"`
	Values    int         `json:"values"`
	Unbounded int         `json:"unbounded"`
	Unknown   []countJSON `json:"unknown_operators"`
	Errors    int         `json:"errors"`
	Warnings  int         `json:"warnings"`
	Notes     int         `json:"notes"`
	Ignored   int         `json:"ignored"`
}

type countJSON struct {
	Op    string `json:"op"`
	Count int    `json:"count"`
}

type findingJSON struct {
	Rule         string      `json:"rule"`
	Kind         string      `json:"kind"`
	Severity     string      `json:"severity"`
	Evidence     string      `json:"evidence"`
	Consequence  string      `json:"consequence"`
	Node         nodeJSON    `json:"node"`
	Value        string      `json:"value"`
	Range        span        `json:"range"`
	Basis        string      `json:"basis"`
	Limit        number      `json:"limit"`
	Message      string      `json:"message"`
	Reason       string      `json:"reason,omitempty"`
	Occurrences  []placeJSON `json:"occurrences"`
	Consequences []string    `json:"consequences"`
	Fixes        []fixJSON   `json:"fixes"`
	Fingerprint  string      `json:"fingerprint"`
}

// nodeJSON is the place of a finding; its key is "" where the finding is on an input or on the
// whole model.
type nodeJSON struct {
	Key     string   `json:"key"`
	Name    string   `json:"name"`
	Op      string   `json:"op"`
	Domain  string   `json:"domain"`
	Index   int      `json:"index"`
	Path    []string `json:"path"`
	Outputs []string `json:"outputs"`
}

type placeJSON struct {
	Key   string `json:"key"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

type fixJSON struct {
	Kind        string `json:"kind"`
	Target      string `json:"target"`
	Description string `json:"description"`
	Safe        bool   `json:"safe"`
}

func checkJSON(w io.Writer, reports []*analyze.Report, opt Options) error {
	f := checkFile{"amplint.check/1", toolJSON{"amplint", opt.Version}, []modelJSON{}}
	for _, r := range reports {
		f.Models = append(f.Models, modelOf(r))
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(f)
}

func modelOf(r *analyze.Report) modelJSON {
	m := modelJSON{Path: r.Path, Target: r.Target.String(), Inputs: []inputJSON{}, Findings: []findingJSON{}, Summary: summaryOf(r.Summary)}
	for _, in := range r.Inputs {
		m.Inputs = append(m.Inputs, inputJSON{in.Value.Name, spanOf(in.Range), in.Basis.String(), in.Note})
	}
	for _, f := range r.Findings {
		m.Findings = append(m.Findings, findingOf(f))
	}
	return m
}

func summaryOf(s analyze.Summary) summaryJSON {
	return summaryJSON{s.Nodes, s.Values, s.Unbounded, counts(s.Unknown), s.Errors, s.Warnings, s.Notes, s.Ignored}
}

func counts(list []rangeprop.OpCount) []countJSON {
	out := make([]countJSON, 0, len(list))
	for _, c := range list {
		out = append(out, countJSON(c))
	}
	return out
}

func findingOf(f rules.Finding) findingJSON {
	j := findingJSON{Rule: f.Rule, Kind: f.Kind.String(), Severity: f.Severity.String(), Evidence: f.Evidence.String(),
		Consequence: f.Consequence, Node: nodeOf(f.Node), Value: valueName(f.Value), Range: spanOf(f.Range), Basis: f.Basis.String(), Limit: number(f.Limit),
		Message: f.Message, Reason: f.Reason, Occurrences: []placeJSON{}, Consequences: f.Consequences, Fixes: []fixJSON{},
		Fingerprint: f.Fingerprint}
	if j.Consequences == nil {
		j.Consequences = []string{}
	}
	for _, p := range f.Occurrences {
		n := nodeOf(p.Node)
		j.Occurrences = append(j.Occurrences, placeJSON{n.Key, n.Name, valueName(p.Value)})
	}
	for _, e := range f.Edits {
		j.Fixes = append(j.Fixes, fixOf(e))
	}
	return j
}

func nodeOf(n *graph.Node) nodeJSON {
	j := nodeJSON{Path: []string{}, Outputs: []string{}}
	if n == nil {
		return j
	}
	j.Key, j.Name, j.Op, j.Domain, j.Index = n.Key(), n.Name, n.Op, n.Domain, n.Index
	j.Path = append(j.Path, n.Graph.Path()...)
	for _, o := range n.Outputs {
		if o != nil {
			j.Outputs = append(j.Outputs, o.Name)
		}
	}
	return j
}

func valueName(v *graph.Value) string {
	if v == nil {
		return ""
	}
	return v.Name
}

func fixOf(e rewrite.Edit) fixJSON {
	j := fixJSON{Kind: "edit", Description: e.Describe(), Safe: e.Safe()}
	switch e := e.(type) {
	case rewrite.Widen:
		j.Kind, j.Target = "widen", e.Value.Key()
	case rewrite.KeepFP32:
		j.Kind, j.Target = "keep-fp32", e.Node.Key()
	case rewrite.Clamp:
		j.Kind, j.Target = "clamp", e.Const.Key()
	case rewrite.SetConst:
		j.Kind, j.Target = "set-const", e.Const.Key()
	case rewrite.SetAttr:
		j.Kind, j.Target = "set-attr", e.Node.Key()
	}
	return j
}
