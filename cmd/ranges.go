package cmd

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/report"
)

func (a *app) rangesCommand() *cobra.Command {
	var f analysisFlags
	var format, out string
	c := &cobra.Command{
		Use: "ranges MODEL",
		Example: "  amplint ranges model.onnx --range input=-2.64,2.64\n" +
			"  amplint ranges model.onnx --data samples.npz --format json -o ranges.json",
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
	c.Flags().StringVar(&format, "format", "text", "text or json")
	c.Flags().StringVarP(&out, "output", "o", "", "write to a `file` instead of stdout")
	return c
}
