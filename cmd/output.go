package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/report"
)

// toFile writes to a file that appears only when it is whole, or to stdout where path is empty or -.
func (a *app) toFile(path string, write func(io.Writer) error) error {
	if path == "" || path == analyze.Std {
		buf := bufio.NewWriter(a.out)
		if err := write(buf); err != nil {
			return err
		}
		return buf.Flush()
	}
	return analyze.WriteFile(path, write)
}

// notes tells on stderr what had to be put right or overlooked.
func (a *app) notes(path string, list []string) {
	if a.quiet {
		return
	}
	for _, n := range list {
		fmt.Fprintf(a.err, "amplint: %s: %s\n", report.Visible(path), visible(n))
	}
}

// analysed runs one analysis.
func (a *app) analysed(path string, run func() error) error {
	a.model = path
	defer a.busy(filepath.Base(path))()
	return guarded(path, run)
}

// guarded runs the analysis of a model and gives its error an exit code. A panic in it becomes an
// error of this model, so that others are still analysed.
func guarded(path string, run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = unreadable(internal(path, r))
		}
	}()
	err = run()
	var usage *analyze.UsageError
	var data *analyze.DataError
	var fail *failure
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled): // no fault of the model
		return errInterrupted
	case errors.As(err, &fail):
		return err
	case errors.As(err, &usage), errors.As(err, &data):
		return &failure{exitUsage, err}
	}
	return unreadable(err)
}

// errInterrupted ends a run that the user broke off.
var errInterrupted = &failure{exitInterrupted, errors.New("interrupted")}
