package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/report"
	"github.com/amplint/amplint/samples"
	"github.com/amplint/amplint/trace"
)

// traceFlags are the flags of trace.
type traceFlags struct {
	runFlags
	format, out, bundle, replay, save string
	values                            []string
	all                               bool
}

func (a *app) traceCommand() *cobra.Command {
	f := &traceFlags{}
	c := &cobra.Command{
		Use: "trace MODEL",
		Example: "  amplint trace model.onnx --data samples.npz --as fp16\n" +
			"  amplint trace model.onnx --data samples.npz --as fp16 --bundle failure.zip\n" +
			"  amplint trace --replay failure.zip",
		Short: "Run a model beside its FP32 form and show where they part",
		Args:  takes(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := report.Known(f.format); err != nil {
				return usagef("%w", err)
			}
			if f.replay != "" {
				return a.traceBundle(c.Context(), args, f)
			}
			if len(args) == 0 {
				return usagef("trace needs a model or --replay")
			}
			opt, err := f.options()
			if err != nil {
				return err
			}
			return a.evaluated(args[0], func() error {
				_, err := a.trace(c.Context(), args[0], args[0], samplesAt(f.data), opt, f)
				return err
			})
		},
	}
	f.add(c)
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the report to a `file` instead of stdout")
	c.Flags().StringVar(&f.bundle, "bundle", "", "keep the inputs that trigger the first failure, and what led to it, in a `FILE` that replays")
	c.Flags().StringVar(&f.replay, "replay", "", "trace what a bundle `FILE` holds; exit code 1 if the failure is gone")
	c.Flags().StringVar(&f.save, "save", "", "write the values that --value names to `FILE`.npz: NAME, and NAME@fp32 beside it")
	c.Flags().StringArrayVar(&f.values, "value", nil, "list (and --save) the value of this `NAME` only; may be repeated")
	c.Flags().BoolVar(&f.all, "all", false, "list all values, not only those that are off")
	return c
}

// trace runs a model on all samples and reports, under the name given.
func (a *app) trace(ctx context.Context, name, path string, read reader, opt trace.Options, f *traceFlags) (*trace.Trace, error) {
	m, err := analyze.Open(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	list, err := read(m)
	if err != nil {
		return nil, err
	}
	if err := f.check(m); err != nil {
		return nil, err
	}
	step, done := a.progress("node")
	defer done()
	opt.Progress = step
	t, err := trace.Of(ctx, m, list, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	done()
	r := f.traced(name, list, t)
	if err := f.keep(ctx, a, m, list, opt, t, r); err != nil {
		return nil, err
	}
	if t.Stopped != nil {
		a.code = exitModel
	}
	return t, a.toFile(f.out, func(w io.Writer) error { return report.Trace(w, f.format, r, a.reportOptions(f.out)) })
}

// check refuses names that the model has not.
func (f *traceFlags) check(m *graph.Model) error {
	if f.save != "" && !strings.HasSuffix(f.save, ".npz") {
		return usagef("--save %s: the name must end in .npz", f.save)
	}
	known := map[string]bool{}
	for g := range m.Graphs() {
		for _, v := range g.Values {
			known[v.Key()] = true
		}
	}
	for _, name := range f.values {
		if !known[name] {
			return usagef("--value: %q is no value of %s", name, m.Path)
		}
	}
	return nil
}

func (f *traceFlags) traced(path string, list []*samples.Sample, t *trace.Trace) *report.Traced {
	r := &report.Traced{Path: path, As: f.as, Accumulate: f.accumulate, Flush: f.flush, Trace: t, Samples: []string{}}
	for _, s := range list {
		r.Samples = append(r.Samples, s.Name)
	}
	switch {
	case len(f.values) > 0:
		r.Show = func(v *trace.Value) bool { return slices.Contains(f.values, v.Key()) }
	case f.all:
		r.Show = func(*trace.Value) bool { return true }
	}
	return r
}

// keep writes what --save and --bundle ask for. Both are of the sample with the first failure, the
// first sample where nothing failed.
func (f *traceFlags) keep(ctx context.Context, a *app, m *graph.Model, list []*samples.Sample, opt trace.Options, t *trace.Trace, r *report.Traced) error {
	at := 0
	if first := t.First(); first != nil {
		at = first.Sample
	}
	if f.save != "" {
		wanted := func(v *graph.Value) bool {
			return slices.Contains(f.values, v.Key()) || len(f.values) == 0 && v.Output && v.Graph.Kind == graph.MainGraph
		}
		values, err := trace.Keep(ctx, m, list[at], opt, wanted)
		if err == nil {
			err = a.toFile(f.save, func(w io.Writer) error { return samples.WriteNPZ(w, values) })
		}
		if err != nil {
			return err
		}
	}
	if f.bundle == "" {
		return nil
	}
	var text bytes.Buffer
	if err := report.Trace(&text, "json", r, a.reportOptions(f.bundle)); err != nil {
		return err
	}
	values, err := trace.LedTo(ctx, m, list[at], opt, t)
	if err != nil {
		return err
	}
	b := trace.Bundle{Tool: Version, Model: m, Sample: list[at], Options: opt, Trace: t, Values: values, Report: text.Bytes()}
	return a.toFile(f.bundle, b.Write)
}

// traceBundle traces what a bundle holds, and tells whether it still fails where it did.
func (a *app) traceBundle(ctx context.Context, args []string, f *traceFlags) error {
	if len(args) > 0 {
		return usagef("a bundle names its model itself")
	}
	return a.evaluated(f.replay, func() error {
		r, err := trace.OpenBundle(f.replay)
		if err != nil {
			return &failure{exitUsage, err}
		}
		defer r.Close()
		opt, err := r.Options()
		if err != nil {
			return &failure{exitUsage, err}
		}
		f.as, f.accumulate, f.flush = r.Manifest.Run.As, r.Manifest.Run.Accumulate, opt.Flush
		if opt.As == numfmt.FP32 {
			opt.As = numfmt.Invalid
		}
		t, err := a.trace(ctx, r.Manifest.Model.Path, r.Model, samplesOf(r), opt, f)
		if err != nil {
			return err
		}
		a.replayed(r.Manifest, t)
		return nil
	})
}

// replayed compares the first failure with that of the bundle.
func (a *app) replayed(m trace.Manifest, t *trace.Trace) {
	now := ""
	if f := t.First(); f != nil {
		now = f.Value.Producer.Key()
	}
	switch {
	case now == m.Node && now == "":
		fmt.Fprintf(a.err, "amplint: replayed: nothing fails, as in the bundle\n")
	case now == m.Node:
		fmt.Fprintf(a.err, "amplint: replayed: %s fails first, as in the bundle\n", now)
	default:
		a.code = exitFindings
		fmt.Fprintf(a.err, "amplint: not replayed: the bundle has %q fail first, now it is %q\n", m.Node, now)
	}
}
