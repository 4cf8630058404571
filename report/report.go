// Package report writes what an analysis found: one file per format.
package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amplint/amplint/analyze"
)

// Options say how a report is written.
type Options struct {
	Version string // of the program
	Color   bool   // for a terminal
	Width   int    // of the terminal, 0 for none: lines are not broken

	ExitCode int               // that the program ends with
	FailOn   analyze.Threshold // from which on a finding is a failed test
	Roots    []Root            // map the paths that exporters wrote
	Remarks  []string          // on the run as a whole
}

// CheckFormats are the formats of [Check].
const CheckFormats = "text, json, sarif, junit, github, markdown, html"

// Check writes the reports of one or several models.
func Check(w io.Writer, format string, f *File, opt Options) error {
	switch format {
	case "text":
		return checkText(w, f.Models, opt)
	case "json":
		return checkJSON(w, f, opt)
	case "sarif":
		return checkSARIF(w, f, opt)
	case "junit":
		return checkJUnit(w, f, opt)
	case "github":
		return checkGitHub(w, f, opt)
	case "markdown":
		return checkMarkdown(w, f, opt)
	case "html":
		return checkHTML(w, f, opt)
	}
	return unknown(format)
}

// Ranges writes the bounds of the values of a model.
func Ranges(w io.Writer, format string, r *analyze.Ranges) error {
	switch format {
	case "text":
		return rangesText(w, r)
	case "json":
		return rangesJSON(w, r)
	}
	return unknown(format)
}

// Known tells of all reports but those of a check whether a format can be written, so that a misspelt one is refused before the work.
func Known(format string) error {
	switch format {
	case "text", "json":
		return nil
	}
	return unknown(format)
}

// KnownCheck tells whether a check can be written in a format.
func KnownCheck(format string) error {
	if slices.Contains(strings.Split(CheckFormats, ", "), format) {
		return nil
	}
	return fmt.Errorf("unknown format %q: want one of %s", format, CheckFormats)
}

func unknown(format string) error {
	return fmt.Errorf("unknown format %q: want one of text, json", format)
}

// Number is a float that JSON cannot always hold: infinities are the strings "inf" and "-inf",
// NaN is "nan".
type Number float64

// MarshalJSON writes the shortest decimal that reads back as the same number.
func (x Number) MarshalJSON() ([]byte, error) {
	f := float64(x)
	switch {
	case math.IsInf(f, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-inf"`), nil
	case f != f:
		return []byte(`"nan"`), nil
	}
	return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (x *Number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(string(bytes.Trim(b, `"`)), 64)
	*x = Number(f)
	return err
}

// printer keeps the first error of a run of prints.
type printer struct {
	w     io.Writer
	err   error
	color bool
	width int // 0 for lines of any length
}

func newPrinter(w io.Writer, opt Options) *printer {
	return &printer{w: w, color: opt.Color, width: opt.Width}
}

// verbatim is text that is printed as it is.
type verbatim string

// f prints. What a model says itself is made visible, so that its names cannot steer a terminal.
func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, Clean(args...)...)
	}
}
