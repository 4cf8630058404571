package onnxtxt

import (
	"os"
	"path/filepath"

	"github.com/amplint/amplint/graph"
)

// Ext is the extension of text models.
const Ext = ".onnxtxt"

// Open reads the text model of a file. External data lies in the folder of the file.
func Open(path string) (*graph.Model, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m, _, err := parseIn(path, src, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	m.Path = path
	return m, nil
}

// IsText tells whether a path names a text model.
func IsText(path string) bool { return filepath.Ext(path) == Ext }
