package cmd

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amplint/amplint/analyze"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Example: "  amplint man ~/.local/share/man/man1",
		Short:   "Write the manual pages, one for each command, to a folder",
		Args:    takes(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return manPages(c.Root(), args[0])
		},
	}
}

// manPages writes the page of a command and those of its subcommands.
func manPages(c *cobra.Command, dir string) error {
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	err := analyze.WriteFile(filepath.Join(dir, name+".1"), func(w io.Writer) error { return manPage(w, c) })
	if err != nil {
		return usagef("%w", err)
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			if err := manPages(sub, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// manPage writes a page in the language of man(7). It has no date: it changes when the program does.
func manPage(w io.Writer, c *cobra.Command) error {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	p(`.TH "%s" "1" "" "amplint %s" "amplint"`, strings.ToUpper(name), Version)
	p(".nh\n.ad l\n.SH NAME\n%s \\- %s", roff(name), roff(c.Short))
	p(".SH SYNOPSIS\n.B %s", roff(c.UseLine()))
	if c.Long != "" {
		p(".SH DESCRIPTION\n%s", roff(c.Long))
	}
	manFlags(p, "OPTIONS", c.NonInheritedFlags())
	if c.Example != "" {
		p(".SH EXAMPLES\n.nf\n%s\n.fi", roff(c.Example))
	}
	p(".SH EXIT STATUS\n0 clean, 1 findings at or above \\-\\-fail\\-on or a fix that was refused, 2 usage, 3 a model could not be read or analysed.")
	if also := seeAlso(c); also != "" {
		p(".SH SEE ALSO\n%s", also)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// manFlags writes a section of flags.
func manFlags(p func(string, ...any), title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	p(".SH %s", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if kind != "" {
			kind = " \\fI" + roff(kind) + "\\fP"
		}
		switch f.DefValue {
		case "", "false", "0", "[]":
		default:
			usage += " (default " + f.DefValue + ")"
		}
		p(".TP\n\\fB%s\\fP%s\n%s", roff(name), kind, roff(usage))
	})
}

// seeAlso lists the pages of the command above and of those below.
func seeAlso(c *cobra.Command) string {
	var list []string
	page := func(c *cobra.Command) {
		list = append(list, fmt.Sprintf(`\fB%s\fP(1)`, roff(strings.ReplaceAll(c.CommandPath(), " ", "-"))))
	}
	if c.HasParent() {
		page(c.Parent())
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			page(sub)
		}
	}
	return strings.Join(list, ", ")
}

// roff makes text safe for man(7), where a backslash, and a dot or a quote at the start of a line, are
// commands.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
