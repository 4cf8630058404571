package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amplint/amplint/analyze"
)

// takes refuses numbers of arguments out of bounds, and says what is wanted. Less than 0 is no
// upper bound.
func takes(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && (most < 0 || len(args) <= most) {
			return nil
		}
		return usagef("%s with %d arguments; usage: %s; %s --help shows examples", c.Name(), len(args), c.UseLine(), c.CommandPath())
	}
}

// noSuch refuses a command that there is not and names those it may have been meant for.
func noSuch(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := c.CommandPath() + " --help lists them"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usagef("unknown command %q; %s", args[0], hint)
}

// badFlag adds to what cobra says where the flags are listed.
func badFlag(c *cobra.Command, err error) error {
	return usagef("%w; %s --help lists the flags", err, c.CommandPath())
}

// writable refuses to begin what could not be written at the end, and to write over what is read.
func writable(c *cobra.Command, args []string) error {
	read := reading(c, args)
	for _, w := range writes(c) {
		if err := place(w.path, c.Name() == "run" && filepath.Ext(w.path) != ".npz"); err != nil {
			return usagef("--%s: %w", w.flag, err)
		}
		own := func(r string) bool { // fix has words of its own for its input
			return c.Name() == "fix" && w.flag == "output" && slices.Contains(args, r) && analyze.SameFile(r, w.path)
		}
		if slices.ContainsFunc(read, func(r string) bool { return !own(r) && reads(r, w.path) }) {
			return usagef("--%s: %s is read by this command and would be overwritten; name another file", w.flag, w.path)
		}
	}
	return nil
}

// values returns what a flag holds that may be repeated, or the one value of another.
func values(c *cobra.Command, name string) []string {
	if f := c.Flags().Lookup(name); f != nil {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			return list.GetSlice()
		}
	}
	return []string{flag(c, name)}
}

func flag(c *cobra.Command, name string) string {
	if f := c.Flags().Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// place tells why nothing can be written at a path, nil if nothing speaks against it.
func place(path string, folder bool) error {
	if st, err := os.Stat(path); err == nil {
		switch {
		case st.IsDir() && !folder:
			return fmt.Errorf("%s is a folder; name a file in it", path)
		case !st.IsDir() && folder:
			return fmt.Errorf("%s is a file; name a folder, or a file that ends in .npz", path)
		}
		return nil
	}
	dir := filepath.Dir(path)
	if st, err := os.Stat(dir); !folder && (err != nil || !st.IsDir()) {
		return fmt.Errorf("there is no folder %s to write %s to", dir, filepath.Base(path))
	}
	return nil
}
