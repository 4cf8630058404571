package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/config"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Tell of " + config.Name + ", the file of a project",
		Long: config.Name + " says what a project's models are checked for and what their inputs are. The nearest one\n" +
			"is read: in the working folder or above it, up to the root of the repository (where .git is).\n" +
			"--config names another; --config /dev/null reads none.",
		Args: noSuch, SuggestionsMinimumDistance: 2,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON schema of " + config.Name + ", for editors",
		Example: "  amplint config schema > amplint.schema.json",
		Args:    takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.out, config.Schema())
			return err
		},
	})
	return c
}
