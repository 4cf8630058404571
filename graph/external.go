package graph

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Place is where a tensor's elements lie outside the model's file.
type Place struct {
	Location string // relative to the model's folder, with slashes
	Offset   int64
	Length   int64 // -1 where external_data does not say
}

// ExternalPlace returns where the elements of a tensor with external data lie.
func (t *Tensor) ExternalPlace() (Place, error) {
	p := Place{Length: -1}
	var err error
	for _, e := range t.External {
		switch e.Key {
		case "location":
			p.Location = e.Value
		case "offset":
			p.Offset, err = strconv.ParseInt(e.Value, 10, 64)
		case "length":
			p.Length, err = strconv.ParseInt(e.Value, 10, 64)
		default:
			continue
		}
		if err != nil || p.Offset < 0 || p.Length < -1 {
			return p, fmt.Errorf("external data with %s %q", e.Key, e.Value)
		}
	}
	return p, localPath(p.Location)
}

// localPath refuses locations that lead out of the model's folder: a model from a stranger must
// not read (or, saved again, write) anything else.
func localPath(loc string) error {
	switch {
	case loc == "":
		return errors.New("external data without a location")
	case filepath.IsAbs(loc) || strings.HasPrefix(loc, "/") || strings.HasPrefix(loc, `\`):
		return fmt.Errorf("external data at the absolute path %q: only files below the model's folder are read", loc)
	case !filepath.IsLocal(loc):
		return fmt.Errorf("external data at %q, outside the model's folder", loc)
	}
	return nil
}

// CheckExternal tells which external data are missing or cut off, without reading any: an analysis
// takes a tensor that cannot be read for one that may hold anything.
func (m *Model) CheckExternal() error {
	list, err := m.externals()
	if err != nil {
		return err
	}
	for _, x := range list {
		want := x.t.RawLen()
		if want <= 0 {
			continue
		}
		f, err := x.t.openExternal(x.place, want)
		if err != nil {
			return x.t.wrap(err)
		}
		f.Close()
	}
	return nil
}

// external streams the elements from the file beside the model.
func (t *Tensor) external(want int64, visit func([]byte) error) error {
	p, err := t.placed(want)
	if err != nil || want == 0 {
		return err
	}
	f, err := t.openExternal(p, want)
	if err != nil {
		return t.wrap(err)
	}
	defer f.Close()
	err = spans(f, p.Offset, want, visit)
	var r readError
	if errors.As(err, &r) {
		return t.wrap(fmt.Errorf("external data %s: %w", p.Location, r.error))
	}
	return err
}

// placed is ExternalPlace for elements of so many bytes.
func (t *Tensor) placed(want int64) (Place, error) {
	p, err := t.ExternalPlace()
	if err == nil && p.Length >= 0 && p.Length != want {
		err = fmt.Errorf("%s%v takes %d bytes, external data has length %d", t.Elem, t.Dims, want, p.Length)
	}
	if err != nil {
		return p, t.wrap(err)
	}
	return p, nil
}

// openExternal opens the file and makes sure that it holds the bytes before anything is allocated
// for them. os.Root follows symbolic links only as long as they stay below the folder.
func (t *Tensor) openExternal(p Place, want int64) (*os.File, error) {
	if t.model == nil || t.model.Dir == "" {
		return nil, fmt.Errorf("external data %s: the model has no folder", p.Location)
	}
	root, err := os.OpenRoot(t.model.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	st, err := root.Stat(p.Location)
	switch {
	case err != nil:
		return nil, fmt.Errorf("external data: %w", err)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("external data %s is no regular file", p.Location)
	case want > st.Size() || p.Offset > st.Size()-want:
		return nil, fmt.Errorf("external data %s has %d bytes, %d at offset %d are needed: is it cut off?",
			filepath.Join(t.model.Dir, p.Location), st.Size(), want, p.Offset)
	}
	f, err := root.Open(p.Location)
	if err != nil {
		return nil, fmt.Errorf("external data: %w", err)
	}
	return f, nil
}
