package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/amplint/amplint/graph/diff"
)

// Diff writes how two models differ.
func Diff(w io.Writer, format, a, b string, r *diff.Result, opt Options) error {
	switch format {
	case "text":
		p := &printer{w: w}
		p.diff(r)
		if r.Same() {
			p.f("%s and %s are alike\n", a, b)
		}
		return p.err
	case "json":
		return writeDiff(w, a, b, r, opt)
	}
	return unknown(format)
}

// diff prints a line for each thing that differs, led by + - or ~ for added, removed and changed.
func (p *printer) diff(r *diff.Result) {
	p.types("", r.Opsets)
	p.types("input ", r.Inputs)
	p.types("output ", r.Outputs)
	for _, n := range r.Nodes {
		p.f("%s %s (%s)\n", sign(n.Change), n.Key, n.Op)
		for _, d := range n.Details {
			p.f("    %s\n", d)
		}
	}
	p.types("value ", r.Types)
	for _, c := range r.Consts {
		p.f("%s constant %s: %s\n", sign(c.Change), c.Name, constText(c))
	}
	if !r.Same() {
		p.f("%s, %d before\n", plural(r.CastsAfter, "cast"), r.CastsBefore)
	}
}

func (p *printer) types(what string, list []diff.Type) {
	for _, t := range list {
		switch {
		case t.Before == "":
			p.f("+ %s%s: %s\n", what, t.Name, t.After)
		case t.After == "":
			p.f("- %s%s: %s\n", what, t.Name, t.Before)
		default:
			p.f("~ %s%s: %s is now %s\n", what, t.Name, t.Before, t.After)
		}
	}
}

func sign(c diff.Change) string { return [...]string{" ", "+", "-", "~"}[c] }

func constText(c diff.Const) string {
	switch {
	case c.Change == diff.Added:
		return c.After
	case c.Change == diff.Removed:
		return c.Before
	}
	text := c.Before
	if c.After != c.Before {
		text += " is now " + c.After
	}
	if c.Differing == 0 {
		return text + ", the same numbers"
	}
	text += fmt.Sprintf(", %d of %s differ by up to %.3g", c.Differing, plural(int(c.Elements), "element"), c.Largest)
	if c.Lost > 0 {
		text += fmt.Sprintf(", %d became 0 or not finite", c.Lost)
	}
	return text
}

// diffFile is the JSON of a comparison, schema amplint.diff/1.
type diffFile struct {
	Schema      string          `json:"schema"`
	Tool        Tool            `json:"tool"`
	A           string          `json:"a"`
	B           string          `json:"b"`
	Same        bool            `json:"same"`
	CastsBefore int             `json:"casts_before"`
	CastsAfter  int             `json:"casts_after"`
	Opsets      []diffTypeJSON  `json:"opsets"`
	Inputs      []diffTypeJSON  `json:"inputs"`
	Outputs     []diffTypeJSON  `json:"outputs"`
	Nodes       []diffNodeJSON  `json:"nodes"`
	Values      []diffTypeJSON  `json:"values"`
	Constants   []diffConstJSON `json:"constants"`
}

type diffTypeJSON struct {
	Name   string `json:"name"`
	Before string `json:"before"`
	After  string `json:"after"`
}

type diffNodeJSON struct {
	Change  string   `json:"change"`
	Key     string   `json:"key"`
	Op      string   `json:"op"`
	Details []string `json:"details,omitempty"`
}

type diffConstJSON struct {
	Change    string `json:"change"`
	Name      string `json:"name"`
	Before    string `json:"before"`
	After     string `json:"after"`
	Elements  int64  `json:"elements"`
	Differing int64  `json:"differing"`
	Lost      int64  `json:"lost"`
	Largest   Number `json:"largest"`
}

func writeDiff(w io.Writer, a, b string, r *diff.Result, opt Options) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(modelDiff(a, b, r, opt))
}

func modelDiff(a, b string, r *diff.Result, opt Options) *diffFile {
	f := &diffFile{Schema: "amplint.diff/1", Tool: Tool{"amplint", opt.Version}, A: a, B: b, Same: r.Same(), CastsBefore: r.CastsBefore,
		CastsAfter: r.CastsAfter, Opsets: typeRows(r.Opsets), Inputs: typeRows(r.Inputs), Outputs: typeRows(r.Outputs),
		Values: typeRows(r.Types), Nodes: []diffNodeJSON{}, Constants: []diffConstJSON{}}
	for _, n := range r.Nodes {
		f.Nodes = append(f.Nodes, diffNodeJSON{n.Change.String(), n.Key, n.Op, n.Details})
	}
	for _, c := range r.Consts {
		f.Constants = append(f.Constants, diffConstJSON{c.Change.String(), c.Name, c.Before, c.After, c.Elements, c.Differing, c.Lost, Number(c.Largest)})
	}
	return f
}

func typeRows(list []diff.Type) []diffTypeJSON {
	rows := []diffTypeJSON{}
	for _, t := range list {
		rows = append(rows, diffTypeJSON(t))
	}
	return rows
}
