package analyze

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// Given writes all that reports depend on beside the model: the options, the files that they name,
// and which ignores have lapsed.
func Given(w io.Writer, opt *Options) error {
	plain := *opt
	plain.Config, plain.Baseline = nil, nil
	fmt.Fprintf(w, "%+v\n", plain)
	files := opt.Data
	if c := opt.Config; c != nil {
		files = slices.Concat(files, []string{c.Path}, c.Data)
		for i := range c.Ignore {
			fmt.Fprintln(w, c.Ignore[i].Lapsed(time.Now()))
		}
	}
	if opt.Baseline != nil {
		files = slices.Concat(files, []string{opt.Baseline.Path})
	}
	return contents(w, files)
}

// Content writes the model that a report is of: its path, its file and its external data.
func Content(w io.Writer, path string) error {
	beside, err := externalFiles(path)
	if err != nil {
		return err
	}
	return contents(w, append([]string{path}, beside...))
}

func contents(w io.Writer, files []string) error {
	for _, f := range files {
		if err := contentOf(w, f); err != nil {
			return err
		}
	}
	return nil
}

// externalFiles lists the files of a model's external data.
func externalFiles(path string) ([]string, error) {
	m, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	return m.ExternalFiles()
}

// contentOf writes the name, the length and the bytes of a file, or of all files of a folder.
func contentOf(w io.Writer, path string) error {
	return filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%q %d\n", path, st.Size())
		_, err = io.Copy(w, f)
		return err
	})
}

// packing is how much smaller a packed model is thought to be: weights hardly shrink.
const packing = 2

// Size returns how many bytes a model holds with its external data, 0 where that cannot be told. A
// stream has no size before it is read.
func Size(path string) int64 {
	st, err := os.Stat(path)
	if err != nil || path == Std {
		return 0
	}
	if IsPacked(path) {
		return packing * st.Size()
	}
	if onnxtxt.IsText(path) {
		return st.Size()
	}
	m, err := graph.Open(path)
	if err != nil {
		return st.Size()
	}
	defer m.Close()
	files, _ := m.ExternalFiles()
	size := st.Size()
	for _, f := range files {
		if st, err := os.Stat(f); err == nil {
			size += st.Size()
		}
	}
	return size
}
