package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/amplint/amplint/graph"
)

// maxMarkdown bounds a report in bytes: GitHub refuses a job summary of more than 1 MiB.
const maxMarkdown = 1 << 20

// checkMarkdown writes a report for a job summary or a comment: a table of the models, then for each
// its findings, folded.
func checkMarkdown(w io.Writer, file *File, opt Options) error {
	p := &printer{w: w}
	p.f("# amplint\n\n%s\n", verdict(file))
	p.modelTable(file)
	left := maxMarkdown - 64*1024 // the head and the note of what is left out
	cut := 0
	for _, m := range file.Models {
		text := modelMarkdown(m, &opt)
		if left -= len(text); left < 0 {
			cut++
			continue
		}
		p.f("%s", verbatim(text))
	}
	if cut > 0 {
		p.f("\nThe findings of %s are left out here: GitHub takes no summary above 1 MiB.\n", plural(cut, "model"))
	}
	return p.err
}

// verdict says in one line how it went.
func verdict(file *File) string {
	var errors, warnings, notes int
	for _, m := range file.Models {
		errors, warnings, notes = errors+m.Summary.Errors, warnings+m.Summary.Warnings, notes+m.Summary.Notes
	}
	s := fmt.Sprintf("%s, %s, %s in %s", plural(errors, "error"), plural(warnings, "warning"), plural(notes, "note"), plural(len(file.Models), "model"))
	if n := len(file.Failures); n > 0 {
		s += fmt.Sprintf("; %s could not be analysed", plural(n, "model"))
	}
	return s
}

// maxRows bounds the table of models.
const maxRows = 500

func (p *printer) modelTable(file *File) {
	p.f("\n| model | target | errors | warnings | notes | ignored | nodes |\n|---|---|--:|--:|--:|--:|--:|\n")
	for i, m := range file.Models {
		if i == maxRows {
			p.f("\n… and %s\n", plural(len(file.Models)-maxRows, "more model"))
			break
		}
		s := m.Summary
		p.f("| %s | %s | %d | %d | %d | %d | %d |\n", code(m.Path), m.Target, s.Errors, s.Warnings, s.Notes, s.Ignored, s.Nodes)
	}
	for i, f := range file.Failures {
		if i == maxRows {
			break
		}
		p.f("\n**Not analysed:** %s: %s\n", code(f.Path), plain(firstLine(f.Error)))
	}
}

// modelMarkdown writes the findings of a model, "" where there are none.
func modelMarkdown(m *Model, opt *Options) string {
	if len(m.Findings)+len(m.Suppressed) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n", code(m.Path))
	for _, f := range bySeverity(m.Findings) {
		fold(&b, f, icon(f.Severity)+" <b>"+string(f.Severity)+"</b>: ", findingMarkdown(m, f, opt))
	}
	for i := range m.Suppressed {
		x := &m.Suppressed[i]
		fold(&b, &x.Finding, "⚪ ignored ("+plain(justification(x))+"): ", findingMarkdown(m, &x.Finding, opt))
	}
	return b.String()
}

// fold writes a finding of which only the line is seen before it is opened.
func fold(b *strings.Builder, f *Finding, head, body string) {
	where := f.Node.Key
	if where == "" {
		where = f.valueKey()
	}
	if where != "" {
		where = " at " + code(where)
		if f.Node.Op != "" {
			where += " (" + plain(graph.OpName(f.Node.Domain, f.Node.Op)) + ")"
		}
	}
	fmt.Fprintf(b, "\n<details><summary>%s%s%s%s</summary>\n\n%s\n</details>\n", head, code(f.Rule), where, repeated(f), body)
}

func findingMarkdown(m *Model, f *Finding, opt *Options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", plain(f.Message))
	if f.Reason != "" {
		fmt.Fprintf(&b, "%s\n\n", plain(f.Reason))
	}
	fmt.Fprintf(&b, "- evidence: %s\n", plain(evidence(f)))
	if at, ok := opt.at(m, f); ok {
		fmt.Fprintf(&b, "- source: %s\n", code(fmt.Sprintf("%s:%d", at.File, at.Line)))
	}
	if list := otherPlaces(f); len(list) > 0 {
		fmt.Fprintf(&b, "- also at: %s\n", codes(list))
	}
	if len(f.Consequences) > 0 {
		fmt.Fprintf(&b, "- carries on to: %s\n", codes(f.Consequences))
	}
	for _, x := range fixes(f) {
		fmt.Fprintf(&b, "- fix: %s\n", plain(x))
	}
	return b.String()
}

// icon marks a severity for those who scan a page; the word stands beside it.
func icon(s Severity) string {
	switch s {
	case "error":
		return "🔴"
	case "warning":
		return "🟠"
	}
	return "🔵"
}

// codes lists names as code.
func codes(list []string) string {
	quoted := make([]string, min(len(list), maxListed))
	for i := range quoted {
		quoted[i] = code(list[i])
	}
	return listed(append(quoted, list[len(quoted):]...), ", ")
}

// code writes a name so that Markdown takes no part of it as markup, in a cell of a table too. HTML
// is the one form in which every character can stand.
func code(s string) string { return "<code>" + plain(s) + "</code>" }

// plain writes text so that neither HTML nor Markdown finds markup in it: names of people, links and
// emphasis included.
func plain(s string) string {
	var b strings.Builder
	for _, r := range Visible(s) {
		if strings.ContainsRune("<>&\"'|`*_[]~\\#@:", r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
