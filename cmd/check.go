package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/report"
)

func (a *app) checkCommand() *cobra.Command {
	var f analysisFlags
	var x reportFlags
	var b batchFlags
	var dir string
	c := &cobra.Command{
		Use: "check MODEL...",
		Example: "  amplint check model.onnx\n" +
			"  amplint check model.onnx --format sarif -o amplint.sarif --source-root /build=.\n" +
			"  amplint check model.onnx --target bf16 --range input=-2.64,2.64\n" +
			"  amplint check model.onnx --range x=-8,8 --save-witness inputs\n" +
			"  amplint check *.onnx --data samples.npz --fail-on warning --format json -o report.json\n" +
			"  amplint check models/ 'more/**/*.onnx.gz' --cache .amplint-cache\n" +
			"  amplint check models/ --shard 0/8 --format json -o part0.json   # and 7 more; amplint merge part*.json",
		Long: "Report what breaks in low precision.\n\n" +
			"A model is a file (.onnx, .onnx.gz, .onnxtxt), a folder (all models below it), a pattern (** for any\n" +
			"number of folders) or - for stdin. One that cannot be read does not keep the others from being checked.",
		Short: "Report what breaks in low precision",
		Args:  takes(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			opt, err := f.options(c)
			if err != nil {
				return err
			}
			if err := x.check(); err != nil {
				return err
			}
			opt.Profile = x.format == "html"
			if dir != "" && opt.Effort == "off" {
				return usagef("--save-witness runs the model, --effort off does not")
			}
			found, err := a.check(c.Context(), args, opt, &b, dir)
			if err != nil {
				return err
			}
			return a.writeCheck(&x, found, opt.FailOn)
		},
	}
	f.addInputs(c)
	f.addTarget(c)
	x.add(c)
	b.add(c)
	b.addShard(c)
	c.Flags().StringVar(&dir, "save-witness", "", "write an input that shows it for each error to `DIR`, and the command that replays it")
	return c
}

// missed tells what was said of the inputs or findings and fits none of the models.
func (a *app) missed(list [][]string) {
	of := "the model"
	if len(list) > 1 {
		of = fmt.Sprintf("any of the %d models", len(list))
	}
	for _, m := range common(list) {
		m += " of " + of
		a.remarks = append(a.remarks, m)
		if !a.quiet {
			fmt.Fprintf(a.err, "amplint: %s\n", visible(m))
		}
	}
}

// common returns what stands in all lists, in the order of the first.
func common(list [][]string) []string {
	var all []string
	for i, l := range list {
		if i == 0 {
			all = slices.Clone(l)
		}
		all = slices.DeleteFunc(all, func(s string) bool { return !slices.Contains(l, s) })
	}
	return all
}

// tell prints an error.
func (a *app) tell(err error) {
	fmt.Fprintf(a.err, "amplint: %s\n", visible(strings.TrimRight(err.Error(), "\n")))
}

// visible makes what a model says itself fit for a terminal; the lines of a message stay lines.
func visible(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\t", "    "), "\n")
	for i, l := range lines {
		lines[i] = report.Visible(l)
	}
	return strings.Join(lines, "\n")
}
