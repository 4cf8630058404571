package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/batch"
)

// written is a file that a command writes, by the flag that names it.
type written struct{ flag, path string }

// writes lists what a command is told to write.
func writes(c *cobra.Command) []written {
	names := []string{"output", "save", "report"}
	if c.Name() != "run" { // the bundle is read
		names = append(names, "bundle")
	}
	var list []written
	for _, name := range names {
		if out := flag(c, name); out != "" && out != analyze.Std {
			list = append(list, written{name, out})
		}
	}
	if out := flag(c, "output"); c.Name() == "minimize" && out != "" {
		list = append(list, written{"output", besideNPZ(out)})
	}
	return list
}

// reading lists what a command is told to read.
func reading(c *cobra.Command, args []string) []string {
	list := slices.Clone(args)
	for _, name := range []string{"data", "config", "baseline", "replay", "plan"} {
		list = append(list, values(c, name)...)
	}
	if c.Name() == "run" {
		list = append(list, flag(c, "bundle"))
	}
	return slices.DeleteFunc(list, func(path string) bool { return path == "" || path == analyze.Std })
}

// reads tells whether what is read for an argument is the file at a path: the argument itself, a
// model of a folder or a pattern, a sample of a folder, or the external data of a model.
func reads(arg, path string) bool {
	if analyze.SameFile(arg, path) {
		return true
	}
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false // nothing is lost
	}
	if ext := filepath.Ext(path); (ext == ".npz" || ext == ".pb") && within(arg, path) {
		return true
	}
	models, err := batch.Expand([]string{arg})
	return err == nil && slices.ContainsFunc(models, func(m string) bool { return analyze.SameFile(m, path) || holds(m, path) })
}

// within tells whether a path lies below a folder.
func within(dir, path string) bool {
	st, err := os.Stat(dir)
	if err != nil || !st.IsDir() {
		return false
	}
	a, errA := filepath.Abs(dir)
	b, errB := filepath.Abs(path)
	return errA == nil && errB == nil && strings.HasPrefix(b, strings.TrimSuffix(a, string(filepath.Separator))+string(filepath.Separator))
}

// holds tells whether a file is external data of a model. What is no regular file, a pipe for one,
// can be read only once and is left alone.
func holds(model, path string) bool {
	if st, err := os.Stat(model); err != nil || !st.Mode().IsRegular() {
		return false
	}
	m, err := analyze.Open(model)
	if err != nil {
		return false // its own command tells
	}
	defer m.Close()
	files, err := m.ExternalFiles()
	return err == nil && slices.ContainsFunc(files, func(f string) bool { return analyze.SameFile(f, path) })
}
