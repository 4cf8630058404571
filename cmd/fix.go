package cmd

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/report"
)

// fixFlags are the flags that fix has beside those of the analysis.
type fixFlags struct {
	out, strategy, keepIO, plan, format, page string
	inPlace, dryRun, narrowDouble             bool
	weightsOnly, allowUnsafe                  bool
	prefer                                    string
	errorBudget                               float64
	include, exclude                          []string
}

func (f *fixFlags) add(c *cobra.Command) {
	c.Flags().StringVarP(&f.out, "output", "o", "", "`file` to write the fixed model to; - for stdout, the report then goes to stderr")
	c.Flags().BoolVar(&f.inPlace, "in-place", false, "overwrite the input")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "report what would be done, write nothing")
	c.Flags().StringVar(&f.strategy, "strategy", "", "mixed narrows the whole model, repair adds FP32 islands only (repair for as-is, else mixed)")
	c.Flags().StringVar(&f.keepIO, "keep-io-types", "true", "inputs and outputs that keep their types: true, false or a list of `names`")
	c.Flags().BoolVar(&f.narrowDouble, "narrow-double", false, "narrow float64 values too")
	c.Flags().BoolVar(&f.weightsOnly, "weights-only", false, "store large constants low and compute as before")
	c.Flags().StringVar(&f.prefer, "prefer", "", "`ways` to fix findings, the first that can: widen, bf16, rescale, replace, clamp, epsilon")
	c.Flags().BoolVar(&f.allowUnsafe, "allow-unsafe", false, "ways of --prefer that change FP32 results too: epsilon")
	c.Flags().Float64Var(&f.errorBudget, "error-budget", 0, "hold what rounding costs most in FP32 until the predicted `error` of the outputs, relative to their root mean square, is at most this; 0 for any")
	c.Flags().StringVar(&f.plan, "plan", "", "`file` that the plan is written to; where it exists it is carried out instead")
	c.Flags().StringArrayVar(&f.include, "include", nil, "change these nodes only: a glob of their names, op:, value:, path: or re: and a `pattern`; may be repeated")
	c.Flags().StringArrayVar(&f.exclude, "exclude", nil, "leave these nodes as they are, see --include; may be repeated")
	c.Flags().StringVar(&f.format, "format", "text", "text or json")
	c.Flags().StringVar(&f.page, "report", "", "also write a page to this HTML `file`: before and after, precision map, casts")
}

// options checks the flags against one another.
func (f *fixFlags) options(c *cobra.Command, path string, o analyze.Options) (analyze.FixOptions, error) {
	opt := analyze.FixOptions{Options: o, Out: f.out, InPlace: f.inPlace, DryRun: f.dryRun, Strategy: f.strategy,
		KeepIO: keeper(f.keepIO), NarrowDouble: f.narrowDouble, Include: f.include, Exclude: f.exclude}
	opt.AllowUnsafe, opt.ErrorBudget = f.allowUnsafe, f.errorBudget
	var err error
	if opt.Prefer, err = analyze.ParseWays(f.prefer); err != nil {
		return opt, &failure{exitUsage, err}
	}
	if f.weightsOnly {
		opt.Strategy = "weights"
	}
	switch {
	case !(f.errorBudget >= 0) || math.IsInf(f.errorBudget, 0):
		return opt, usagef("--error-budget: %g is no error", f.errorBudget)
	case f.strategy != "" && f.weightsOnly:
		return opt, usagef("--strategy and --weights-only exclude each other")
	case f.strategy != "" && f.strategy != "mixed" && f.strategy != "repair":
		return opt, usagef("--strategy: %q is neither mixed nor repair", f.strategy)
	case f.inPlace && f.out != "":
		return opt, usagef("--in-place and -o exclude each other")
	case f.page != "" && f.out != "" && analyze.SameFile(f.page, f.out):
		return opt, usagef("--report: %s is where the model goes; name another file", f.page)
	case f.inPlace && (path == analyze.Std || analyze.IsPacked(path)):
		return opt, usagef("--in-place: %s cannot be overwritten; name a file with -o", path)
	case f.inPlace:
		opt.Out = path
	case f.out == "" && !f.dryRun:
		return opt, usagef("fix needs -o FILE, --in-place or --dry-run")
	case analyze.IsPacked(f.out):
		return opt, usagef("-o %s: models are written as they are, not packed", f.out)
	case f.out != "" && f.out != analyze.Std && analyze.SameFile(path, f.out):
		return opt, usagef("%s is the input: --in-place overwrites it", f.out)
	}
	if f.keepIO != "true" && f.keepIO != "false" {
		opt.KeepNames = strings.Split(f.keepIO, ",")
	}
	if err := report.Known(f.format); err != nil {
		return opt, usagef("%w", err)
	}
	return opt, f.readPlan(c, &opt)
}

// readPlan reads the plan where its file exists, and else has it written there.
func (f *fixFlags) readPlan(c *cobra.Command, opt *analyze.FixOptions) (err error) {
	if f.plan == "" {
		return nil
	}
	if _, err := os.Stat(f.plan); errors.Is(err, os.ErrNotExist) {
		opt.PlanPath = f.plan
		return place(f.plan, false)
	}
	for _, name := range []string{"target", "strategy", "weights-only", "prefer", "error-budget", "keep-io-types", "narrow-double", "include", "exclude"} {
		if c.Flags().Changed(name) {
			return usagef("--plan: %s exists and says what --%s says; change it there, or name another file", f.plan, name)
		}
	}
	if opt.Replay, err = analyze.LoadPlan(f.plan); err != nil {
		return &failure{exitUsage, err}
	}
	return nil
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
			"  amplint fix model.onnx --data samples.npz --target bf16 --dry-run --report fix.html\n" +
			"  amplint fix - -o - < model.onnx > model_fp16.onnx\n" +
			"  amplint fix broken_fp16.onnx -o repaired.onnx --strategy repair\n" +
			"  amplint fix model.onnx --dry-run --plan plan.yaml          # plan.yaml is written\n" +
			"  amplint fix model.onnx -o model_fp16.onnx --plan plan.yaml  # and carried out, with what you changed in it\n" +
			"  amplint fix model.onnx -o model_fp16.onnx --prefer rescale,replace\n" +
			"  amplint fix model.onnx -o model_fp16.onnx --error-budget 1e-3\n" +
			"  amplint fix model.onnx -o model_fp16.onnx --exclude op:Softmax --exclude 're:^/decoder/'",
		Short: "Rewrite a model so that it is right in low precision",
		Args:  takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := f.options(c)
			if err != nil {
				return err
			}
			opt, err := x.options(c, args[0], o)
			if err != nil {
				return err
			}
			opt.Profile = x.page != ""
			return a.fix(c, args[0], opt, &x)
		},
	}
	f.addInputs(c)
	f.addTarget(c)
	x.add(c)
	return c
}

func (a *app) fix(c *cobra.Command, path string, opt analyze.FixOptions, x *fixFlags) error {
	var r *analyze.Fixed
	opt.Stdout = a.out
	ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM) // what was written ahead is to be removed
	defer stop()
	err := a.analysed(path, func() (err error) { r, err = analyze.Fix(ctx, path, opt); return err })
	if err != nil {
		return err
	}
	a.notes(path, append(r.Before.Notes, r.Summary.Notes...))
	a.missed([][]string{r.Before.Missed})
	if r.Refused != "" {
		a.code = exitFindings
		fmt.Fprintf(a.err, "amplint: %s: refused, nothing was written: %s\n", report.Visible(path), visible(r.Refused)) // --quiet or not
		a.notes(path, r.Hopeless)
	}
	if opt.Out == analyze.Std { // stdout holds the model
		a.out = a.err
	}
	o := a.reportOptions("")
	if x.page != "" {
		if err := a.toFile(x.page, func(w io.Writer) error { return report.FixedHTML(w, r, o) }); err != nil {
			return err
		}
	}
	return a.toFile("", func(w io.Writer) error { return report.Fixed(w, x.format, r, o) })
}
