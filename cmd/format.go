package cmd

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/report"
)

// maxDrawn is how many models a page draws the ranges and weights of; of more it tells the findings.
const maxDrawn = 50

// reportFlags are the flags that say how the report of a check is written.
type reportFlags struct {
	format, out string
	sourceRoots []string
	roots       []report.Root
}

func (f *reportFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.format, "format", "text", report.CheckFormats)
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the report to a `file` instead of stdout")
	c.Flags().StringArrayVar(&f.sourceRoots, "source-root", nil,
		"`FROM=TO`: source files that the exporter found below FROM lie below TO in this checkout; may be repeated")
}

// check refuses what cannot be written, before the work.
func (f *reportFlags) check() error {
	if err := report.KnownCheck(f.format); err != nil {
		return usagef("%w", err)
	}
	for _, s := range f.sourceRoots {
		r, err := report.ParseRoot(s)
		if err != nil {
			return usagef("--source-root: %w", err)
		}
		f.roots = append(f.roots, r)
	}
	return nil
}

// writeCheck writes the report of a check. Where no model could be analysed stdout stays empty, but
// for the formats of programs that look for failures in them.
func (a *app) writeCheck(f *reportFlags, found *report.File, failOn analyze.Threshold) error {
	if len(found.Models) == 0 && found.Shard == nil && (f.format == "text" || f.format == "json" && f.out == "") {
		return nil
	}
	opt := a.reportOptions(f.out)
	opt.ExitCode, opt.FailOn, opt.Roots = a.code, failOn, f.roots
	return a.toFile(f.out, func(w io.Writer) error { return report.Check(w, f.format, found, opt) })
}
