package cmd

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/report"
)

func (a *app) rangesCommand() *cobra.Command {
	var f analysisFlags
	var format, out, explain, rounding string
	c := &cobra.Command{
		Use: "ranges MODEL",
		Example: "  amplint ranges model.onnx --range input=-2.64,2.64\n" +
			"  amplint ranges model.onnx --data samples.npz --format json -o ranges.json\n" +
			"  amplint ranges model.onnx --explain /layer.3/Add_output_0\n" +
			"  amplint ranges model.onnx --rounding fp16",
		Short: "Bound every float value of a model",
		Args:  takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			opt, err := f.options(c)
			if err != nil {
				return err
			}
			if err := report.Known(format); err != nil {
				return usagef("%w", err)
			}
			if explain != "" {
				return a.chain(c, args[0], explain, format, out, opt)
			}
			if rounding != "" {
				return a.rounding(c, args[0], rounding, format, out, opt)
			}
			var r *analyze.Ranges
			err = a.analysed(args[0], func() (err error) { r, err = analyze.RangesOf(c.Context(), args[0], opt); return err })
			if err != nil {
				return err
			}
			a.notes(r.Path, r.Notes)
			return a.toFile(out, func(w io.Writer) error { return report.Ranges(w, format, r) })
		},
	}
	f.addInputs(c)
	c.Flags().StringVar(&f.effort, "effort", "quick", "off, quick or full: off takes cheaper, wider bounds")
	c.Flags().StringVar(&explain, "explain", "", "show how the bound of this `value` came to be, step by step with the factor of each; inside of branches, loops and functions by its key, as in outer/then_branch/inner")
	c.Flags().StringVar(&rounding, "rounding", "", "rank the nodes by what rounding to a `format` (fp16, bf16, ...) adds to the error of the outputs")
	c.MarkFlagsMutuallyExclusive("explain", "rounding")
	c.Flags().StringVar(&format, "format", "text", "text or json")
	c.Flags().StringVarP(&out, "output", "o", "", "write to a `file` instead of stdout")
	return c
}

// chain writes how the bound of one value came to be.
func (a *app) chain(c *cobra.Command, path, value, format, out string, opt analyze.Options) error {
	var r *analyze.Chain
	err := a.analysed(path, func() (err error) { r, err = analyze.Explain(c.Context(), path, value, opt); return err })
	if err != nil {
		return err
	}
	a.notes(r.Path, r.Notes)
	return a.toFile(out, func(w io.Writer) error { return report.Chain(w, format, r) })
}

// rounding writes which nodes' rounding to a format tells in the outputs.
func (a *app) rounding(c *cobra.Command, path, name, format, out string, opt analyze.Options) error {
	f, err := numfmt.Parse(name)
	if err != nil {
		return usagef("--rounding: %w", err)
	}
	var r *analyze.Rounding
	err = a.analysed(path, func() (err error) { r, err = analyze.RoundingOf(c.Context(), path, f, opt); return err })
	if err != nil {
		return err
	}
	a.notes(r.Path, r.Notes)
	return a.toFile(out, func(w io.Writer) error { return report.Rounding(w, format, r) })
}
