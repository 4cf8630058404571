package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/ort"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/samples"
	"github.com/amplint/amplint/trace"
)

// engineFlags choose what evaluates a model.
type engineFlags struct{ name, lib string }

func (f *engineFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.name, "engine", "go", "what evaluates the model: go, or ort: onnxruntime, with casts that round every result")
	c.Flags().StringVar(&f.lib, "ort-lib", "", "onnxruntime's library `FILE`; by default "+ort.EnvLib+", or what python has installed")
}

// check refuses what the engine cannot do. Sums are onnxruntime's own.
func (f *engineFlags) check(opt trace.Options) error {
	switch {
	case f.name == "go" && f.lib != "":
		return usagef("--ort-lib goes with --engine ort")
	case f.name == "go":
		return nil
	case f.name != "ort":
		return usagef("--engine: %q is none of go, ort", f.name)
	case opt.As != numfmt.Invalid && opt.As != numfmt.FP32 && opt.As != numfmt.FP16 && opt.As != numfmt.BF16:
		return usagef("--engine ort rounds to fp16 and bf16 only, not to %s", opt.As)
	case opt.Accumulate != refeval.FP32 || opt.Flush:
		return usagef("--engine ort adds in float32 and keeps subnormals; leave out --accumulate and --flush-subnormals, or --engine ort")
	}
	return nil
}

// evaluator returns what runs a model on a sample, and what to call when all are run.
func (f *engineFlags) evaluator(m *graph.Model, opt trace.Options) (run func(context.Context, *samples.Sample) ([]samples.Named, error), done func(), err error) {
	if f.name != "ort" {
		return func(ctx context.Context, s *samples.Sample) ([]samples.Named, error) {
			return trace.Run(ctx, m, s, opt)
		}, func() {}, nil
	}
	e, err := ort.Open(f.lib)
	if err != nil {
		return nil, nil, &failure{exitUsage, err}
	}
	r, err := trace.NewRuntime(e, m, opt)
	if err != nil {
		return nil, nil, err
	}
	return r.Run, r.Close, nil
}
