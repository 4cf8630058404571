package cmd

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph/diff"
	"github.com/amplint/amplint/report"
)

func (a *app) diffCommand() *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use:     "diff A B",
		Example: "  amplint diff model.onnx model_fp16.onnx\n  amplint diff old.onnx new.onnx --format json -o diff.json",
		Short:   "Compare the structure of two models",
		Long: "Lists the nodes that were added (+), removed (-) or changed (~), values and constants of another type,\n" +
			"and how far the numbers of constants differ. Nodes go by name, nameless ones by their first output.\n" +
			"Exit code 1 where the models differ. What they compute is compared by amplint verify.",
		Args: takes(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := report.Known(format); err != nil {
				return usagef("%w", err)
			}
			var r *diff.Result
			err := a.analysed(args[1], func() (err error) { r, err = analyze.Diff(args[0], args[1]); return err })
			if err != nil {
				return err
			}
			if !r.Same() {
				a.code = exitFindings
			}
			return a.toFile(out, func(w io.Writer) error { return report.Diff(w, format, args[0], args[1], r, a.reportOptions(out)) })
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	c.Flags().StringVarP(&out, "output", "o", "", "write the report to a `file` instead of stdout")
	return c
}
