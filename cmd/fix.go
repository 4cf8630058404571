package cmd

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/report"
)

// fixFlags are the flags that fix has beside those of the analysis.
type fixFlags struct {
	out, strategy, keepIO, plan, format string
	inPlace, dryRun, narrowDouble       bool
}

func (f *fixFlags) add(c *cobra.Command) {
	c.Flags().StringVarP(&f.out, "output", "o", "", "`file` to write the fixed model to")
	c.Flags().BoolVar(&f.inPlace, "in-place", false, "overwrite the input")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "report what would be done, write nothing")
	c.Flags().StringVar(&f.strategy, "strategy", "", "mixed narrows the whole model, repair adds FP32 islands only (repair for as-is, else mixed)")
	c.Flags().StringVar(&f.keepIO, "keep-io-types", "true", "inputs and outputs that keep their types: true, false or a list of `names`")
	c.Flags().BoolVar(&f.narrowDouble, "narrow-double", false, "narrow float64 values too")
	c.Flags().StringVar(&f.plan, "plan", "", "plan `file` to write or to replay")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
}

// options checks the flags against one another.
func (f *fixFlags) options(path string, o analyze.Options) (analyze.FixOptions, error) {
	opt := analyze.FixOptions{Options: o, Out: f.out, InPlace: f.inPlace, DryRun: f.dryRun, Strategy: f.strategy,
		KeepIO: keeper(f.keepIO), NarrowDouble: f.narrowDouble}
	switch {
	case f.plan != "":
		return opt, usagef("--plan is not built yet")
	case f.strategy != "" && f.strategy != "mixed" && f.strategy != "repair":
		return opt, usagef("--strategy: %q is neither mixed nor repair", f.strategy)
	case f.inPlace && f.out != "":
		return opt, usagef("--in-place and -o exclude each other")
	case f.inPlace:
		opt.Out = path
	case f.out == "" && !f.dryRun:
		return opt, usagef("fix needs -o FILE, --in-place or --dry-run")
	case f.out != "" && analyze.SameFile(path, f.out):
		return opt, usagef("%s is the input: --in-place overwrites it", f.out)
	}
	if f.keepIO != "true" && f.keepIO != "false" {
		opt.KeepNames = strings.Split(f.keepIO, ",")
	}
	if err := report.Known(f.format); err != nil {
		return opt, usagef("%w", err)
	}
	return opt, nil
}

// keeper reads --keep-io-types.
func keeper(s string) func(*graph.Value) bool {
	switch s {
	case "true":
		return nil
	case "false":
		return func(*graph.Value) bool { return false }
	}
	names := strings.Split(s, ",")
	return func(v *graph.Value) bool { return slices.Contains(names, v.Name) }
}

func (a *app) fixCommand() *cobra.Command {
	var f analysisFlags
	var x fixFlags
	c := &cobra.Command{
		Use: "fix MODEL -o OUT",
		Example: "  amplint fix model.onnx -o model_fp16.onnx\n" +
			"  amplint fix model.onnx --data samples.npz --target bf16 --dry-run\n" +
			"  amplint fix broken_fp16.onnx -o repaired.onnx --strategy repair",
		Short: "Rewrite a model so that it is right in low precision",
		Args:  takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := f.options(c)
			if err != nil {
				return err
			}
			opt, err := x.options(args[0], o)
			if err != nil {
				return err
			}
			return a.fix(c, args[0], opt, x.format)
		},
	}
	f.addInputs(c)
	f.addTarget(c)
	x.add(c)
	return c
}

func (a *app) fix(c *cobra.Command, path string, opt analyze.FixOptions, format string) error {
	var r *analyze.Fixed
	err := a.analysed(path, func() (err error) { r, err = analyze.Fix(c.Context(), path, opt); return err })
	if err != nil {
		return err
	}
	a.notes(path, append(r.Before.Notes, r.Summary.Notes...))
	a.missed([][]string{r.Before.Missed})
	if r.Refused != "" {
		a.code = exitFindings
		a.notes(path, []string{"refused, nothing was written: " + r.Refused})
	}
	return a.toFile("", func(w io.Writer) error {
		return report.Fixed(w, format, r, report.Options{Version: Version, Color: isTerminal(a.out)})
	})
}
