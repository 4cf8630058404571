package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/baseline"
	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/rules/runtime"
)

// analysisFlags are the flags that all analysing commands share.
type analysisFlags struct {
	ranges, dims, data []string
	config             string

	target, accumulate, runtime, effort, failOn, baseline string
	flush, strict                                         bool
	noBaseline                                            bool // the command makes one
}

// addInputs defines the flags that say what the inputs are.
func (f *analysisFlags) addInputs(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.ranges, "range", nil, "range of an input, `NAME=LO,HI`; may be repeated")
	c.Flags().StringArrayVar(&f.dims, "dim", nil, "size of a symbolic dimension, `NAME=LO..HI`; may be repeated")
	c.Flags().StringArrayVar(&f.data, "data", nil, "samples that bound the inputs: `NPZ` file, Polygraphy's JSON, or a folder; may be repeated")
	c.Flags().StringVar(&f.config, "config", "", "config `file` (the nearest "+config.Name+" in this folder and those above, up to the repository's)")
}

// addTarget defines the flags that say what the model is checked for.
func (f *analysisFlags) addTarget(c *cobra.Command) {
	c.Flags().StringVar(&f.target, "target", "auto", "auto, fp16, bf16, fp8e4m3fn, fp8e5m2, fp32 or as-is")
	c.Flags().StringVar(&f.accumulate, "accumulate", "fp32", "type that sums are kept in: fp32 or target, which turns what depends on it from a warning into an error")
	c.Flags().StringVar(&f.runtime, "runtime", "", "runtime whose kernels are meant: "+strings.Join(runtime.Names(), ", "))
	c.Flags().StringVar(&f.effort, "effort", "quick", "off, quick or full: evaluations spent on a suspect; off also takes cheaper, wider bounds")
	c.Flags().StringVar(&f.failOn, "fail-on", "error", "least severity that fails: error, warning, note or never")
	c.Flags().BoolVar(&f.flush, "flush-subnormals", false, "subnormal numbers count as zero, and what depends on it is an error")
	c.Flags().BoolVar(&f.strict, "strict", false, "raise notes on what is near or not known to warnings")
	c.Flags().StringVar(&f.baseline, "baseline", "", "`file` of known findings, which fail nothing; amplint baseline write makes it")
}

// options reads the flags and the config. What neither says has the flag's default.
func (f *analysisFlags) options(c *cobra.Command) (analyze.Options, error) {
	o := analyze.Options{Data: f.data, Strict: f.strict}
	if err := f.readConfig(&o); err != nil {
		return o, &failure{exitUsage, err}
	}
	lapsed(c.ErrOrStderr(), o.Config)
	if err := present(&o); err != nil {
		return o, err
	}
	if err := f.readBaseline(&o); err != nil {
		return o, &failure{exitUsage, err}
	}
	for _, s := range f.ranges {
		r, err := config.ParseRange(s)
		if err != nil {
			return o, usagef("--range: %w", err)
		}
		o.Ranges = append(o.Ranges, r)
	}
	for _, s := range f.dims {
		d, err := config.ParseDim(s)
		if err != nil {
			return o, usagef("--dim: %w", err)
		}
		o.Dims = append(o.Dims, d)
	}
	if f.target == "" { // the command has no target
		return o, f.readEffort(&o)
	}
	return o, f.readTarget(c, &o)
}

func (f *analysisFlags) readConfig(o *analyze.Options) (err error) {
	path := f.config
	if path == "" {
		if path, err = config.Find("."); err != nil || path == "" {
			return err
		}
	}
	o.Config, err = analyze.LoadConfig(path)
	return err
}

// present refuses data that are not there, once and not for each model.
func present(o *analyze.Options) error {
	paths := o.Data
	if len(paths) == 0 && o.Config != nil {
		paths = o.Config.Data
	}
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			return usagef("--data: %w", err)
		}
	}
	return nil
}

// lapsed tells which ignores of a config are no longer in force.
func lapsed(w io.Writer, said *config.Config) {
	if said == nil {
		return
	}
	for i := range said.Ignore {
		if ig := &said.Ignore[i]; ig.Lapsed(time.Now()) {
			fmt.Fprintf(w, "amplint: %s: %s: lapsed on %s, what it hid is reported again\n", said.Path, ig, ig.Until)
		}
	}
}

// readBaseline reads the known findings that a flag or the config names.
func (f *analysisFlags) readBaseline(o *analyze.Options) (err error) {
	path := f.baseline
	if path == "" && o.Config != nil {
		path = o.Config.Baseline
	}
	if path == "" || f.target == "" || f.noBaseline {
		return nil
	}
	o.Baseline, err = baseline.Load(path)
	return err
}

func (f *analysisFlags) readTarget(c *cobra.Command, o *analyze.Options) (err error) {
	if o.Target, err = analyze.ParseTarget(f.pick(c, "target", f.target, o.Config)); err != nil {
		return usagef("--target: %w", err)
	}
	if o.FailOn, err = analyze.ParseThreshold(f.pick(c, "fail-on", f.failOn, o.Config)); err != nil {
		return usagef("--fail-on: %w", err)
	}
	if err := f.readEffort(o); err != nil {
		return err
	}
	return f.readKernels(c, o)
}

// readKernels reads what is said of the kernels. What nobody said differs from the flags' defaults:
// a finding that depends on it is a warning then.
func (f *analysisFlags) readKernels(c *cobra.Command, o *analyze.Options) error {
	word := f.pick(c, "accumulate", f.accumulate, o.Config)
	if word != "fp32" && word != "target" {
		return usagef("--accumulate: %q is neither fp32 nor target", word)
	}
	if !c.Flags().Changed("accumulate") && (o.Config == nil || o.Config.Accumulate == "") {
		word = ""
	}
	var flush *bool
	switch {
	case c.Flags().Changed("flush-subnormals"):
		flush = &f.flush
	case o.Config != nil:
		flush = o.Config.Flush
	}
	if err := o.SetKernels(f.pick(c, "runtime", f.runtime, o.Config), word, flush); err != nil {
		return usagef("--runtime: %w", err)
	}
	return nil
}

// pick prefers a flag that was given, then the config, then the flag's default.
func (f *analysisFlags) pick(c *cobra.Command, name, value string, said *config.Config) string {
	if said == nil || c.Flags().Changed(name) {
		return value
	}
	word := map[string]string{"target": said.Target, "fail-on": said.FailOn, "accumulate": said.Accumulate, "runtime": said.Runtime}[name]
	if word == "" {
		return value
	}
	return word
}

// readEffort reads --effort, which some commands do not have.
func (f *analysisFlags) readEffort(o *analyze.Options) error {
	switch o.Effort = f.effort; o.Effort {
	case "", "off", "quick", "full":
		return nil
	}
	return usagef("--effort: %q is none of off, quick and full", o.Effort)
}
