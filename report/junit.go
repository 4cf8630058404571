package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/amplint/amplint/rules"
)

// The types of JUnit's XML, as test reports of CI systems read it.

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"` // some readers refuse a suite without; reports do not depend on the clock
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string       `xml:"name,attr"`
	Class     string       `xml:"classname,attr"`
	Time      string       `xml:"time,attr"`
	File      string       `xml:"file,attr,omitempty"`
	Line      int          `xml:"line,attr,omitempty"`
	Failure   *junitResult `xml:"failure"`
	Error     *junitResult `xml:"error"`
	Skipped   *junitResult `xml:"skipped"`
	SystemOut string       `xml:"system-out,omitempty"`
}

type junitResult struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// checkJUnit writes a suite for each model and in it a test for each rule, so that a test keeps its
// name from run to run whether it passes or not. It fails for findings at or above the threshold;
// milder ones stand in its output.
func checkJUnit(w io.Writer, file *File, opt Options) error {
	s := &junitSuites{Name: "amplint"}
	for _, m := range file.Models {
		s.add(suiteOf(m, &opt))
	}
	for _, f := range file.Failures {
		s.add(junitSuite{Name: f.Path, Time: "0", Cases: []junitCase{{Name: "analysis", Class: f.Path, Time: "0",
			Error: &junitResult{Message: firstLine(f.Error), Type: "unreadable-model", Text: f.Error}}}})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// add counts the tests of a suite and adds it.
func (s *junitSuites) add(u junitSuite) {
	u.Tests = len(u.Cases)
	for _, c := range u.Cases {
		switch {
		case c.Failure != nil:
			u.Failures++
		case c.Error != nil:
			u.Errors++
		case c.Skipped != nil:
			u.Skipped++
		}
	}
	s.Tests += u.Tests
	s.Failures += u.Failures
	s.Errors += u.Errors
	s.Skipped += u.Skipped
	s.Suites = append(s.Suites, u)
}

func suiteOf(m *Model, opt *Options) junitSuite {
	u := junitSuite{Name: m.Path, Time: "0"}
	for _, name := range ruleNames(m) {
		u.Cases = append(u.Cases, caseOf(m, name, opt))
	}
	return u
}

// ruleNames returns all rules, and those of the report that this version does not know.
func ruleNames(m *Model) []string {
	var list []string
	for _, r := range rules.All() {
		list = append(list, r.Name)
	}
	for _, f := range m.Findings {
		if !slices.Contains(list, f.Rule) {
			list = append(list, f.Rule)
		}
	}
	return list
}

func caseOf(m *Model, rule string, opt *Options) junitCase {
	c := junitCase{Name: rule, Class: m.Path, Time: "0"}
	var failed, mild []string
	for i := range m.Findings {
		f := &m.Findings[i]
		switch text := string(f.Severity) + ": " + told(f); {
		case f.Rule != rule:
		case !opt.FailOn.Reached(f.Severity.level()):
			mild = append(mild, text)
		default:
			if failed == nil {
				at, _ := opt.at(m, f)
				c.File, c.Line = at.File, at.Line
			}
			failed = append(failed, text)
		}
	}
	if len(failed) > 0 {
		c.Failure = &junitResult{Message: headline(failed), Type: rule, Text: strings.Join(failed, "\n\n")}
	} else if why := suppressed(m, rule); len(why) > 0 && len(mild) == 0 {
		c.Skipped = &junitResult{Message: strings.Join(why, "; ")}
	}
	c.SystemOut = strings.Join(mild, "\n\n")
	return c
}

func headline(list []string) string {
	if len(list) == 1 {
		return firstLine(list[0])
	}
	return fmt.Sprintf("%s (and %d more)", firstLine(list[0]), len(list)-1)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// suppressed tells why findings of a rule are suppressed.
func suppressed(m *Model, rule string) []string {
	var list []string
	for i := range m.Suppressed {
		if x := &m.Suppressed[i]; x.Finding.Rule == rule {
			list = append(list, justification(x))
		}
	}
	return slices.Compact(list)
}
