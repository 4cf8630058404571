// Package cmd holds the commands of amplint: flags in, a report or a file out, an exit code.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes, which scripts rely on.
const (
	exitClean    = 0
	exitFindings = 1 // findings at or above --fail-on, or a fix that was refused
	exitUsage    = 2
	exitModel    = 3 // a model could not be read or analysed

	exitInterrupted = 130 // by Ctrl-C, as shells have it
)

// app is one run of the program.
type app struct {
	out, err io.Writer
	model    string // being worked on, named if the program breaks
	code     int
	remarks  []string // on the run as a whole
	manner
}

// Main runs the command line and returns the exit code. The report goes to stdout, everything
// else to stderr.
func Main(args []string, stdout, stderr io.Writer) (code int) {
	a := &app{out: stdout, err: stderr}
	defer func() {
		if r := recover(); r != nil {
			code = a.broken(r)
		}
	}()
	root := a.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := root.ExecuteContext(ctx); err != nil {
		return a.failed(err)
	}
	return a.code
}

// broken reports a panic.
func (a *app) broken(r any) int {
	a.tell(internal(a.model, r))
	return exitModel
}

// internal makes a panic an error of one line: a model that breaks the program is one that could not
// be analysed, and whoever runs hundreds of them needs to know which.
func internal(model string, r any) error {
	what := strings.ReplaceAll(fmt.Sprint(r), "\n", " ")
	if model != "" {
		what = model + ": " + what
	}
	return fmt.Errorf("internal error: %s", what)
}

func (a *app) failed(err error) int {
	a.tell(err)
	var e *failure
	if errors.As(err, &e) {
		return e.code
	}
	return exitUsage // what cobra itself refuses: commands, flags, numbers of arguments
}

// failure is an error with the exit code it ends the program with.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// unreadable marks an error of a model or its data.
func unreadable(err error) error { return &failure{exitModel, err} }

// usagef makes an error of the command line.
func usagef(format string, args ...any) error {
	return &failure{exitUsage, fmt.Errorf(format, args...)}
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:                        "amplint",
		Short:                      "Find and fix what low precision breaks in an ONNX model",
		SilenceErrors:              true,
		SilenceUsage:               true,
		Args:                       noSuch,
		PersistentPreRunE:          a.begin,
		SuggestionsMinimumDistance: 2,
		RunE:                       func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(badFlag)
	a.manner.add(root)
	root.AddCommand(
		a.checkCommand(), a.fixCommand(), a.rangesCommand(), a.runCommand(), a.traceCommand(), a.verifyCommand(), a.minimizeCommand(),
		a.diffCommand(), a.dumpCommand(),
		a.baselineCommand(), a.configCommand(), a.mergeCommand(),
		a.explainCommand(), a.rulesCommand(), a.docsCommand(), a.manCommand(), a.versionCommand(),
	)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" { // cobra's own ends well with a shell that there is not
			c.Args, c.SuggestionsMinimumDistance, c.RunE = noSuch, 2, func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	return root
}

// begin refuses what cannot be done before it is begun.
func (a *app) begin(c *cobra.Command, args []string) error {
	if err := a.manner.check(); err != nil {
		return err
	}
	return writable(c, args)
}
