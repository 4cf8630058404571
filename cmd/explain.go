package cmd

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/rules"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain RULE",
		Example: "  amplint explain mask-constant",
		Short:   "Print the page of a rule",
		Args:    takes(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			page, ok := rules.Page(args[0])
			if !ok {
				return usagef("no rule is named %q; %s", args[0], meant(args[0], ruleNames(), "amplint rules lists them"))
			}
			_, err := fmt.Fprintln(a.out, strings.TrimRight(page, "\n"))
			return err
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return ruleNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func ruleNames() []string {
	var list []string
	for _, r := range rules.All() {
		list = append(list, r.Name)
	}
	return list
}

// ruleJSON is one rule in the JSON list.
type ruleJSON struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Kind  string `json:"kind"`
}

func (a *app) rulesCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "rules",
		Example: "  amplint rules --format json",
		Short:   "List the rules",
		Args:    takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			list := []ruleJSON{}
			for _, r := range rules.All() {
				list = append(list, ruleJSON{r.Name, r.Title, r.Kind.String()})
			}
			switch format {
			case "json":
				return json.NewEncoder(a.out).Encode(map[string]any{"schema": "amplint.rules/1", "rules": list})
			case "text":
				return a.listRules(list)
			}
			return usagef("unknown format %q: text and json are known", format)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "text or json")
	return c
}

func (a *app) listRules(list []ruleJSON) error {
	p := &printer{w: a.out}
	for _, r := range list {
		p.f("%-22s %-16s %s\n", r.Name, r.Kind, r.Title)
	}
	return p.err
}
