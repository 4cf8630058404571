package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/report"
	"github.com/amplint/amplint/samples"
	"github.com/amplint/amplint/trace"
)

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	var by engineFlags
	var out, bundle string
	c := &cobra.Command{
		Use: "run MODEL",
		Example: "  amplint run model.onnx --data samples.npz --as fp16\n" +
			"  amplint run model.onnx --data test_data_set_0 -o outputs.npz",
		Short: "Run a model, rounding as the target does",
		Args:  takes(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if bundle != "" {
				return a.runBundle(c, args, bundle, out, by)
			}
			if len(args) == 0 {
				return usagef("run needs a model or --bundle")
			}
			opt, err := f.options()
			if err != nil {
				return err
			}
			return a.evaluated(args[0], func() error { return a.run(c.Context(), args[0], samplesAt(f.data), out, opt, by) })
		},
	}
	f.add(c)
	by.add(c)
	c.Flags().StringVar(&bundle, "bundle", "", "run what a bundle `FILE` of trace holds, as it was run then")
	c.Flags().StringVarP(&out, "output", "o", "", "write the outputs: `FILE`.npz, or a folder of output_i.pb")
	return c
}

// run evaluates a model on all samples, and writes nothing before the last is done.
func (a *app) run(ctx context.Context, path string, read reader, out string, opt trace.Options, by engineFlags) error {
	if err := by.check(opt); err != nil {
		return err
	}
	m, err := analyze.Open(path)
	if err != nil {
		return err
	}
	defer m.Close()
	list, err := read(m)
	if err != nil {
		return err
	}
	if strings.HasSuffix(out, ".npz") && len(list) > 1 {
		return usagef("-o %s: %d samples do not fit into one archive; name a folder", out, len(list))
	}
	step, done := a.progress("node")
	defer done()
	opt.Progress = step
	evaluate, release, err := by.evaluator(m, opt)
	if err != nil {
		return err
	}
	defer release()
	results := make([][]samples.Named, len(list))
	for i, s := range list {
		if results[i], err = evaluate(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	done()
	return a.writeOutputs(out, list, results)
}

// reader reads the samples that a model is run on.
type reader func(m *graph.Model) ([]*samples.Sample, error)

// samplesAt reads what --data names.
func samplesAt(path string) reader {
	return func(m *graph.Model) ([]*samples.Sample, error) {
		list, err := trace.Load(path, m)
		if err != nil {
			return nil, &analyze.DataError{Err: err}
		}
		return list, nil
	}
}

// samplesOf reads those of a bundle, under the name that they had.
func samplesOf(r *trace.Replay) reader {
	return func(m *graph.Model) ([]*samples.Sample, error) {
		list, err := samplesAt(r.Inputs)(m)
		for _, s := range list {
			s.Name = r.Manifest.Sample
		}
		return list, err
	}
}

// writeOutputs writes the outputs of each sample: into an archive, a folder (of folders, where
// there are several samples), or as a summary on stdout.
func (a *app) writeOutputs(out string, list []*samples.Sample, results [][]samples.Named) error {
	for i, r := range results {
		name := ""
		if len(list) > 1 {
			name = strings.TrimSuffix(filepath.Base(list[i].Name), ".npz")
		}
		var err error
		switch {
		case out == "":
			err = a.toFile("", func(w io.Writer) error { return report.Outputs(w, list[i].Name, r) })
		case strings.HasSuffix(out, ".npz"):
			err = a.toFile(out, func(w io.Writer) error { return samples.WriteNPZ(w, r) })
		default:
			err = a.writeFolder(filepath.Join(out, name), r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeFolder writes outputs as the standard's tests lie.
func (a *app) writeFolder(dir string, list []samples.Named) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for i, n := range list {
		b, err := samples.Encode(n)
		if err != nil {
			return fmt.Errorf("output %q: %w", n.Name, err)
		}
		path := filepath.Join(dir, "output_"+strconv.Itoa(i)+".pb")
		if err := a.toFile(path, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
			return err
		}
	}
	return nil
}

// runBundle runs the model of a bundle on its inputs.
func (a *app) runBundle(c *cobra.Command, args []string, path, out string, by engineFlags) error {
	if len(args) > 0 {
		return usagef("a bundle names its model itself")
	}
	return a.evaluated(path, func() error {
		r, err := trace.OpenBundle(path)
		if err != nil {
			return &failure{exitUsage, err}
		}
		opt, err := r.Options()
		if err == nil {
			err = a.run(c.Context(), r.Model, samplesOf(r), out, opt, by)
		}
		return errors.Join(err, r.Close())
	})
}
