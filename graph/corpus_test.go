package graph

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus lists the model files below the folders of AMPLINT_CORPUS, which is set to run the tests
// over collections too large for the repository.
func corpus(t testing.TB) []string {
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

// reencodings are ways of writing a model that change no result.
var reencodings = []struct {
	name string
	edit func(m *Model) error
}{
	{"touched", func(m *Model) error { // one node
		if len(m.Graph.Nodes) > 0 {
			n := m.Graph.Nodes[len(m.Graph.Nodes)/2]
			n.Doc += "touched"
		}
		return nil
	}},
	{"extended", func(m *Model) error { // a new node before every output, which hands its name to it
		if m.Opset("") == 0 {
			m.SetOpset("", 13)
		}
		for i, o := range m.Graph.Outputs {
			if o.Producer == nil {
				continue
			}
			name, t := o.Name, o.Type
			o.Rename(m.Unique(name + "_inner"))
			id := m.Graph.NewNode("Identity", "", m.Unique("id"))
			id.AddInput(o)
			m.Graph.InsertBefore(nil, id)
			m.Graph.SetOutput(i, id.AddOutput(name, t))
		}
		return nil
	}},
	{"inlined", func(m *Model) error {
		for i := 0; i < len(m.Graph.Nodes); i++ {
			for n := m.Graph.Nodes[i]; n.Call != nil; n = m.Graph.Nodes[i] {
				if err := m.Inline(n); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{"fresh", func(m *Model) error { m.src = nil; return nil }}, // from the objects alone
}

// TestCorpusReencoded reads back what was edited. With AMPLINT_CORPUS_OUT the files are kept there,
// and listed, for benchmarks/reencode.py to check.
func TestCorpusReencoded(t *testing.T) {
	out := os.Getenv("AMPLINT_CORPUS_OUT")
	var index strings.Builder
	for i, path := range corpus(t) {
		m, err := Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, e := range reencodings {
			k := m.Clone()
			if err := e.edit(k); err != nil {
				t.Logf("%s: %s: %v", path, e.name, err)
				continue
			}
			if e.name != "fresh" {
				for _, err := range k.Problems() {
					t.Logf("%s: %s: %v", path, e.name, err)
				}
			}
			var b bytes.Buffer
			if _, err := k.WriteTo(&b); err != nil {
				t.Errorf("%s: %s: %v", path, e.name, err)
				continue
			}
			if _, err := Decode(b.Bytes(), m.Dir); err != nil {
				t.Errorf("%s: %s: read again: %v", path, e.name, err)
			}
			if out != "" {
				name := filepath.Join(out, fmt.Sprintf("%s-%d.onnx", e.name, i))
				put(t, name, b.Bytes())
				fmt.Fprintf(&index, "%s\t%s\t%s\n", e.name, path, name)
			}
		}
		m.Close()
	}
	if out != "" {
		put(t, filepath.Join(out, "index.tsv"), []byte(index.String()))
	}
}
