package graph

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// bigModel writes a model of 2,000 nodes and 90 tensors of 1 MiB, or names the largest model of
// AMPLINT_CORPUS.
func bigModel(b *testing.B) string {
	b.Helper()
	if os.Getenv("AMPLINT_CORPUS") != "" {
		return largest(b)
	}
	m := NewModel(10, Opset{"", 21})
	m.Graph.DeclareInput("v0", TensorOf(Float, ShapeOf(1, 512)))
	for i := range 90 {
		m.Graph.AddInitTensor(NewTensor(fmt.Sprintf("w%d", i), Float, []int64{512, 512}, make([]byte, 1<<20)))
	}
	for i := range 2000 {
		m.Graph.AddNodeNamed("MatMul", "", fmt.Sprintf("/model/layer.%d/attention/MatMul", i),
			[]string{fmt.Sprintf("v%d", i), fmt.Sprintf("w%d", i%90)}, []string{fmt.Sprintf("v%d", i+1)})
	}
	m.Graph.DeclareOutput("v2000", TensorOf(Float, ShapeOf(1, 512)))
	if err := m.Link(); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "big.onnx")
	if err := m.Save(path, SaveOptions{}); err != nil {
		b.Fatal(err)
	}
	return path
}

func largest(b *testing.B) (path string) {
	var size int64
	for _, p := range corpus(b) {
		if st, err := os.Stat(p); err == nil && st.Size() > size {
			path, size = p, st.Size()
		}
	}
	return path
}

func BenchmarkOpen(b *testing.B) {
	path := bigModel(b)
	b.ReportAllocs()
	for b.Loop() {
		m, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
}

func BenchmarkClone(b *testing.B) {
	m := opened(b, bigModel(b))
	for b.Loop() {
		m.Clone()
	}
}

// BenchmarkWriteTo writes with one node changed, so that nothing is copied in one piece.
func BenchmarkWriteTo(b *testing.B) {
	m := opened(b, bigModel(b))
	m.Graph.Nodes[len(m.Graph.Nodes)/2].Name += "changed"
	b.ReportAllocs()
	for b.Loop() {
		n, err := m.WriteTo(io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
	}
}

// BenchmarkConvert writes with every float tensor narrowed.
func BenchmarkConvert(b *testing.B) {
	m := opened(b, bigModel(b))
	for _, v := range m.Graph.Inits() {
		if v.Init.Elem == Float {
			v.SetInit(v.Init.Converted(Float16, false))
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		n, err := m.WriteTo(io.Discard)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(n)
	}
}

func BenchmarkHistogram(b *testing.B) {
	m := opened(b, bigModel(b))
	for b.Loop() {
		var n int64
		for _, v := range m.Graph.Inits() {
			t := v.Init.renamed(v.Name)
			if _, err := t.Histogram(); err != nil && t.Elem != String {
				b.Fatal(err)
			}
			n += t.RawLen()
		}
		b.SetBytes(n)
	}
}
