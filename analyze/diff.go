package analyze

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/diff"
	"github.com/amplint/amplint/graph/infer"
)

// Diff compares the structure of two models.
func Diff(pathA, pathB string) (*diff.Result, error) {
	a, err := typed(pathA)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	b, err := typed(pathB)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return diff.Models(a, b)
}

// typed opens a model and infers its types.
func typed(path string) (*graph.Model, error) {
	m, err := Open(path)
	if err != nil {
		return nil, err
	}
	if err = m.CheckExternal(); err == nil {
		_, err = infer.Run(m, infer.Options{})
	}
	if err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}
