package cmd

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/report"
)

func (a *app) mergeCommand() *cobra.Command {
	var x reportFlags
	var failOn string
	c := &cobra.Command{
		Use: "merge REPORT.json...",
		Example: "  amplint merge part0.json part1.json part2.json --format sarif -o amplint.sarif\n" +
			"  amplint merge nightly/*.json --fail-on warning",
		Short: "Join the JSON reports of shards, or of several checks, to one report",
		Long: "Join the JSON reports of the shards of a check to the report that the check of all models would have\n" +
			"given, in any format and with its exit code. A shard that is missing is an error. Reports that are no\n" +
			"shards are joined in the order given.",
		Args: takes(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := x.check(); err != nil {
				return err
			}
			return a.merge(&x, args, failOn)
		},
	}
	x.add(c)
	c.Flags().StringVar(&failOn, "fail-on", "", "least severity that fails: error, warning, note or never (as the shards were told, else error)")
	return c
}

func (a *app) merge(x *reportFlags, paths []string, failOn string) error {
	files, err := readReports(paths)
	if err != nil {
		return unreadable(err)
	}
	if failOn == "" {
		failOn = "error"
		if s := files[0].Shard; s != nil {
			failOn = s.FailOn
		}
	}
	least, err := analyze.ParseThreshold(failOn)
	if err != nil {
		return usagef("--fail-on: %w", err)
	}
	merged, err := report.Merge(files, paths)
	if err != nil {
		return unreadable(err)
	}
	a.tellMerged(files, merged, least)
	return a.writeCheck(x, merged, least)
}

// tellMerged tells what the whole run would have told of its models, but for their notes, which the
// shards told, and sets its exit code.
func (a *app) tellMerged(files []*report.File, merged *report.File, failOn analyze.Threshold) {
	for _, m := range merged.Models {
		if m.Failed(failOn) {
			a.code = exitFindings
		}
	}
	for _, f := range merged.Failures {
		a.code = exitModel
		fmt.Fprintf(a.err, "amplint: %s\n", visible(f.Error))
	}
	var missed [][]string
	for _, f := range files {
		for range f.Models {
			if f.Shard != nil {
				missed = append(missed, f.Shard.Missed)
			}
		}
	}
	a.missed(missed)
}

func readReports(paths []string) ([]*report.File, error) {
	var files []*report.File
	for _, path := range paths {
		f, err := readReport(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		files = append(files, f)
	}
	return files, nil
}

func readReport(path string) (*report.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.Read(f)
}
