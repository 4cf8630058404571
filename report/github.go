package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// shownBySeverity is how many annotations of a level GitHub shows for one step; it drops the others
// without a word.
const shownBySeverity = 10

// annotation is one line that GitHub shows at a line of a file.
type annotation struct {
	level, title, text string
	at                 spot
	plain              string // what is printed where GitHub would not show it
}

// checkGitHub writes the workflow commands of GitHub Actions: the gravest findings as annotations,
// as many as are shown, and all others as lines of the log.
func checkGitHub(w io.Writer, file *File, opt Options) error {
	p := &printer{w: w}
	list := annotations(file, &opt)
	shown := map[string]int{}
	var rest []annotation
	for _, a := range list {
		if shown[a.level]++; shown[a.level] > shownBySeverity {
			rest = append(rest, a)
			continue
		}
		p.f("::%s file=%s,line=%d,title=%s::%s\n", a.level, property(a.at.File), a.at.Line, property(a.title), escaped(a.text))
	}
	if len(rest) > 0 {
		p.f("%s without an annotation, since GitHub shows %d of a level for each step:\n", plural(len(rest), "more finding"), shownBySeverity)
	}
	for _, a := range rest {
		p.f("  %s\n", a.plain)
	}
	for _, m := range file.Models {
		p.summary(m)
	}
	return p.err
}

// annotations returns all there is to show, the gravest first and else in the order of the report.
func annotations(file *File, opt *Options) []annotation {
	var list []annotation
	for _, f := range file.Failures {
		text := f.Path + " could not be analysed: " + f.Error
		list = append(list, annotation{"error", "amplint: unreadable model", text, spot{filepath.ToSlash(f.Path), 1}, "error: " + Visible(firstLine(text))})
	}
	var found [3][]annotation
	for _, m := range file.Models {
		for i := range m.Findings {
			f := &m.Findings[i]
			at, inSource := opt.at(m, f)
			text := told(f)
			if inSource {
				text += "\nmodel: " + m.Path
			}
			l := f.Severity.level()
			found[l] = append(found[l], annotation{level(f.Severity), "amplint: " + f.Rule, text, at,
				Visible(fmt.Sprintf("%s: %s: %s%s [%s]", m.Path, f.Severity, place(f), f.Message, f.Rule))})
		}
	}
	slices.Reverse(found[:])
	return append(list, slices.Concat(found[:]...)...)
}

// level is GitHub's name of a severity.
func level(s Severity) string {
	if s == "note" {
		return "notice"
	}
	return string(s)
}

// escaped writes a message so that it ends where the line does.
func escaped(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property writes a property of a command: commas and colons end it too.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escaped(s))
}
