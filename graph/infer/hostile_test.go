package infer

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// encoded returns the models of testdata as files.
func encoded(t testing.TB) [][]byte {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no models", err)
	}
	var list [][]byte
	for _, file := range files {
		for _, s := range sections(t, file) {
			b, err := onnxtxt.Encode(s.name, []byte(s.head()+s.text))
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, b)
		}
	}
	return list
}

// survive runs a model that may be broken: an error is fine, a broken invariant is not.
func survive(t *testing.T, b []byte) (ran bool) {
	m, err := graph.Decode(b, "")
	if err != nil {
		return false
	}
	start := time.Now()
	_, err = Run(m, Options{Dims: map[string]DimRange{"b": {1, 4}, "s": {0, 1 << 40}}})
	if err != nil && strings.Contains(err.Error(), "internal error") {
		t.Errorf("%v\n%q", err, b)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("took %v: %q", d, b)
	}
	return true
}

// TestMutants damages models: no panic, no unbounded work.
func TestMutants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ran := 0
	for _, b := range encoded(t) {
		for range 30 {
			if survive(t, mutate(r, b)) {
				ran++
			}
		}
	}
	if ran < 500 {
		t.Errorf("only %d mutants could be read", ran)
	}
}

// mutate changes a few bytes, often to those that make numbers huge or negative.
func mutate(r *rand.Rand, b []byte) []byte {
	m := append([]byte(nil), b...)
	for range 1 + r.IntN(3) {
		i := r.IntN(len(m))
		switch r.IntN(4) {
		case 0:
			m[i] ^= 1 << r.IntN(8)
		case 1:
			m[i] = byte(r.IntN(256))
		case 2:
			m[i] = 0
		case 3:
			m[i] = 127
		}
	}
	return m
}

func FuzzRun(f *testing.F) {
	for _, b := range encoded(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) { survive(t, b) })
}

// TestLies changes attributes, shapes, constants and edges of models in memory to what no exporter writes.
func TestLies(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, b := range encoded(t) {
		for range 40 {
			m, err := graph.Decode(b, "")
			if err != nil {
				t.Fatal(err)
			}
			what := lie(r, m)
			start := time.Now()
			_, err = Run(m, Options{})
			if err != nil && strings.Contains(err.Error(), "internal error") {
				t.Errorf("%v after %s in %q", err, what, b)
			}
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("took %v after %s in %q", d, what, b)
			}
		}
	}
}

// odd are the numbers that arithmetic of sizes breaks at.
var odd = []int64{0, 1, -1, 2, 3, 7, -2, 1 << 31, -1 << 31, 1 << 40, 1<<63 - 1, -1 << 63, -1<<63 + 1}

func lie(r *rand.Rand, m *graph.Model) string {
	var nodes []*graph.Node
	for n := range m.Nodes() {
		nodes = append(nodes, n)
	}
	if len(nodes) == 0 {
		return "nothing"
	}
	n := nodes[r.IntN(len(nodes))]
	pick := func() int64 { return odd[r.IntN(len(odd))] }
	switch r.IntN(5) {
	case 0, 1:
		return lieAttr(r, n, pick)
	case 2:
		return lieShape(r, m, pick)
	case 3:
		return lieConst(r, m, pick)
	}
	if len(n.Inputs) > 0 {
		i, j := r.IntN(len(n.Inputs)), r.IntN(len(n.Inputs))
		n.Inputs[i], n.Inputs[j] = n.Inputs[j], nil
	}
	return "edges of " + n.Key()
}

func lieAttr(r *rand.Rand, n *graph.Node, pick func() int64) string {
	for _, a := range n.Attrs {
		switch {
		case a.Type == graph.AttrInt:
			a.I = pick()
		case len(a.Ints) > 0 && r.IntN(3) == 0:
			a.Ints = a.Ints[:len(a.Ints)-1]
		case len(a.Ints) > 0:
			a.Ints = append([]int64(nil), a.Ints...)
			a.Ints[r.IntN(len(a.Ints))] = pick()
		case len(a.Floats) > 0:
			a.Floats = []float32{float32(pick())}
		}
	}
	return "attributes of " + n.Key()
}

func lieShape(r *rand.Rand, m *graph.Model, pick func() int64) string {
	for _, v := range m.Graph.Inputs {
		t := v.Type
		switch s := t.Shape; {
		case r.IntN(3) == 0:
			t.Shape = nil
		case len(s) > 0 && r.IntN(2) == 0:
			t.Shape = s[1:]
		case len(s) > 0:
			t.Shape = append(graph.Shape(nil), s...)
			t.Shape[r.IntN(len(s))] = graph.Dim{N: max(pick(), 0)}
		default:
			t.Shape = graph.ShapeOf(max(pick(), 0))
		}
		v.Declare(t)
	}
	return "shapes of inputs"
}

func lieConst(r *rand.Rand, m *graph.Model, pick func() int64) string {
	for _, v := range m.Graph.Inits() {
		if v.Init.Elem != graph.Int64 {
			continue
		}
		list := make([]int64, v.Init.Len())
		for i := range list {
			list[i] = pick()
		}
		dims := v.Init.Dims
		if r.IntN(3) == 0 {
			dims = append([]int64{1}, dims...)
		}
		v.Init = graph.IntTensor(v.Name, dims, list...)
		v.Const, v.Type = v.Init, v.Init.Type()
	}
	return "constants"
}
