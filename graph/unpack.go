package graph

import (
	"errors"
	"fmt"
	"os"
)

// OpenAs reads a model from a file that stands in for another: path is what messages call it, dir is
// where its external data lies. release is called when the model is closed, and at once where it
// cannot be read.
func OpenAs(file, path, dir string, release func() error) (*Model, error) {
	m, err := openIn(file, path, dir)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	shut := m.close
	m.close = func() error { return errors.Join(shut(), release()) }
	return m, nil
}

func openIn(file, path, dir string) (*Model, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = fmt.Errorf("%s is a folder", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	m, err := read(&Source{r: f, size: st.Size()}, dir)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.Path, m.close = path, f.Close
	return m, nil
}
