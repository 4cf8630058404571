package graph

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus lists the model files below the folders of AMPLINT_CORPUS, which is set to run the tests
// over collections too large for the repository.
func corpus(t *testing.T) []string {
	t.Helper()
	env := os.Getenv("AMPLINT_CORPUS")
	if env == "" {
		t.Skip("AMPLINT_CORPUS is not set: list folders of models there, separated by colons")
	}
	var files []string
	for _, dir := range filepath.SplitList(env) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, ".onnx") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Fatalf("no models below %s", env)
	}
	return files
}

func TestCorpusOpens(t *testing.T) {
	for _, path := range corpus(t) {
		m, err := Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		for g := range m.Graphs() {
			for _, v := range g.Inits() {
				if _, err := v.Init.Histogram(); err != nil && v.Init.Elem != String {
					t.Error(err)
				}
			}
		}
		m.Close()
	}
}

func TestCorpusUntouched(t *testing.T) {
	for _, path := range corpus(t) {
		m, err := Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := m.WriteTo(&out); err != nil {
			t.Errorf("%s: %v", path, err)
		} else if !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%s: %d bytes of %d, not the same", path, out.Len(), len(want))
		}
		m.Close()
	}
}
