package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fatih/color"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules"
)

// maxListed is how many places or values a line of text lists; JSON has them all.
const maxListed = 5

func checkText(w io.Writer, models []*Model, opt Options) error {
	p := newPrinter(w, opt)
	for i, m := range models {
		if i > 0 {
			p.f("\n")
		}
		for i := range m.Findings {
			p.finding("", &m.Findings[i])
		}
		p.ignored(m)
		p.summary(m)
	}
	return p.err
}

// finding prints the line of a finding and, indented, what it rests on and what helps.
func (p *printer) finding(lead string, f *Finding) {
	p.wrapped(verbatim(lead)+p.paint(f.Severity), len(lead)+len(f.Severity), 4, ": %s%s%s [%s]", place(f), f.Message, repeated(f), f.Rule)
	if f.Reason != "" {
		p.indented("%s", f.Reason)
	}
	p.indented("evidence: %s", evidence(f))
	if at := sourceOf(f); at != "" {
		p.indented("from: %s", at)
	}
	if list := otherPlaces(f); len(list) > 0 {
		p.indented("also at: %s", listed(list, ", "))
	}
	if len(f.Consequences) > 0 {
		p.indented("carries on to: %s", listed(f.Consequences, ", "))
	}
	if list := fixes(f); len(list) > 0 {
		p.indented("fix: %s", listed(list, "; "))
	}
}

// sourceOf tells where the finding stands in the exported program, as far as the key of its node
// does not.
func sourceOf(f *Finding) string {
	at := f.Source
	if at == nil {
		return ""
	}
	var list []string
	if key := strings.ReplaceAll(strings.Trim(f.Node.Key, "/"), "/", "."); !strings.HasPrefix(key, at.Module+".") && at.Module != "" && !strings.HasPrefix(f.Node.Key, at.Module+"/") {
		list = append(list, at.Module)
	}
	if at.File != "" {
		list = append(list, fmt.Sprintf("%s:%d", at.File, at.Line))
	}
	return strings.Join(list, ", ")
}

// indented prints a line that belongs to the finding above it.
func (p *printer) indented(format string, args ...any) { p.wrapped("    ", 4, 8, format, args...) }

// ignored names what the config ignores, with the reason: it is to be seen that something was put
// aside, and why. What a baseline knows is counted only, there may be hundreds.
func (p *printer) ignored(m *Model) {
	shown := 0
	for i := range m.Suppressed {
		x := &m.Suppressed[i]
		if x.By != "config" {
			continue
		}
		if shown++; shown > maxListed {
			continue
		}
		why := x.Reason
		if why == "" {
			why = "no reason given"
		}
		if x.Until != "" {
			why += ", until " + x.Until
		}
		p.wrapped("ignored", len("ignored"), 4, ": %s%s [%s]: %s", place(&x.Finding), x.Finding.Message, x.Finding.Rule, why)
	}
	if shown > maxListed {
		p.f("ignored: %d more\n", shown-maxListed)
	}
}

// fixes describes the edits that help.
func fixes(f *Finding) []string {
	var list []string
	for _, e := range f.Fixes {
		list = append(list, e.Description)
	}
	return list
}

func place(f *Finding) string {
	switch {
	case f.Node.Key != "":
		return fmt.Sprintf("%s (%s): ", f.Node.Key, graph.OpName(f.Node.Domain, f.Node.Op))
	case f.Value != "":
		return f.valueKey() + ": "
	}
	return ""
}

// evidence says how the finding is known, in which range the value lies, and what follows.
func evidence(f *Finding) string {
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

func otherPlaces(f *Finding) []string {
	var list []string
	for _, o := range f.Occurrences {
		if o.Key != "" && o.Key != f.Node.Key {
			list = append(list, o.Key)
		}
	}
	return slices.Compact(list)
}

// repeated tells in how many layers, or else at how many places, the hazard stands; "" for one.
func repeated(f *Finding) string {
	n := len(f.Occurrences)
	if n < 2 || f.Node.Key == "" {
		return ""
	}
	layers := map[string]bool{}
	for _, o := range f.Occurrences {
		layers[cmp.Or(o.Module, scopeOf(o.Key))] = true
	}
	if len(layers) == n {
		return fmt.Sprintf(", in %d layers", n)
	}
	return fmt.Sprintf(", at %d places", n)
}

// scopeOf returns the part of a node's key that names what it belongs to.
func scopeOf(key string) string {
	for _, sep := range []string{"/", "."} {
		if i := strings.LastIndex(key, sep); i > 0 {
			return key[:i]
		}
	}
	return ""
}

func listed(list []string, sep string) string {
	if len(list) > maxListed {
		return strings.Join(list[:maxListed], sep) + fmt.Sprintf(" and %d more", len(list)-maxListed)
	}
	return strings.Join(list, sep)
}

// paint colours a severity for a terminal.
func (p *printer) paint(s Severity) verbatim {
	if !p.color {
		return verbatim(s)
	}
	c := color.New([...]color.Attribute{rules.Note: color.FgCyan, rules.Warning: color.FgYellow, rules.Error: color.FgRed}[s.level()], color.Bold)
	c.EnableColor() // whoever asks for colours has looked at the terminal
	return verbatim(c.Sprint(string(s)))
}

func (p *printer) summary(m *Model) {
	s := m.Summary
	p.f("%s as %s: %s, %s, %s", m.Path, targetName(m), plural(s.Errors, "error"), plural(s.Warnings, "warning"), plural(s.Notes, "note"))
	if s.Ignored > 0 {
		p.f(", %d ignored", s.Ignored)
	}
	if s.Known > 0 {
		p.f(", %d known", s.Known)
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

// targetName names the target behind "as".
func targetName(m *Model) string {
	if m.Target == analyze.AsIs.String() {
		return "it is"
	}
	return m.Target
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
