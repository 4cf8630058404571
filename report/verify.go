package report

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/amplint/amplint/trace"
)

// Verify writes a comparison of two models.
func Verify(w io.Writer, format, a, b string, v *trace.Verified, opt Options) error {
	switch format {
	case "text":
		return verifyText(w, a, b, v, opt)
	case "json":
		return verifyJSON(w, a, b, v, opt)
	}
	return unknown(format)
}

// verifyFile is the JSON of a comparison, schema amplint.verify/1. An output is ok when no element
// lies further from that of a than atol + rtol times its magnitude, and infinities and NaN are in
// the same places.
type verifyFile struct {
	Schema  string       `json:"schema"`
	Tool    Tool         `json:"tool"`
	A       string       `json:"a"`
	B       string       `json:"b"`
	RTol    float64      `json:"rtol"`
	ATol    float64      `json:"atol"`
	Samples int          `json:"samples"`
	OK      bool         `json:"ok"`
	Outputs []verifyJRow `json:"outputs"`
	Values  []verifyJRow `json:"values,omitempty"`
}

type verifyJRow struct {
	Name       string `json:"name"`
	DType      string `json:"dtype"`
	Shape      []int  `json:"shape"`
	OK         bool   `json:"ok"`
	MaxAbs     Number `json:"max_abs"`
	MaxRel     Number `json:"max_rel"`
	MaxUlp     Number `json:"max_ulp"`
	Cosine     Number `json:"cosine"`
	Elements   int64  `json:"elements"`
	Outside    int64  `json:"outside"` // elements beyond the tolerance
	NonFiniteA int64  `json:"nonfinite_a"`
	NonFiniteB int64  `json:"nonfinite_b"`
	Problem    string `json:"problem,omitempty"` // why the two cannot be compared
}

func verifyJSON(w io.Writer, a, b string, v *trace.Verified, opt Options) error {
	f := verifyFile{Schema: "amplint.verify/1", Tool: Tool{"amplint", opt.Version}, A: a, B: b, RTol: v.Tolerance.Rel,
		ATol: v.Tolerance.Abs, Samples: v.Samples, OK: v.OK(), Outputs: verifyRows(v.Outputs), Values: verifyRows(v.Values)}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(f)
}

func verifyRows(list []*trace.Compared) []verifyJRow {
	rows := []verifyJRow{}
	for _, c := range list {
		d := &c.Diff
		rows = append(rows, verifyJRow{Name: c.Name, DType: c.Elem.String(), Shape: c.Dims, OK: c.OK(), MaxAbs: Number(d.MaxAbs),
			MaxRel: Number(d.MaxRel), MaxUlp: Number(d.MaxUlp), Cosine: Number(d.Cosine()), Elements: d.Elements, Outside: d.Outside,
			NonFiniteA: c.BadA, NonFiniteB: c.BadB, Problem: problem(c)})
	}
	return rows
}

func problem(c *trace.Compared) string {
	switch {
	case c.Missing:
		return "the second model has no such output"
	case c.New:
		return "the first model has no such output"
	case c.Diff.Shape:
		return "the shapes or types differ"
	}
	return ""
}

func verifyText(w io.Writer, a, b string, v *trace.Verified, opt Options) error {
	p := newPrinter(w, opt)
	p.f("%s against %s, %s, within %.5g + %.5g |a|\n", b, a, plural(v.Samples, "sample"), v.Tolerance.Abs, v.Tolerance.Rel)
	p.compared("output", v.Outputs)
	p.compared("value", v.Values)
	if v.OK() {
		p.f("the outputs agree\n")
	} else {
		p.f("the outputs differ\n")
	}
	return p.err
}

// compared prints a table of comparisons.
func (p *printer) compared(kind string, list []*trace.Compared) {
	if len(list) == 0 {
		return
	}
	tw := tabwriter.NewWriter(p.w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "%s\tok\tmax abs\tmax rel\tmax ulp\tcosine\toutside\tnot finite a\tnot finite b\n", kind)
	for _, c := range list {
		ok := "yes"
		if !c.OK() {
			ok = "no"
		}
		if text := problem(c); text != "" {
			fmt.Fprintf(tw, "%s\t%s\t%s\n", p.short(Visible(c.Name)), ok, text)
			continue
		}
		d := &c.Diff
		fmt.Fprintf(tw, "%s\t%s\t%.5g\t%.5g\t%.4g\t%.9g\t%d of %d\t%d\t%d\n", p.short(Visible(c.Name)), ok, d.MaxAbs, d.MaxRel, d.MaxUlp, d.Cosine(), d.Outside, d.Elements, c.BadA, c.BadB)
	}
	if err := tw.Flush(); p.err == nil {
		p.err = err
	}
}
