package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/report"
)

func (a *app) checkCommand() *cobra.Command {
	var f analysisFlags
	var x reportFlags
	var dir string
	c := &cobra.Command{
		Use: "check MODEL...",
		Example: "  amplint check model.onnx\n" +
			"  amplint check model.onnx --format sarif -o amplint.sarif --source-root /build=.\n" +
			"  amplint check model.onnx --target bf16 --range input=-2.64,2.64\n" +
			"  amplint check model.onnx --range x=-8,8 --save-witness inputs\n" +
			"  amplint check *.onnx --data samples.npz --fail-on warning --format json -o report.json",
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
			opt.Lenient, opt.Witnesses = len(args) > 1, dir != ""
			if dir != "" && opt.Effort == "off" {
				return usagef("--save-witness runs the model, --effort off does not")
			}
			found, err := a.check(c, args, opt, dir)
			if err != nil {
				return err
			}
			return a.writeCheck(&x, found, opt.FailOn)
		},
	}
	f.addInputs(c)
	f.addTarget(c)
	x.add(c)
	c.Flags().StringVar(&dir, "save-witness", "", "write an input that shows it for each error to `DIR`, and the command that replays it")
	return c
}

// check analyses the models one after the other. One that cannot be analysed does not keep the
// others from it; the exit code is the gravest. Inputs that show errors go to dir, if that is named.
func (a *app) check(c *cobra.Command, paths []string, opt analyze.Options, dir string) (*report.File, error) {
	out := &report.File{}
	var missed [][]string
	var shown []*analyze.Report
	for _, path := range paths {
		var r *analyze.Report
		err := a.analysed(path, func() (err error) { r, err = analyze.Check(c.Context(), path, opt); return err })
		var fail *failure
		switch {
		case errors.As(err, &fail) && (fail.code == exitUsage || fail.code == exitInterrupted):
			return nil, err
		case err != nil:
			a.code = exitModel
			a.tell(err)
			out.Failures = append(out.Failures, report.Failure{Path: path, Error: message(err)})
			continue
		}
		a.notes(path, r.Notes)
		missed = append(missed, r.Missed)
		if r.Failed(opt.FailOn) {
			a.code = max(a.code, exitFindings)
		}
		out.Models = append(out.Models, report.Of(r))
		if dir != "" {
			shown = append(shown, r)
		}
	}
	if dir != "" {
		if err := a.saveWitnesses(dir, shown, opt); err != nil {
			return nil, err
		}
	}
	a.missed(missed)
	return out, nil
}

// message is an error as reports tell of it.
func message(err error) string {
	if errors.Is(err, errReported) {
		return "internal error"
	}
	return err.Error()
}

// missed tells what was said of the inputs or findings and fits none of the models.
func (a *app) missed(list [][]string) {
	of := "the model"
	if len(list) > 1 {
		of = fmt.Sprintf("any of the %d models", len(list))
	}
	for _, m := range common(list) {
		fmt.Fprintf(a.err, "amplint: %s of %s\n", m, of)
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
	if !errors.Is(err, errReported) {
		fmt.Fprintf(a.err, "amplint: %s\n", visible(strings.TrimRight(err.Error(), "\n")))
	}
}

// visible replaces control characters that names in a model may carry to a terminal.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
