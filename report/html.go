package report

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/amplint/amplint/analyze"
)

// The page needs nothing from elsewhere: its style and its script stand in it, and its policy allows
// no other and no network at all.
//
//go:embed html/page.html html/style.css html/page.js
var assets embed.FS

// pageView is what the page is filled with.
type pageView struct {
	Title, Verdict, Version string
	Grade                   string // of the gravest finding, "clean" for none
	Policy                  string
	Style                   template.CSS
	Script                  template.JS
	Models                  []modelView
	Remarks                 []string
	Failures                []Failure
	Rules                   []ruleView
	Fix                     *fixView
	FilterAbove             bool // the filter stands above the models, else before the findings of the only one
	Heading                 string
}

// fixView is what a fix did.
type fixView struct {
	*analyze.Fixed
	Nodes, Edits     int
	Before, After    Summary
	BeforeMap        template.HTML
	AfterMap         template.HTML
	CastRows         []castRow
	MoreCasts        int
	CastBytes        string
	Applied          []findingView
	BeforeRanges     template.HTML
	TargetBefore     string
	DescribedEdits   []string
	UndescribedEdits int
}

// maxEdits is how many edits the page lists.
const maxEdits = 200

// checkHTML writes a check as one page that opens without a network.
func checkHTML(w io.Writer, file *File, opt Options) error {
	v := pageView{Title: "amplint report", Heading: "Low-precision report", Verdict: verdict(file), Failures: file.Failures, Remarks: opt.Remarks, Rules: ruleViews(file.Models), Grade: grade(file)}
	for i, m := range file.Models {
		v.Models = append(v.Models, opt.modelView(m, fmt.Sprintf("m%d", i+1)))
		v.FilterAbove = v.FilterAbove || len(m.Findings) > 0
	}
	if len(file.Models) == 1 {
		v.Models[0].Filter, v.FilterAbove = v.FilterAbove, false
		v.Title = file.Models[0].Path + " – amplint report"
	}
	return v.write(w, opt)
}

// FixedHTML writes what a fix did as one page: the model before and after, and what is left to say of
// the result.
func FixedHTML(w io.Writer, r *analyze.Fixed, opt Options) error {
	before, after := Of(r.Before), Of(r.After)
	after.Path = "result"
	if r.Out != "" {
		after.Path = r.Out
	}
	s := r.Summary
	x := &fixView{Fixed: r, Nodes: s.Low + s.FP32, Edits: len(r.Edits), Before: before.Summary, After: after.Summary, TargetBefore: targetName(before)}
	for i, f := range r.Applied {
		j := findingOf(f)
		x.Applied = append(x.Applied, opt.findingView(before, &j, fmt.Sprintf("fixed-f%d", i+1)))
	}
	for i, e := range r.Edits {
		if i == maxEdits {
			x.UndescribedEdits = len(r.Edits) - maxEdits
			break
		}
		x.DescribedEdits = append(x.DescribedEdits, e.Describe())
	}
	if b, a := r.Before.Profile, r.After.Profile; b != nil && a != nil {
		x.BeforeMap, x.AfterMap = precisionMap(b, "before"), precisionMap(a, "after")
		x.CastRows, x.CastBytes = castRows(b, a)
		if n := len(x.CastRows) - maxCasts; n > 0 {
			x.CastRows, x.MoreCasts = x.CastRows[:maxCasts], n
		}
		if len(b.Values) > 0 {
			x.BeforeRanges = rangeChart(b)
		}
	}
	result := &File{Models: []*Model{after}}
	v := pageView{Title: r.Path + " – amplint fix", Heading: "Precision fix of " + Visible(r.Path), Verdict: fixVerdict(r), Rules: ruleViews([]*Model{before, after}), Fix: x, Grade: grade(result),
		Models: []modelView{opt.modelView(after, "m1")}, FilterAbove: len(after.Findings)+len(r.Applied) > 0}
	if r.Refused != "" {
		v.Grade = "error"
	}
	return v.write(w, opt)
}

func fixVerdict(r *analyze.Fixed) string {
	switch {
	case r.Refused != "":
		return "refused, nothing was written: " + r.Refused
	case !r.Summary.Changed:
		return "nothing to change"
	}
	return fmt.Sprintf("%s fixed, %s added", plural(len(r.Applied), "finding"), plural(r.Summary.Casts, "cast"))
}

// grade returns the gravest severity of a report.
func grade(file *File) string {
	g := "clean"
	if len(file.Failures) > 0 {
		return "error"
	}
	for _, m := range file.Models {
		switch s := m.Summary; {
		case s.Errors > 0:
			return "error"
		case s.Warnings > 0:
			g = "warning"
		case s.Notes > 0 && g == "clean":
			g = "note"
		}
	}
	return g
}

// write fills in the page.
func (v *pageView) write(w io.Writer, opt Options) error {
	style, err := assets.ReadFile("html/style.css")
	if err != nil {
		return err
	}
	script, err := assets.ReadFile("html/page.js")
	if err != nil {
		return err
	}
	v.Version, v.Style, v.Script = opt.Version, template.CSS(style), template.JS(script)
	v.Policy = fmt.Sprintf("default-src 'none'; img-src data:; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script))
	t, err := template.New("page.html").Funcs(template.FuncMap{"visible": Visible}).ParseFS(assets, "html/page.html")
	if err != nil {
		return err
	}
	return t.Execute(w, v)
}

// hash is how a policy names a text that it allows.
func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
