package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/report"
)

func (a *app) dumpCommand() *cobra.Command {
	o := &dumpOptions{}
	var f analysisFlags
	c := &cobra.Command{
		Use: "dump MODEL",
		Example: "  amplint dump --summary model.onnx\n" +
			"  amplint dump --around /layer/MatMul --depth 3 model.onnx",
		Short: "Show what a model holds, as text that can be read again",
		Args:  takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			opt, err := f.options(c)
			if err != nil {
				return err
			}
			return a.analysed(args[0], func() error { return a.dump(c.Context(), args[0], o, opt) })
		},
	}
	f.addInputs(c)
	o.flags(c)
	return c
}

func (a *app) dump(ctx context.Context, path string, o *dumpOptions, opt analyze.Options) error {
	switch {
	case o.summary:
		return a.dumpSummary(path, o.format)
	case o.around != "":
		find := func(m *graph.Model) (*graph.Node, error) { return findNode(m, o.around) }
		return analyze.Excerpt(ctx, a.out, path, find, o.depth, o.max, opt)
	}
	return a.dumpText(path, o)
}

func (a *app) dumpSummary(path, format string) error {
	m, err := analyze.Open(path)
	if err != nil {
		return err
	}
	defer m.Close()
	s := summarize(m)
	if format == "json" {
		return json.NewEncoder(a.out).Encode(s)
	}
	return s.write(a.out)
}

// summary is what dump --summary says, and its JSON.
type summary struct {
	Schema       string        `json:"schema"`
	Model        string        `json:"model"`
	IRVersion    int64         `json:"ir_version"`
	Producer     string        `json:"producer"`
	Version      string        `json:"producer_version"`
	Opsets       []opset       `json:"opsets"`
	Nodes        int           `json:"nodes"`
	Operators    []opCount     `json:"operators"`
	Functions    int           `json:"functions"`
	Initializers int           `json:"initializers"`
	Bytes        int64         `json:"initializer_bytes"`
	Inputs       []declaration `json:"inputs"`
	Outputs      []declaration `json:"outputs"`
	Notes        []string      `json:"notes,omitempty"`
}

type opset struct {
	Domain  string `json:"domain"`
	Version int64  `json:"version"`
}

type opCount struct {
	Op    string `json:"op"`
	Count int    `json:"count"`
}

type declaration struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

func summarize(m *graph.Model) *summary {
	s := &summary{Schema: "amplint.dump/1", Model: m.Path, IRVersion: m.IRVersion, Producer: m.Producer,
		Version: m.Version, Functions: len(m.Functions), Notes: m.Notes, Inputs: []declaration{}, Outputs: declarations(m.Graph.Outputs)}
	for _, o := range m.Opsets {
		s.Opsets = append(s.Opsets, opset(o))
	}
	for _, v := range m.Graph.Inputs {
		if v.Init == nil && v.Sparse == nil { // IR below 4 lists initializers among the inputs
			s.Inputs = append(s.Inputs, declaration{v.Name, v.Type.String()})
		}
	}
	counts := map[string]int{}
	for g := range m.Graphs() {
		if g.Kind != graph.CallGraph { // a function's initializers and nodes count at its call only
			s.countInits(g)
		}
		for _, n := range g.Nodes {
			counts[n.OpName()]++
		}
		s.Nodes += len(g.Nodes)
	}
	s.Operators = ranked(counts)
	return s
}

func declarations(values []*graph.Value) []declaration {
	list := make([]declaration, 0, len(values))
	for _, v := range values {
		list = append(list, declaration{v.Name, v.Type.String()})
	}
	return list
}

func (s *summary) countInits(g *graph.Graph) {
	for _, v := range g.Inits() {
		s.Initializers++
		s.Bytes += v.Init.RawLen()
	}
}

// ranked lists the operators by falling count, then by name.
func ranked(counts map[string]int) []opCount {
	list := make([]opCount, 0, len(counts))
	for _, op := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, opCount{op, counts[op]})
	}
	slices.SortStableFunc(list, func(a, b opCount) int { return cmp.Compare(b.Count, a.Count) })
	return list
}

func (s *summary) write(w io.Writer) error {
	p := &printer{w: w}
	p.f("model         %s\n", s.Model)
	p.f("ir version    %d\n", s.IRVersion)
	if s.Producer != "" {
		p.f("producer      %s %s\n", s.Producer, s.Version)
	}
	for _, o := range s.Opsets {
		p.f("opset         %s %d\n", cmp.Or(o.Domain, "ai.onnx"), o.Version)
	}
	p.f("initializers  %d, %d bytes\n", s.Initializers, s.Bytes)
	if s.Functions > 0 {
		p.f("functions     %d\n", s.Functions)
	}
	for _, d := range s.Inputs {
		p.f("input         %s %s\n", d.Name, d.Type)
	}
	for _, d := range s.Outputs {
		p.f("output        %s %s\n", d.Name, d.Type)
	}
	p.f("nodes         %d\n", s.Nodes)
	for _, o := range s.Operators {
		p.f("%8d  %s\n", o.Count, o.Op)
	}
	for _, n := range s.Notes {
		p.f("note          %s\n", n)
	}
	return p.err
}

// printer keeps the first error of a run of prints.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) f(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, report.Clean(args...)...)
	}
}
