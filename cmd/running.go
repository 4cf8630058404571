package cmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/trace"
)

// runFlags are the flags of the commands that run models.
type runFlags struct {
	data, as, accumulate, memory string
	flush                        bool
	threads                      int
	seed                         int64
}

func (f *runFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.data, "data", "", "samples to run: `NPZ` file, Polygraphy's JSON, or a folder")
	c.Flags().StringVar(&f.as, "as", "fp32", "round every float value as `FORMAT`: fp16, bf16, fp8e4m3fn, fp8e5m2; fp32 leaves the types as stored")
	c.Flags().StringVar(&f.accumulate, "accumulate", "fp32", "how sums run: fp32, target (rounded one after the other) or blocked")
	c.Flags().BoolVar(&f.flush, "flush-subnormals", false, "subnormal numbers turn to zero")
	c.Flags().StringVar(&f.memory, "max-memory", "16GiB", "bound of the `bytes` held at a time")
	c.Flags().IntVar(&f.threads, "threads", 0, "processors to use, 0 for up to four; no result depends on it")
	c.Flags().Int64Var(&f.seed, "seed", 0, "what random operators start from")
}

// options reads the flags.
func (f *runFlags) options() (o trace.Options, err error) {
	o = trace.Options{Flush: f.flush, Threads: f.threads, Seed: f.seed}
	if o.As, err = runFormat(f.as); err != nil {
		return o, usagef("--as: %w", err)
	}
	if o.Accumulate, err = trace.ParseAccumulate(f.accumulate); err != nil {
		return o, usagef("--accumulate: %w", err)
	}
	if o.MaxMemory, err = parseBytes(f.memory); err != nil {
		return o, usagef("--max-memory: %w", err)
	}
	if f.threads < 0 {
		return o, usagef("--threads: %d is negative", f.threads)
	}
	return o, nil
}

// runFormat reads a format to run in. DOUBLE is no format to round FLOAT values to.
func runFormat(name string) (numfmt.Format, error) {
	f, err := numfmt.Parse(name)
	if err == nil && f == numfmt.FP64 {
		return f, fmt.Errorf("%s is wider than float", name)
	}
	return f, err
}

// parseBytes reads a size such as 500MB or 2GiB.
func parseBytes(s string) (int64, error) {
	text, factor := strings.ToLower(strings.TrimSpace(s)), int64(1)
	for _, u := range []struct {
		suffix string
		factor int64
	}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"b", 1}} {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			text, factor = strings.TrimSpace(rest), u.factor
			break
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0) || x*float64(factor) >= 1<<62 {
		return 0, fmt.Errorf("%q is no size, such as 500MB or 2GiB", s)
	}
	return max(int64(x*float64(factor)), 1), nil
}

// evaluated runs what evaluates a model. An input that does not fit is the fault of the data.
func (a *app) evaluated(path string, run func() error) error {
	err := a.analysed(path, run)
	var input *refeval.InputError
	switch {
	case errors.As(err, &input):
		return &failure{exitUsage, err}
	}
	return err
}
