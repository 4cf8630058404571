package report

import (
	"encoding/json"
	"io"

	"github.com/amplint/amplint/analyze"
)

// Fixed writes what a fix did and what is left to say of its result.
func Fixed(w io.Writer, format string, r *analyze.Fixed, opt Options) error {
	switch format {
	case "text":
		return fixedText(w, r, opt)
	case "json":
		return fixedJSON(w, r, opt)
	}
	return unknown(format)
}

// fixFile is the JSON of a fix.
type fixFile struct {
	Schema     string    `json:"schema"`
	Tool       Tool      `json:"tool"`
	Input      string    `json:"input"`
	Output     string    `json:"output"`
	Strategy   string    `json:"strategy"`
	Changed    bool      `json:"changed"`
	Refused    string    `json:"refused"` // why nothing was written
	Hopeless   []string  `json:"not_repairable,omitempty"`
	Low        int       `json:"low_nodes"`
	FP32       int       `json:"fp32_nodes"`
	Casts      int       `json:"casts_added"`
	Removed    int       `json:"casts_removed"`
	Edits      []Fix     `json:"edits"`
	Applied    []Finding `json:"fixed"`
	Result     *Model    `json:"result"`
	InputCheck Summary   `json:"input_summary"`
	Nodes      []fixNode `json:"nodes,omitempty"` // of a dry run
	Diff       *diffFile `json:"diff,omitempty"`  // of a dry run
}

// fixNode is what was decided for a node: the type of its first float result.
type fixNode struct {
	Key    string `json:"key"`
	Op     string `json:"op"`
	Value  string `json:"value"`
	Before string `json:"before"`
	After  string `json:"after"`
	Why    string `json:"why,omitempty"` // it is in FP32
}

func fixedJSON(w io.Writer, r *analyze.Fixed, opt Options) error {
	s := r.Summary
	f := fixFile{Schema: "amplint.fix/1", Tool: Tool{"amplint", opt.Version}, Input: r.Path, Output: r.Out, Strategy: r.Strategy,
		Changed: s.Changed, Refused: r.Refused, Hopeless: r.Hopeless, Low: s.Low, FP32: s.FP32, Casts: s.Casts, Removed: s.Removed,
		Edits: []Fix{}, Applied: []Finding{}, Result: Of(r.After), InputCheck: summaryOf(r.Before.Summary)}
	for _, e := range r.Edits {
		f.Edits = append(f.Edits, fixOf(e))
	}
	for _, x := range r.Applied {
		f.Applied = append(f.Applied, findingOf(x))
	}
	if r.Diff != nil {
		f.Diff = modelDiff(r.Path, r.Out, r.Diff, opt)
		for _, x := range s.Formats {
			f.Nodes = append(f.Nodes, fixNode{x.Key, x.Op, x.Value, x.Before.String(), x.After.String(), x.Why})
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(f)
}

func fixedText(w io.Writer, r *analyze.Fixed, opt Options) error {
	p := newPrinter(w, opt)
	for _, f := range r.Applied {
		x := findingOf(f)
		p.finding("fixed: ", &x)
	}
	if r.Refused != "" {
		for _, f := range r.After.Findings {
			x := findingOf(f)
			p.finding("", &x)
		}
	}
	if r.Diff != nil {
		p.plan(r)
	}
	s := r.Summary
	switch {
	case !s.Changed:
		p.f("%s: nothing to change\n", r.Path)
	default:
		p.f("%s: %d of %d nodes with float results are low, %s added, %d removed, %s\n",
			r.Path, s.Low, s.Low+s.FP32, plural(s.Casts, "cast"), s.Removed, plural(len(r.Edits), "edit"))
	}
	after := Of(r.After)
	after.Path = "the result"
	p.summary(after)
	return p.err
}
