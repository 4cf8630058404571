package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules"
)

// maxListed is how many places or values a line of text lists; JSON has them all.
const maxListed = 5

func checkText(w io.Writer, models []*Model, opt Options) error {
	p := &printer{w: w, color: opt.Color}
	for i, m := range models {
		if i > 0 {
			p.f("\n")
		}
		for _, f := range m.Findings {
			p.finding(f)
		}
		p.summary(m)
	}
	return p.err
}

// finding prints the line of a finding and, indented, what it rests on and what helps.
func (p *printer) finding(f Finding) {
	p.f("%s: %s%s [%s]\n", p.paint(f.Severity), place(f), f.Message, f.Rule)
	if f.Reason != "" {
		p.f("    %s\n", f.Reason)
	}
	p.f("    evidence: %s\n", evidence(f))
	if list := otherPlaces(f); len(list) > 0 {
		p.f("    also at: %s\n", listed(list, ", "))
	}
	if len(f.Consequences) > 0 {
		p.f("    carries on to: %s\n", listed(f.Consequences, ", "))
	}
	var fixes []string
	for _, e := range f.Fixes {
		fixes = append(fixes, e.Description)
	}
	if len(fixes) > 0 {
		p.f("    fix: %s\n", listed(fixes, "; "))
	}
}

func place(f Finding) string {
	switch {
	case f.Node.Key != "":
		return fmt.Sprintf("%s (%s): ", f.Node.Key, graph.OpName(f.Node.Domain, f.Node.Op))
	case f.Value != "":
		return f.valueKey() + ": "
	}
	return ""
}

// evidence says how the finding is known, in which range the value lies, and what follows.
func evidence(f Finding) string {
	s := f.Evidence
	if f.Value != "" {
		s += fmt.Sprintf(", %s in [%.5g, %.5g] (%s)", f.valueKey(), f.Range[0], f.Range[1], f.Basis)
	}
	if f.limited() {
		s += fmt.Sprintf(", limit %.5g", f.Limit)
	}
	if f.Consequence != "" {
		s += ", consequence " + f.Consequence
	}
	return s
}

func otherPlaces(f Finding) []string {
	var list []string
	for _, o := range f.Occurrences {
		if o.Key != "" && o.Key != f.Node.Key {
			list = append(list, o.Key)
		}
	}
	return slices.Compact(list)
}

func listed(list []string, sep string) string {
	if len(list) > maxListed {
		return strings.Join(list[:maxListed], sep) + fmt.Sprintf(" and %d more", len(list)-maxListed)
	}
	return strings.Join(list, sep)
}

// paint colours a severity for a terminal.
func (p *printer) paint(s Severity) string {
	if !p.color {
		return string(s)
	}
	code := [...]string{rules.Note: "36", rules.Warning: "33", rules.Error: "31"}[s.level()]
	return "\x1b[1;" + code + "m" + string(s) + "\x1b[0m"
}

func (p *printer) summary(m *Model) {
	s := m.Summary
	p.f("%s as %s: %s, %s, %s", m.Path, m.Target, plural(s.Errors, "error"), plural(s.Warnings, "warning"), plural(s.Notes, "note"))
	if s.Ignored > 0 {
		p.f(", %d ignored", s.Ignored)
	}
	p.f("; %s, %s", plural(s.Nodes, "node"), plural(s.Values, "float value"))
	if s.Unbounded > 0 {
		p.f(", %d without a finite bound", s.Unbounded)
	}
	if len(s.Unknown) > 0 {
		var ops []string
		for _, c := range s.Unknown {
			ops = append(ops, fmt.Sprintf("%s (%d)", c.Op, c.Count))
		}
		p.f("; unknown operators: %s", listed(ops, ", "))
	}
	p.f("\n")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
