package report

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplint/amplint/rules"
)

// The addresses that stand in a SARIF file.
const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	home        = "https://github.com/amplint/amplint"
)

// sarifWriter gathers the rules that results speak of.
type sarifWriter struct {
	opt   *Options
	rules []sarifRule
}

// checkSARIF writes a report as SARIF 2.1.0: one run with all models.
func checkSARIF(w io.Writer, file *File, opt Options) error {
	s := &sarifWriter{opt: &opt, rules: []sarifRule{}}
	run := sarifRun{Results: []sarifResult{}}
	for _, m := range file.Models {
		for i := range m.Findings {
			run.Results = append(run.Results, s.result(m, &m.Findings[i]))
		}
		for i := range m.Suppressed {
			x := &m.Suppressed[i]
			r := s.result(m, &x.Finding)
			r.Suppressions = []sarifSuppression{{"external", "accepted", justification(x)}}
			run.Results = append(run.Results, r)
		}
	}
	run.Invocations = []sarifInvocation{invocation(file, &opt)}
	run.Tool.Driver = sarifDriver{"amplint", opt.Version, home, s.rules}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
}

// justification says why a finding is suppressed.
func justification(x *Suppressed) string {
	s := x.By
	if x.Reason != "" {
		s += ": " + x.Reason
	}
	if x.Until != "" {
		s += " (until " + x.Until + ")"
	}
	return s
}

func (s *sarifWriter) result(m *Model, f *Finding) sarifResult {
	r := sarifResult{RuleID: f.Rule, RuleIndex: s.rule(f.Rule), Level: string(f.Severity), Message: sarifText{Text: told(f)},
		Fingerprints: map[string]string{"amplint/v1": f.Fingerprint, "primaryLocationLineHash": f.Fingerprint + ":1"},
		Properties:   propsOf(m, f)}
	at, inSource := s.opt.at(m, f)
	r.Locations = []sarifLocation{{Physical: physical(at), Logical: logical(f)}}
	if inSource {
		r.Related = append(r.Related, sarifLocation{Physical: &sarifPhysical{Artifact: sarifArtifact{uri(filepath.ToSlash(m.Path))}},
			Message: &sarifText{Text: "the model"}})
	}
	for _, o := range f.Occurrences {
		if o.Key == f.Node.Key {
			continue
		}
		r.Related = append(r.Related, sarifLocation{Logical: []sarifLogical{{o.Name, o.Key, "node"}}, Message: &sarifText{Text: "the same here"}})
	}
	for i := range r.Related {
		r.Related[i].ID = i + 1
	}
	return r
}

func physical(at spot) *sarifPhysical {
	return &sarifPhysical{sarifArtifact{uri(at.File)}, &sarifRegion{at.Line}}
}

// logical returns the node of a finding, or the value where it is on none, and its module.
func logical(f *Finding) []sarifLogical {
	var list []sarifLogical
	switch {
	case f.Node.Key != "":
		list = append(list, sarifLogical{f.Node.Name, f.Node.Key, "node"})
	case f.Value != "":
		list = append(list, sarifLogical{f.Value, f.valueKey(), "value"})
	}
	if f.Source != nil && f.Source.Module != "" {
		list = append(list, sarifLogical{"", f.Source.Module, "module"})
	}
	return list
}

func propsOf(m *Model, f *Finding) sarifProps {
	p := sarifProps{Kind: f.Kind, Evidence: f.Evidence, Consequence: f.Consequence, Target: m.Target, Value: f.valueKey(),
		Consequences: f.Consequences, Fixes: f.Fixes}
	if f.Value != "" {
		p.Range, p.Basis = &f.Range, f.Basis
	}
	if f.limited() {
		p.Limit = &f.Limit
	}
	if f.Source != nil {
		p.Module = f.Source.Module
	}
	return p
}

// told is a finding as one text: readers show no other field.
func told(f *Finding) string {
	lines := []string{place(f) + f.Message + repeated(f)}
	if f.Reason != "" {
		lines = append(lines, f.Reason)
	}
	lines = append(lines, "evidence: "+evidence(f))
	if list := fixes(f); len(list) > 0 {
		lines = append(lines, "fix: "+listed(list, "; "))
	}
	for i, l := range lines {
		lines[i] = Visible(l)
	}
	return strings.Join(lines, "\n")
}

// rule returns the index of a rule among those of the run, and adds it where it is new.
func (s *sarifWriter) rule(name string) int {
	if i := slices.IndexFunc(s.rules, func(r sarifRule) bool { return r.ID == name }); i >= 0 {
		return i
	}
	r := sarifRule{ID: name, Short: sarifText{Text: name}, Properties: sarifRuleProps{[]string{"onnx"}}}
	for _, known := range rules.All() {
		if known.Name == name {
			r.Short.Text = known.Title
			r.Properties.Tags = append(r.Properties.Tags, known.Kind.String())
		}
	}
	page, _ := rules.Page(name) // reports of other versions may name rules that this one lacks
	r.Help = sarifText{Text: page, Markdown: page}
	if page == "" {
		r.Help = sarifText{Text: r.Short.Text}
	}
	r.Full = sarifText{Text: opening(page, r.Short.Text)}
	s.rules = append(s.rules, r)
	return len(s.rules) - 1
}

// opening returns the first paragraph of a rule's page, the title where there is no page.
func opening(page, title string) string {
	_, body, _ := strings.Cut(page, "\n")
	first, _, _ := strings.Cut(strings.TrimSpace(body), "\n\n")
	if first == "" {
		return title
	}
	return strings.ReplaceAll(first, "\n", " ")
}

// invocation tells how the run ended, what could not be read and what was remarked.
func invocation(file *File, opt *Options) sarifInvocation {
	inv := sarifInvocation{Successful: len(file.Failures) == 0, ExitCode: opt.ExitCode}
	note := func(id, level, path, text string) {
		n := sarifNotification{Descriptor: sarifDescriptor{id}, Level: level, Message: sarifText{Text: text}}
		if path != "" {
			n.Locations = []sarifLocation{{Physical: &sarifPhysical{Artifact: sarifArtifact{uri(filepath.ToSlash(path))}}}}
		}
		inv.Notifications = append(inv.Notifications, n)
	}
	for _, f := range file.Failures {
		note("unreadable-model", "error", f.Path, fmt.Sprintf("%s could not be analysed: %s", f.Path, f.Error))
	}
	for _, m := range file.Models {
		for _, r := range m.Remarks {
			note("remark", "note", m.Path, r)
		}
	}
	for _, r := range opt.Remarks {
		note("remark", "note", "", r)
	}
	return inv
}
