package cmd

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/baseline"
	"github.com/amplint/amplint/report"
)

// baselineName is the file that known findings are written to when no other is named.
const baselineName = ".amplint-baseline.json"

func (a *app) baselineCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "baseline",
		Short: "Keep the findings that are known, so that only new ones fail",
		Args:  noSuch, SuggestionsMinimumDistance: 2,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.baselineWriteCommand())
	return c
}

func (a *app) baselineWriteCommand() *cobra.Command {
	f := analysisFlags{noBaseline: true}
	var b batchFlags
	var out string
	c := &cobra.Command{
		Use: "write MODEL...",
		Example: "  amplint baseline write models/*.onnx\n" +
			"  amplint check models/*.onnx --baseline " + baselineName,
		Short: "Check models and write what is found to a baseline",
		Args:  takes(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			opt, err := f.options(c)
			if err != nil {
				return err
			}
			return a.writeBaseline(c, args, opt, &b, out)
		},
	}
	f.addInputs(c)
	f.addTarget(c)
	b.add(c)
	c.Flags().StringVarP(&out, "output", "o", "", "`file` to write ("+baselineName+", or the baseline of the config)")
	return c
}

// writeBaseline writes nothing where a model could not be analysed: what is known of it would be
// forgotten.
func (a *app) writeBaseline(c *cobra.Command, paths []string, opt analyze.Options, b *batchFlags, out string) error {
	if out == "" && opt.Config != nil {
		out = opt.Config.Baseline
	}
	if out == "" {
		out = baselineName
	}
	opt.FailOn = analyze.FailNever
	found, err := a.check(c.Context(), paths, opt, b, "")
	if err != nil {
		return err
	}
	if len(found.Failures) > 0 {
		return &failure{exitModel, errors.New(out + " is not written: it would lack the models that could not be analysed")}
	}
	return a.toFile(out, knownOf(found, out).Write)
}

// knownOf takes from a report what a baseline keeps.
func knownOf(f *report.File, path string) *baseline.File {
	b := &baseline.File{Models: []baseline.Model{}}
	for _, m := range f.Models {
		known := baseline.Model{Path: baseline.Rel(path, m.Path), Findings: []baseline.Entry{}}
		for _, x := range m.Findings {
			known.Add(baseline.Entry{Rule: x.Rule, Severity: string(x.Severity), Message: x.Message, Fingerprint: x.Fingerprint})
		}
		b.Models = append(b.Models, known)
	}
	return b
}
