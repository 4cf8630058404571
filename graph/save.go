package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// SaveOptions tell how a model is saved.
type SaveOptions struct {
	InPlace bool   // the input may be overwritten
	Draft   *Draft // what has been written already; nil for nothing
}

// Save writes the model to a file, and its external data to files beside it: under their old names,
// or all into one named after the file with ".data" where the old names would touch the input's
// own files. Everything is written under temporary names first and renamed when it is complete, so
// that a failure or a signal leaves nothing behind and an old file whole.
func (m *Model) Save(path string, opt SaveOptions) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := m.refuses(path, opt); err != nil {
		return err
	}
	if isStream(path) {
		return m.saveStream(ctx, path)
	}
	p, err := m.planSave(path, opt)
	if err != nil {
		return fmt.Errorf("saving %s: %w", path, err)
	}
	if err := p.write(ctx, opt.Draft); err != nil {
		return fmt.Errorf("saving %s: %w", path, err)
	}
	return nil
}

// refuses says why the model is not saved under a path.
func (m *Model) refuses(path string, opt SaveOptions) error {
	st, err := os.Stat(path)
	switch {
	case err == nil && st.IsDir():
		return fmt.Errorf("%s is a folder", path)
	case err == nil && st.Mode().IsRegular() && m.Path != "" && sameFile(path, m.Path) && !opt.InPlace:
		return fmt.Errorf("%s is the input: it is only overwritten in place", path)
	}
	return nil
}

// isStream tells whether a path is that of something else than a file.
func isStream(path string) bool {
	st, err := os.Stat(path)
	return err == nil && !st.Mode().IsRegular()
}

// saveStream writes to what is no file, such as /dev/stdout.
func (m *Model) saveStream(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := m.Stream(ctx, f); err != nil {
		err = fmt.Errorf("saving %s: %w", path, err)
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// Stream writes the model to what is no file. A model with external data has no place there.
func (m *Model) Stream(ctx context.Context, w io.Writer) error {
	for t := range m.tensors() {
		if t.External != nil {
			return errors.New("a model with external data needs a file")
		}
	}
	_, err := m.WriteTo(&stoppable{ctx, w})
	return err
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// stoppable is a writer that fails once a signal came.
type stoppable struct {
	ctx context.Context
	w   io.Writer
}

// Write writes b.
func (s *stoppable) Write(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, errors.New("interrupted")
	}
	return s.w.Write(b)
}

// savePlan is the files that a save writes; the model is the last.
type savePlan struct {
	dir    string
	files  []saveFile
	places map[*Tensor]Place
}

// saveFile is one file: its name below the folder and what it holds.
type saveFile struct {
	name string
	rope rope
	// open makes the rope where a file is to be read for it, and says how to close that.
	open func() (rope, func() error, error)
}

func (p *savePlan) write(ctx context.Context, d *Draft) (err error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var temps []string
	defer func() {
		if err != nil {
			for _, t := range temps {
				root.Remove(t)
			}
		}
	}()
	for _, f := range p.files {
		if dir := filepath.Dir(f.name); dir != "." {
			if err := root.MkdirAll(dir, 0o777); err != nil {
				return err
			}
		}
		w, temp, written, ok := d.take(f)
		if !ok {
			if w, temp, err = createTemp(root, f.name); err != nil {
				return err
			}
		}
		temps = append(temps, temp)
		if err := f.fill(ctx, w, written); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	for i, f := range p.files {
		if err := root.Rename(temps[i], f.name); err != nil {
			return err
		}
	}
	return nil
}

// fill writes and closes the file; written tells of what it holds already, nil for nothing.
func (f saveFile) fill(ctx context.Context, w *os.File, written func(p part, at int64) bool) (err error) {
	r, shut := f.rope, func() error { return nil }
	if f.open != nil {
		if r, shut, err = f.open(); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	if written == nil {
		reserve(w, r.n)
	}
	return errors.Join(r.writeFile(ctx, w, written), shut(), w.Close())
}

// createTemp makes a new file beside the one of the name, with the mode of any new file (which
// os.CreateTemp does not give).
func createTemp(root *os.Root, name string) (*os.File, string, error) {
	for i := 0; ; i++ {
		temp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d-%d.tmp", filepath.Base(name), os.Getpid(), i))
		f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, os.ErrExist) || i > 1000 {
			return f, temp, err
		}
	}
}
