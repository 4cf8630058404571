package cmd

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/report"
	"github.com/amplint/amplint/trace"
)

func (a *app) verifyCommand() *cobra.Command {
	var f runFlags
	var opt trace.VerifyOptions
	var format, out string
	c := &cobra.Command{
		Use:     "verify A B",
		Example: "  amplint verify model.onnx model_fp16.onnx --data samples.npz --rtol 0.01",
		Short:   "Compare what two models compute",
		Long: "Runs both models on the same samples and compares their outputs: those of B, run as --as and\n" +
			"--accumulate say, with those of A in the types as stored. Exit code 1 beyond the tolerance.",
		Args: takes(2, 2),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := report.Known(format); err != nil {
				return usagef("%w", err)
			}
			if opt.B, err = f.options(); err != nil {
				return err
			}
			opt.A = trace.Options{MaxMemory: opt.B.MaxMemory, Threads: opt.B.Threads, Seed: opt.B.Seed}
			return a.evaluated(args[1], func() error {
				v, err := a.verify(c.Context(), args[0], args[1], f.data, opt)
				if err != nil {
					return err
				}
				if !v.OK() {
					a.code = exitFindings
				}
				return a.toFile(out, func(w io.Writer) error { return report.Verify(w, format, args[0], args[1], v, a.reportOptions(out)) })
			})
		},
	}
	f.add(c)
	c.Flags().Float64Var(&opt.Tolerance.Rel, "rtol", 1e-3, "tolerance relative to the magnitude in A")
	c.Flags().Float64Var(&opt.Tolerance.Abs, "atol", 1e-5, "absolute tolerance")
	c.Flags().BoolVar(&opt.Values, "values", false, "compare inner values of the same name too")
	c.Flags().StringVar(&format, "format", "text", "text or json")
	c.Flags().StringVarP(&out, "output", "o", "", "write the report to a `file` instead of stdout")
	return c
}

// verify compares two models on the samples, which are read by the inputs of the first.
func (a *app) verify(ctx context.Context, pathA, pathB, data string, opt trace.VerifyOptions) (*trace.Verified, error) {
	ma, err := analyze.Open(pathA)
	if err != nil {
		return nil, err
	}
	defer ma.Close()
	mb, err := analyze.Open(pathB)
	if err != nil {
		return nil, err
	}
	defer mb.Close()
	list, err := samplesAt(data)(ma)
	if err != nil {
		return nil, err
	}
	step, done := a.progress("node")
	defer done()
	opt.A.Progress, opt.B.Progress = step, step
	v, err := trace.Verify(ctx, ma, mb, list, opt)
	if err != nil {
		return nil, fmt.Errorf("comparing: %w", err)
	}
	return v, nil
}
