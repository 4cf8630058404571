package onnxtxt

import (
	"bufio"
	"io"
	"strconv"

	"github.com/amplint/amplint/graph"
)

// PrintOptions says how much of a model is written. The zero value writes all of it.
type PrintOptions struct {
	// MaxElements elides longer tensors, 0 none. An elided tensor keeps its type and name; in place
	// of the elements it has external data at the location "elided", with the least and the
	// greatest number for float types. Every parser reads that, but the elements are gone.
	MaxElements int64
	// Types also declares the types of inner values that the model does not declare, as far as
	// inference has found them.
	Types bool
	// Range tells what is known of a value, for the inputs that [PrintAround] makes. It may be nil.
	Range func(v *graph.Value) (lo, hi float64, ok bool)
}

// Print writes a model as text. Doc strings and the metadata of nodes, values and graphs have no
// place in the syntax and are left out, as are the names of tensors in attributes that are no
// identifiers.
func Print(w io.Writer, m *graph.Model, opt PrintOptions) error {
	p := newPrinter(w, opt)
	p.modelHeader(m, m.Opsets, m.Meta)
	p.graph(wholeGraph(m.Graph, opt), "")
	for _, f := range m.Functions {
		p.function(f)
	}
	return p.close()
}

// printer writes pieces of text; the first error stays.
type printer struct {
	w   *bufio.Writer
	opt PrintOptions
	err error
}

func newPrinter(w io.Writer, opt PrintOptions) *printer {
	return &printer{w: bufio.NewWriter(w), opt: opt}
}

func (p *printer) close() error {
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// s writes pieces one after another. The buffer keeps its first error for Flush.
func (p *printer) s(parts ...string) {
	for _, s := range parts {
		p.w.WriteString(s)
	}
}

// list writes items between separators.
func (p *printer) list(n int, open, sep, end string, item func(i int)) {
	p.s(open)
	for i := range n {
		if i > 0 {
			p.s(sep)
		}
		item(i)
	}
	p.s(end)
}

func (p *printer) modelHeader(m *graph.Model, opsets []graph.Opset, meta []graph.Entry) {
	p.s("<\n  ir_version: ", strconv.FormatInt(m.IRVersion, 10), ",\n  opset_import: ")
	p.opsets(opsets)
	for _, e := range []graph.Entry{{Key: "producer_name", Value: m.Producer}, {Key: "producer_version", Value: m.Version},
		{Key: "domain", Value: m.Domain}} {
		if e.Value != "" {
			p.s(",\n  ", e.Key, ": ", quote(e.Value))
		}
	}
	if m.ModelVersion != 0 {
		p.s(",\n  model_version: ", strconv.FormatInt(m.ModelVersion, 10))
	}
	if len(meta) > 0 {
		p.s(",\n  metadata_props: ")
		p.entries(meta)
	}
	p.s("\n>\n")
}

func (p *printer) opsets(list []graph.Opset) {
	p.list(len(list), "[", ", ", "]", func(i int) {
		p.s(quote(list[i].Domain), " : ", strconv.FormatInt(list[i].Version, 10))
	})
}

func (p *printer) entries(list []graph.Entry) {
	p.list(len(list), "[", ", ", "]", func(i int) { p.s(quote(list[i].Key), " : ", quote(list[i].Value)) })
}

func (p *printer) function(f *graph.Function) {
	p.s("<\n  domain: ", quote(f.Domain))
	if f.Overload != "" {
		p.s(",\n  overload: ", quote(f.Overload))
	}
	p.s(",\n  opset_import: ")
	p.opsets(f.Opsets)
	p.s("\n>\n", graphID(f.Name), " ")
	if n := len(f.Attrs); n+len(f.Defaults) > 0 {
		p.list(n+len(f.Defaults), "<", ", ", "> ", func(i int) {
			if i < n {
				p.s(ident(f.Attrs[i]))
				return
			}
			p.attr(f.Defaults[i-n], "  ")
		})
	}
	p.values(f.Body.Inputs)
	p.s(" => ")
	p.values(f.Body.Outputs)
	g := wholeGraph(f.Body, p.opt)
	p.declarations(g, "")
	p.nodes(g.nodes, "")
	p.s("\n")
}
