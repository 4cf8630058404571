package diff

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// TestPairs: NaN is the same as NaN, what is 0 or infinite or NaN on one side only is lost, and the largest difference
// is that of the others.
func TestPairs(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	var c Const
	c.pairs(
		[]float32{1, 3, 3, nan, nan, 1, 1e-9, 0, inf, 70000, -70000, inf},
		[]float32{1, 2.5, 2, nan, 1, nan, 0, 1e-9, inf, inf, inf, -inf})
	if d := cmp.Diff(Const{Differing: 9, Lost: 6, Largest: 1}, c); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestConstsInOrder: constants are compared side by side, each in chunks that begin elsewhere in a type of another
// size, and told in the order of the model.
func TestConstsInOrder(t *testing.T) {
	const n, weights = 200_003, 9
	made := func(e graph.ElemType, f numfmt.Format) *graph.Model {
		m := graph.NewModel(8)
		for w := range weights {
			raw := make([]float32, n)
			for i := range raw {
				raw[i] = float32(i % 2048)
			}
			raw[n-1-w] += 0.0001 // FP16 has no place for it
			m.Graph.AddInit(graph.NewTensor(fmt.Sprint("w", w), e, []int64{n}, f.AppendEncoded(nil, raw, false)))
		}
		return m
	}
	r, err := Models(made(graph.Float, numfmt.FP32), made(graph.Float16, numfmt.FP16))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range r.Consts {
		if c.Name != fmt.Sprint("w", i) || c.Differing != 1 || c.Lost > 0 || !(c.Largest > 5e-5 && c.Largest < 2e-4) {
			t.Errorf("constant %d: %+v", i, c)
		}
	}
	if len(r.Consts) != weights {
		t.Errorf("%d constants differ, want %d", len(r.Consts), weights)
	}
}
