package secondopinion

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/tensor"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// models returns the text models of the repository, and those below the folders of AMPLINT_CORPUS.
func models(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, root := range append([]string{"../testdata/models"}, filepath.SplitList(os.Getenv("AMPLINT_CORPUS"))...) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (filepath.Ext(path) == ".onnx" || filepath.Ext(path) == onnxtxt.Ext) {
				list = append(list, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// open reads a model with amplint, and returns the bytes for onnx-go.
func open(t *testing.T, path string) (*graph.Model, []byte) {
	t.Helper()
	if onnxtxt.IsText(path) {
		m, err := onnxtxt.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := m.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		return m, b.Bytes()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := graph.Open(path)
	if err != nil {
		t.Logf("%s: amplint does not read it: %v", path, err)
		return nil, b
	}
	t.Cleanup(func() { m.Close() })
	return m, b
}

// TestReadersAgree holds both decoders against each other on every model that onnx-go reads.
func TestReadersAgree(t *testing.T) {
	read, nodes, tensors, refused := 0, 0, 0, map[string]int{}
	for _, path := range models(t) {
		m, b := open(t, path)
		r, err := Read(b)
		if err != nil {
			refused[reason(err)]++
			continue
		}
		if m == nil {
			t.Errorf("%s: onnx-go reads it, amplint does not", path)
			continue
		}
		read++
		nodes += len(r.Ops)
		tensors += compareTensors(t, path, m.Graph, r)
		compareGraph(t, path, m.Graph, r)
	}
	t.Logf("%d models, %d nodes and the elements of %d initializers compared", read, nodes, tensors)
	for _, why := range sortedKeys(refused) {
		t.Logf("onnx-go cannot read %d: %s", refused[why], why)
	}
	if read < 3 {
		t.Errorf("only %d models were compared", read)
	}
}

// reason shortens an error to what tells kinds of errors apart.
func reason(err error) string {
	s, _, _ := strings.Cut(err.Error(), ":")
	if strings.HasPrefix(err.Error(), "onnx-go: panic") {
		s = err.Error()
	}
	return s[:min(len(s), 80)]
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// compareGraph compares operators, operands and results. The order of the nodes may differ, since
// amplint sorts them: outputs tell which is which.
func compareGraph(t *testing.T, path string, g *graph.Graph, r *Reading) {
	t.Helper()
	if len(g.Nodes) != len(r.Ops) {
		t.Errorf("%s: %d nodes, onnx-go reads %d", path, len(g.Nodes), len(r.Ops))
		return
	}
	makers := map[string]*graph.Node{}
	for _, n := range g.Nodes {
		makers[strings.Join(names(n.Outputs), "\x00")] = n
	}
	for _, op := range r.Ops {
		n := makers[strings.Join(trimmed(op.Outputs), "\x00")]
		if n == nil {
			t.Errorf("%s: onnx-go reads a %s that makes %q", path, op.Type, op.Outputs)
			continue
		}
		inputs := trimmed(op.Inputs)
		if len(n.Inputs) == 0 {
			inputs = nil // onnx-go invents an input for nodes without any
		}
		if n.Op != op.Type || !slices.Equal(names(n.Inputs), inputs) {
			t.Errorf("%s: node %s is %s%q, onnx-go reads %s%q", path, n.Key(), n.Op, names(n.Inputs), op.Type, inputs)
		}
	}
	var in []*graph.Value
	for _, v := range g.Inputs {
		if v.Init == nil {
			in = append(in, v)
		}
	}
	if !slices.Equal(names(in), r.Inputs) {
		t.Errorf("%s: inputs %q, onnx-go reads %q", path, names(in), r.Inputs)
	}
	if !slices.Equal(names(g.Outputs), r.Outputs) {
		t.Errorf("%s: outputs %q, onnx-go reads %q", path, names(g.Outputs), r.Outputs)
	}
}

// names returns the names of values, "" for those left out before the last.
func names(list []*graph.Value) []string {
	var s []string
	for _, v := range list {
		name := ""
		if v != nil {
			name = v.Name
		}
		s = append(s, name)
	}
	return trimmed(s)
}

// trimmed drops what is left out at the end.
func trimmed(s []string) []string {
	for len(s) > 0 && s[len(s)-1] == "" {
		s = s[:len(s)-1]
	}
	return s
}

// compareTensors compares the initializers that both hold as float or int64, and counts them.
func compareTensors(t *testing.T, path string, g *graph.Graph, r *Reading) int {
	t.Helper()
	n := 0
	for _, v := range g.Inits() {
		o := r.Tensors[v.Name]
		if o == nil || v.Init == nil || v.Init.External != nil || v.Init.Len() == 0 {
			continue
		}
		same, known, err := equal(v.Init, o)
		if err != nil {
			t.Errorf("%s: initializer %q: %v", path, v.Name, err)
		}
		if known {
			n++
		}
		if known && !same {
			t.Errorf("%s: initializer %q is %s, onnx-go reads other elements of shape %v", path, v.Name, v.Init.Type(), o.Shape())
		}
	}
	return n
}

// equal compares elements; known is false for types that are not compared.
func equal(t *graph.Tensor, o tensor.Tensor) (same, known bool, err error) {
	switch data := o.Data().(type) {
	case []float32:
		var x []float32
		err = t.Floats(func(chunk []float32) error { x = append(x, chunk...); return nil })
		return slices.EqualFunc(x, data, func(a, b float32) bool { return a == b || a != a && b != b }), t.Elem == graph.Float, err
	case []int64:
		x, err := t.Int64s()
		return slices.Equal(x, data), t.Elem == graph.Int64, err
	}
	return false, false, nil
}

// onnx-go's decoder panics or refuses on what it does not know; that is an error here.
func TestReadGuards(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("no model"), {0x3a, 0x00}} {
		if _, err := Read(b); err == nil {
			t.Errorf("%q is read", b)
		}
	}
}
