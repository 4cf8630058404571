package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

// Version is the version of the program. It is a variable only for the linker, which puts a release's
// version here (-ldflags -X).
var Version = "0.1.0"

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.out, "amplint %s\n", Version)
			return err
		},
	}
}
