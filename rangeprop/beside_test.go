package rangeprop

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/numfmt"
)

// halves is a model of 16 bits, of which some overflow, with a weight that is not kept element by element.
func halves(t *testing.T) (*graph.Model, *infer.Info) {
	t.Helper()
	m := graph.NewModel(8, graph.Opset{Version: 17})
	m.Graph.DeclareInput("x", graph.TensorOf(graph.Float16, graph.ShapeOf(2, 64)))
	w := matrixOf(rand.New(rand.NewSource(5)), 64, 80, 8).Converted(graph.Float16, false)
	m.Graph.AddInitTensor(w)
	for i, op := range []string{"MatMul", "Exp", "Sigmoid", "Neg"} {
		in := []string{fmt.Sprintf("v%d", i-1)}
		if i == 0 {
			in = []string{"x", "w"}
		}
		m.Graph.AddNodeNamed(op, "", "", in, []string{fmt.Sprintf("v%d", i)})
	}
	m.Graph.DeclareOutput("v3", graph.TensorOf(graph.Float16, graph.ShapeOf(2, 80)))
	if err := m.Link(); err != nil {
		t.Fatal(err)
	}
	info, err := infer.Run(m, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m, info
}

// TestBeside: what is bounded at the same time has the bounds that it would have afterwards. Where the first has
// to read weights the second knew less, and is not kept.
func TestBeside(t *testing.T) {
	m, info := halves(t)
	hold := func(v *graph.Value) numfmt.Format { return numfmt.FP32 }
	opt := Options{NoBalls: true, NoMoments: true, Memo: NewMemo(numfmt.FP16), Beside: hold,
		Ranges: map[string]Given{"x": {Range: Range{-8, 8}, Basis: Declared}}}
	r, err := Analyze(m, info, opt)
	if err != nil || r.Beside() != nil {
		t.Fatalf("weights were read: beside %v, error %v", r.Beside(), err)
	}
	if r, err = Analyze(m, info, opt); err != nil || r.Beside() == nil {
		t.Fatalf("nothing beside, error %v", err)
	}
	after, err := r.Held(hold)
	if err != nil {
		t.Fatal(err)
	}
	differs := 0
	for _, v := range m.Graph.Values {
		got, want := r.Beside().Val(v), after.Val(v)
		if fmt.Sprint(got.dims, got.lo, got.hi, got.nan, got.tiny) != fmt.Sprint(want.dims, want.lo, want.hi, want.nan, want.tiny) {
			t.Errorf("%s: %v, want %v", v.Name, got, want)
		}
		if got.Hull() != r.Val(v).Hull() {
			differs++
		}
	}
	if differs == 0 {
		t.Error("the formats make no difference")
	}
	opt.Stopped = func() error { return fmt.Errorf("stopped") }
	if _, err := Analyze(m, info, opt); err == nil {
		t.Error("it does not stop")
	}
}
