package samples

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

// loadNPZ reads an archive that maps input names to arrays. A sequence is spread over the entries
// name.0, name.1 and so on.
func loadNPZ(path string, inputs []*graph.Value) (*Sample, error) {
	z, err := zip.OpenReader(path)
	if errors.Is(err, zip.ErrFormat) {
		return nil, fmt.Errorf("neither an NPZ file (numpy.savez) nor a .json nor a folder: %w", err)
	}
	if err != nil {
		return nil, err
	}
	defer z.Close()
	entries := map[string]*zip.File{}
	for _, f := range z.File {
		entries[strings.TrimSuffix(f.Name, ".npy")] = f
	}
	s := &Sample{Name: path, Inputs: map[string]*Value{}}
	for _, in := range inputs {
		v, err := npzValue(path, entries, in.Name, in.Type)
		if err != nil {
			return nil, fmt.Errorf("array %q: %w", in.Name, err)
		}
		if v != nil {
			s.Inputs[in.Name] = v
		}
	}
	return s, nil
}

// npzValue returns the value of one input, nil where the archive has none.
func npzValue(path string, entries map[string]*zip.File, name string, t graph.Type) (*Value, error) {
	for t.Kind == graph.KindOptional && t.Of != nil {
		t = *t.Of
	}
	if t.Kind != graph.KindSequence {
		f := entries[name]
		if f == nil {
			return nil, nil
		}
		a, err := npzArray(path, f, t.Elem)
		return &Value{Kind: graph.KindTensor, Tensor: a}, err
	}
	elem := graph.Undefined
	if t.Of != nil {
		elem = t.Of.Elem
	}
	var v *Value
	for i := 0; ; i++ {
		f := entries[name+"."+strconv.Itoa(i)]
		if f == nil {
			return v, nil
		}
		a, err := npzArray(path, f, elem)
		if err != nil {
			return nil, err
		}
		if v == nil {
			v = &Value{Kind: graph.KindSequence}
		}
		v.Items = append(v.Items, &Value{Kind: graph.KindTensor, Tensor: a})
	}
}

func npzArray(path string, f *zip.File, declared graph.ElemType) (*Array, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	a, err := parseHeader(text, declared)
	if err != nil {
		return nil, err
	}
	a.npy.open = opener(path, f.Name)
	return a, nil
}

// opener reopens an entry of an archive, so that nothing stays open between loading and reading.
func opener(path, name string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		z, err := zip.OpenReader(path)
		if err != nil {
			return nil, err
		}
		r, err := z.Open(name)
		if err != nil {
			z.Close()
			return nil, err
		}
		if _, err := readHeader(r); err != nil {
			z.Close()
			return nil, err
		}
		return &entry{r, z}, nil
	}
}

// entry closes its archive with itself.
type entry struct {
	io.ReadCloser
	archive io.Closer
}

func (e *entry) Close() error {
	e.ReadCloser.Close()
	return e.archive.Close()
}
