package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/trace"
)

// Traced is a trace with what it was made of.
type Traced struct {
	Path       string
	As         string // the format, "fp32" for the types as stored
	Accumulate string
	Flush      bool
	Samples    []string
	Trace      *trace.Trace
	Show       func(v *trace.Value) bool // which values the text lists; nil for those that are off
}

// Trace writes a trace.
func Trace(w io.Writer, format string, t *Traced, opt Options) error {
	switch format {
	case "text":
		return traceText(w, t, opt)
	case "json":
		return traceJSON(w, t, opt)
	}
	return unknown(format)
}

// traceFile is the JSON of a trace, schema amplint.trace/1. Counts and extremes are over all passes
// through a value's graph and all samples; min and max are over the finite elements.
type traceFile struct {
	Schema     string          `json:"schema"`
	Tool       Tool            `json:"tool"`
	Model      string          `json:"model"`
	As         string          `json:"as"`
	Accumulate string          `json:"accumulate"`
	Flush      bool            `json:"flush_subnormals"`
	Samples    []string        `json:"samples"`
	Stopped    *stoppedJSON    `json:"stopped"` // the node that ended the run early, null for none
	First      firstsJSON      `json:"first"`
	Values     []traceValueRow `json:"values"`
}

// firstsJSON names the first value of each kind in the order of the graph, null for none: not
// finite, off by more than 2 % of the largest magnitude, turned to zero; each where FP32 is not.
type firstsJSON struct {
	NonFinite *firstJSON `json:"nonfinite"`
	Lossy     *firstJSON `json:"lossy"`
	Flush     *firstJSON `json:"flush"`
}

type stoppedJSON struct {
	Node  string `json:"node"`
	Op    string `json:"op"`
	Error string `json:"error"`
}

type firstJSON struct {
	Node   string `json:"node"`
	Op     string `json:"op"`
	Value  string `json:"value"`
	Sample int    `json:"sample"` // the place in samples
}

type traceValueRow struct {
	Name   string    `json:"name"`
	Path   []string  `json:"path"`
	DType  string    `json:"dtype"`
	Shape  []int     `json:"shape"`
	Node   string    `json:"node"` // its maker, "" for inputs and initializers
	Op     string    `json:"op"`
	Format string    `json:"format"` // that it is held in
	Passes int       `json:"passes"`
	Target statsJSON `json:"target"`
	FP32   statsJSON `json:"fp32"`
	Error  diffJSON  `json:"error"`
}

type statsJSON struct {
	Elements  int64  `json:"elements"`
	Min       Number `json:"min"`
	Max       Number `json:"max"`
	Tiny      Number `json:"least_nonzero"`
	Inf       int64  `json:"inf"`
	NaN       int64  `json:"nan"`
	Zero      int64  `json:"zero"`
	Subnormal int64  `json:"subnormal"`
}

type diffJSON struct {
	MaxAbs     Number `json:"max_abs"`
	MaxRel     Number `json:"max_rel"`
	MaxUlp     Number `json:"max_ulp"`
	Relative   Number `json:"max_abs_to_scale"`
	Overflowed int64  `json:"overflowed"`
	NaN        int64  `json:"nan"`
	Flushed    int64  `json:"flushed"`
}

func statsOf(s trace.Stats) statsJSON {
	return statsJSON{s.Elements, Number(s.Min), Number(s.Max), Number(s.Tiny), s.Inf, s.NaN, s.Zero, s.Subnormal}
}

func diffOf(d *trace.Diff) diffJSON {
	return diffJSON{Number(d.MaxAbs), Number(d.MaxRel), Number(d.MaxUlp), Number(d.Relative()), d.Overflowed, d.NaN, d.Flushed}
}

func firstOf(f *trace.First) *firstJSON {
	if f == nil {
		return nil
	}
	n := f.Value.Producer
	return &firstJSON{n.Key(), n.OpName(), f.Value.Key(), f.Sample}
}

func traceJSON(w io.Writer, t *Traced, opt Options) error {
	f := traceFile{Schema: "amplint.trace/1", Tool: Tool{"amplint", opt.Version}, Model: t.Path, As: t.As,
		Accumulate: t.Accumulate, Flush: t.Flush, Samples: t.Samples, Values: []traceValueRow{}}
	if s := t.Trace.Stopped; s != nil {
		f.Stopped = &stoppedJSON{s.Node.Key(), s.Node.OpName(), s.Err.Error()}
	}
	f.First = firstsJSON{firstOf(t.Trace.NonFinite), firstOf(t.Trace.Lossy), firstOf(t.Trace.Flush)}
	for _, v := range t.Trace.Values {
		r := traceValueRow{Name: v.Name, Path: append([]string{}, v.Graph.Path()...), DType: v.Elem.String(), Shape: v.Dims, Format: formatName(v),
			Passes: v.Passes, Target: statsOf(v.Target), FP32: statsOf(v.Reference), Error: diffOf(&v.Error)}
		if v.Producer != nil {
			r.Node, r.Op = v.Producer.Key(), v.Producer.OpName()
		}
		f.Values = append(f.Values, r)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(f)
}

// formatName names the format that a value is held in; types that numfmt does not know go by their
// own name.
func formatName(v *trace.Value) string {
	if v.Format == numfmt.Invalid {
		return v.Elem.String()
	}
	return v.Format.String()
}

func traceText(w io.Writer, t *Traced, opt Options) error {
	p := newPrinter(w, opt)
	p.f("%s as %s, sums in %s, %s\n", t.Path, t.As, t.Accumulate, plural(len(t.Samples), "sample"))
	p.first("not finite", t.Trace.NonFinite, t, notFinite)
	p.first("off by more than 2 %", t.Trace.Lossy, t, lossy)
	p.first("turned to zero", t.Trace.Flush, t, flushed)
	if s := t.Trace.Stopped; s != nil {
		p.f("stopped at %s (%s): %s\n", s.Node.Key(), s.Node.OpName(), s.Err)
	} else if t.Trace.First() == nil {
		p.f("nothing is lost against fp32\n")
	}
	p.values(t)
	return p.err
}

// first tells of the first value of a kind, and what its node was given.
func (p *printer) first(kind string, f *trace.First, t *Traced, tell func(v *trace.Value) string) {
	if f == nil {
		return
	}
	n := f.Value.Producer
	p.f("first %s: %s (%s): %s %s", kind, n.Key(), n.OpName(), f.Value.Key(), tell(f.Value))
	if len(t.Samples) > 1 {
		p.f(", in %s", t.Samples[f.Sample])
	}
	p.f("\n")
	for i, v := range n.Inputs {
		if x := lookup(t.Trace, v); x != nil && !slices.Contains(n.Inputs[:i], v) {
			p.f("    given %s in %s (fp32: %s)\n", x.Key(), span32(x.Target), span32(x.Reference))
		}
	}
}

func notFinite(v *trace.Value) string {
	e := v.Error
	return fmt.Sprintf("has %d of %d elements not finite, in fp32 it reaches %s", e.Overflowed+e.NaN, e.Elements, span32(v.Reference))
}

func lossy(v *trace.Value) string {
	return fmt.Sprintf("is off by %.5g, %.3g %% of its largest magnitude", v.Error.MaxAbs, 100*v.Error.Relative())
}

func flushed(v *trace.Value) string {
	return fmt.Sprintf("has %d of %d elements zero that are not in fp32, the least %.5g", v.Error.Flushed, v.Error.Elements, v.Reference.Tiny)
}

func lookup(t *trace.Trace, v *graph.Value) *trace.Value {
	for _, x := range t.Values {
		if x.Value == v {
			return x
		}
	}
	return nil
}

func span32(s trace.Stats) string {
	text := "[]"
	if s.Min <= s.Max {
		text = fmt.Sprintf("[%.5g, %.5g]", s.Min, s.Max)
	}
	if s.Inf > 0 {
		text += fmt.Sprintf(" and %d infinite", s.Inf)
	}
	if s.NaN > 0 {
		text += fmt.Sprintf(" and %d NaN", s.NaN)
	}
	return text
}

// values prints the table.
func (p *printer) values(t *Traced) {
	show := t.Show
	if show == nil {
		show = func(v *trace.Value) bool {
			e := v.Error
			return e.Overflowed+e.NaN+e.Flushed > 0 || e.Relative() > trace.Lossy || v.Output
		}
	}
	tw := tabwriter.NewWriter(p.w, 0, 8, 2, ' ', 0)
	head := false
	for _, v := range t.Trace.Values {
		if !show(v) {
			continue
		}
		if !head {
			fmt.Fprintln(tw, "\nvalue\tmaker\tformat\tmin\tmax\tleast\tinf\tnan\tzero\tflushed\tsubnormal\tfp32 min\tfp32 max\tmax abs\tmax rel\tmax ulp")
			head = true
		}
		op := "-"
		if v.Producer != nil {
			op = v.Producer.OpName()
		}
		s, r, e := v.Target, v.Reference, v.Error
		fmt.Fprintf(tw, "%s\t%s\t%s\t%.5g\t%.5g\t%.5g\t%d\t%d\t%d\t%d\t%d\t%.5g\t%.5g\t%.3g\t%.3g\t%.3g\n", p.short(Visible(v.Key())), Visible(op), formatName(v),
			s.Min, s.Max, s.Tiny, s.Inf, s.NaN, s.Zero, e.Flushed, s.Subnormal, r.Min, r.Max, e.MaxAbs, e.MaxRel, e.MaxUlp)
	}
	if err := tw.Flush(); p.err == nil {
		p.err = err
	}
}
