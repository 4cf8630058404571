package analyze

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
)

// encoder builds a model as PyTorch exports a text encoder, node by node.
type encoder struct {
	m            *graph.Model
	random       []byte // weights, of which every matrix takes as many as it needs
	width, inner int64
	heads, nodes int
}

// newEncoder makes one as wide as BERT: with 12 layers and 30522 words it has 110 million parameters.
func newEncoder(layers int, words int64) *graph.Model {
	e := &encoder{m: graph.NewModel(8, graph.Opset{Version: 18}), width: 768, inner: 3072, heads: 12}
	rng := rand.New(rand.NewSource(1))
	e.random = make([]byte, 4*e.width*max(words, e.inner))
	for i := 0; i < len(e.random); i += 4 {
		binary.LittleEndian.PutUint32(e.random[i:], math.Float32bits(float32(0.02*rng.NormFloat64())))
	}
	e.m.Graph.DeclareInput("ids", graph.TensorOf(graph.Int64, graph.ShapeOf(1, 128)))
	e.m.Graph.AddInitTensor(graph.IntTensor("last", []int64{1}, -1))
	e.m.Graph.AddInitTensor(graph.IntTensor("split", []int64{4}, 0, 0, int64(e.heads), e.width/int64(e.heads)))
	e.m.Graph.AddInitTensor(graph.IntTensor("join", []int64{3}, 0, 0, e.width))
	for _, c := range []struct {
		name string
		x    float32
	}{{"two", 2}, {"eps", 1e-12}, {"root2", math.Sqrt2}, {"one", 1}, {"half", 0.5}, {"scale", 8}} {
		e.m.Graph.AddInitTensor(graph.FloatTensor(c.name, []int64{}, c.x))
	}
	x := e.norm(e.node("Gather", e.weight(words, e.width), "ids"))
	for range layers {
		x = e.layer(x)
	}
	e.m.Graph.AddNodeNamed("Identity", "", "", []string{x}, []string{"y"})
	e.m.Graph.DeclareOutput("y", graph.TensorOf(graph.Float, graph.ShapeOf(1, 128, e.width)))
	return e.m
}

func (e *encoder) name() string {
	e.nodes++
	return fmt.Sprintf("v%d", e.nodes)
}

func (e *encoder) weight(dims ...int64) string {
	n := int64(4)
	for _, d := range dims {
		n *= d
	}
	name := e.name()
	e.m.Graph.AddInitTensor(graph.NewTensor(name, graph.Float, dims, e.random[:n]))
	return name
}

func (e *encoder) node(op string, in ...string) string {
	name := e.name()
	e.m.Graph.AddNodeNamed(op, "", name, in, []string{name})
	return name
}

func (e *encoder) transpose(x string, perm ...int64) string {
	name := e.name()
	e.m.Graph.AddNodeNamed("Transpose", "", name, []string{x}, []string{name}, &graph.Attr{Name: "perm", Type: graph.AttrInts, Ints: perm})
	return name
}

func (e *encoder) linear(x string, rows, cols int64) string {
	return e.node("Add", e.weight(cols), e.node("MatMul", x, e.weight(rows, cols)))
}

func (e *encoder) norm(x string) string {
	centred := e.node("Sub", x, e.node("ReduceMean", x, "last"))
	variance := e.node("ReduceMean", e.node("Pow", centred, "two"), "last")
	y := e.node("Div", centred, e.node("Sqrt", e.node("Add", variance, "eps")))
	return e.node("Add", e.node("Mul", y, e.weight(e.width)), e.weight(e.width))
}

func (e *encoder) head(x string, perm ...int64) string {
	return e.transpose(e.node("Reshape", e.linear(x, e.width, e.width), "split"), perm...)
}

func (e *encoder) layer(x string) string {
	q, k, v := e.head(x, 0, 2, 1, 3), e.head(x, 0, 2, 3, 1), e.head(x, 0, 2, 1, 3)
	shares := e.node("Softmax", e.node("Div", e.node("MatMul", q, k), "scale"))
	y := e.node("Reshape", e.transpose(e.node("MatMul", shares, v), 0, 2, 1, 3), "join")
	x = e.norm(e.node("Add", e.linear(y, e.width, e.width), x))
	h := e.linear(x, e.width, e.inner)
	gate := e.node("Add", e.node("Erf", e.node("Div", h, "root2")), "one")
	h = e.node("Mul", e.node("Mul", h, gate), "half")
	return e.norm(e.node("Add", e.linear(h, e.inner, e.width), x))
}

// saved writes a model into a folder that goes with the benchmark.
func saved(t testing.TB, m *graph.Model) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := m.Link(); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(path, graph.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// written writes the text of a model into a folder that goes with the test.
func written(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.onnxtxt")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEncoder: the benchmark's model is bounded as a real one is.
func TestEncoder(t *testing.T) {
	path := saved(t, newEncoder(1, 100))
	r, err := RangesOf(context.Background(), path, Options{Effort: "quick"})
	if err != nil {
		t.Fatal(err)
	}
	last := r.Bounds[len(r.Bounds)-1]
	if m := last.Range.MaxAbs(); !(m > 1 && m < 30) {
		t.Errorf("%s is bounded by %v", last.Value.Name, last.Range)
	}
}

// BenchmarkEncoder bounds 110 million parameters, and fixes them.
func BenchmarkEncoder(b *testing.B) {
	path := saved(b, newEncoder(12, 30522))
	for _, effort := range []string{"off", "quick"} {
		b.Run("ranges, effort "+effort, func(b *testing.B) {
			for b.Loop() {
				if _, err := RangesOf(context.Background(), path, Options{Effort: effort}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("fix, effort off", func(b *testing.B) {
		out := filepath.Join(b.TempDir(), "out.onnx")
		for b.Loop() {
			if _, err := Fix(context.Background(), path, FixOptions{Options: Options{Effort: "off", Target: FP16}, Out: out}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkChain bounds 100,000 nodes one after the other.
func BenchmarkChain(b *testing.B) {
	path := written(b, chainModel(100_000))
	opt := Options{Effort: "quick", Ranges: []config.Range{{Name: "v0", Range: rangeprop.Range{Lo: -1, Hi: 1}}}}
	for b.Loop() {
		if _, err := RangesOf(context.Background(), path, opt); err != nil {
			b.Fatal(err)
		}
	}
}
