package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
)

func checkJSON(w io.Writer, f *File, opt Options) error {
	out := *f
	out.Schema, out.Tool, out.Models = Schema, Tool{"amplint", opt.Version}, slices.Concat([]*Model{}, f.Models)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(out)
}

// Read reads the JSON of a check.
func Read(r io.Reader) (*File, error) {
	f := &File{}
	if err := json.NewDecoder(r).Decode(f); err != nil {
		return nil, err
	}
	if f.Schema != Schema {
		return nil, fmt.Errorf("its schema is %q, not %q", f.Schema, Schema)
	}
	for i, m := range f.Models {
		if m == nil {
			return nil, fmt.Errorf("its model %d is null", i)
		}
		if err := m.Unpack(); err != nil {
			return nil, fmt.Errorf("the drawing of %s: %w", m.Path, err)
		}
	}
	return f, nil
}

// Of takes from a report what is to be told of it.
func Of(r *analyze.Report) *Model {
	m := &Model{Path: r.Path, Target: r.Target.String(), Inputs: []Input{}, Findings: []Finding{}, Summary: summaryOf(r.Summary), Remarks: r.Notes, Profile: r.Profile}
	for _, in := range r.Inputs {
		m.Inputs = append(m.Inputs, Input{in.Value.Name, spanOf(in.Range), in.Basis.String(), in.Note})
	}
	for _, f := range r.Findings {
		m.Findings = append(m.Findings, findingOf(f))
	}
	for _, s := range r.Suppressed {
		m.Suppressed = append(m.Suppressed, Suppressed{s.By, s.Reason, s.Until, findingOf(s.Finding)})
	}
	return m
}

func summaryOf(s analyze.Summary) Summary {
	return Summary{s.Nodes, s.Values, s.Unbounded, counts(s.Unknown), s.Errors, s.Warnings, s.Notes, s.Ignored, s.Known}
}

func counts(list []rangeprop.OpCount) []Count {
	out := make([]Count, 0, len(list))
	for _, c := range list {
		out = append(out, Count(c))
	}
	return out
}

func findingOf(f rules.Finding) Finding {
	j := Finding{Rule: f.Rule, Kind: f.Kind.String(), Severity: Severity(f.Severity.String()), Evidence: f.Evidence.String(),
		Consequence: f.Consequence, Node: nodeOf(f.Node), Value: valueName(f.Value), ValueKey: scoped(f.Value), Range: spanOf(f.Range), Basis: f.Basis.String(), Limit: Number(f.Limit),
		Message: f.Message, Reason: f.Reason, Occurrences: []Place{}, Consequences: f.Consequences, Fixes: []Fix{},
		Fingerprint: f.Fingerprint}
	if f.Source != (rules.Source{}) {
		j.Source = (*Source)(&f.Source)
	}
	if j.Consequences == nil {
		j.Consequences = []string{}
	}
	for _, p := range f.Occurrences {
		n := nodeOf(p.Node)
		j.Occurrences = append(j.Occurrences, Place{n.Key, n.Name, valueName(p.Value), rules.SourceOf(p.Node).Module})
	}
	for _, e := range f.Edits {
		j.Fixes = append(j.Fixes, fixOf(e))
	}
	return j
}

func nodeOf(n *graph.Node) Node {
	j := Node{Path: []string{}, Outputs: []string{}}
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

// scoped returns the key of a value where it is not its name, "" else.
func scoped(v *graph.Value) string {
	if v == nil || v.Key() == v.Name {
		return ""
	}
	return v.Key()
}

func fixOf(e rewrite.Edit) Fix {
	j := Fix{Kind: "edit", Description: e.Describe(), Safe: e.Safe()}
	switch e := e.(type) {
	case rewrite.Widen:
		j.Kind, j.Target = "widen", e.Value.Key()
	case rewrite.KeepFP32:
		j.Kind, j.Target = "keep-fp32", e.Node.Key()
	case rewrite.Unquantize:
		j.Kind, j.Target = "unquantize", e.Value.Key()
	case rewrite.ToBF16:
		j.Kind, j.Target = "to-bf16", e.Value.Key()
	case rewrite.Replace:
		j.Kind, j.Target = "replace", e.Value.Key()
	case rewrite.Rescale:
		j.Kind, j.Target = "rescale", e.Product.Key()
	case rewrite.Quantize:
		j.Kind, j.Target = "quantize", e.Node.Key()
	case rewrite.Clamp:
		j.Kind, j.Target = "clamp", e.Const.Key()
	case rewrite.SetConst:
		j.Kind, j.Target = "set-const", e.Const.Key()
	case rewrite.SetAttr:
		j.Kind, j.Target = "set-attr", e.Node.Key()
	}
	return j
}
