package analyze

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// save writes a model in the format that its path names, or to stdout. The draft holds what was written of it
// already; it may be nil.
func save(ctx context.Context, m *graph.Model, draft *graph.Draft, opt *FixOptions) error {
	if opt.Out == Std {
		return m.Stream(ctx, opt.Stdout)
	}
	if !onnxtxt.IsText(opt.Out) {
		return m.Save(opt.Out, graph.SaveOptions{InPlace: opt.InPlace, Draft: draft})
	}
	return WriteFile(opt.Out, func(w io.Writer) error { return onnxtxt.Print(w, m, onnxtxt.PrintOptions{}) })
}

// WriteFile writes a file that appears only when it is whole. A device or a pipe is written to as it
// is: renaming a file to its name would take its place.
func WriteFile(path string, write func(io.Writer) error) error {
	if st, err := os.Stat(path); err == nil && !st.IsDir() && !st.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".amplint-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // of no effect once it is renamed
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// SameFile tells whether two paths name one file.
func SameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y) || filepath.Clean(a) == filepath.Clean(b)
}
