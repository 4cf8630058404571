package witness

import (
	"context"
	"fmt"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
)

// TestSweep tries every id: one token of many has large numbers, or none has.
func TestSweep(t *testing.T) {
	const model = head + `m (int64[2, 8] ids) => (float[2, 8] y) <int64 one = {1733}, float large = {%s}, float small = {0.5}>
{ e = Equal(ids, one) x = Where(e, large, small) goal = Mul(x, x) y = Sqrt(goal) }`
	for large, most := range map[string]float64{"300": 90000, "3": 9} {
		m, info, inputs := bounded(t, fmt.Sprintf(model, large), map[string]rangeprop.Range{"ids": {Lo: 0, Hi: 1999}})
		hold := func(v *graph.Value) (numfmt.Format, bool) { return numfmt.FP16, v.Type.Float() }
		v := m.Graph.Lookup("goal")
		seen := Probe(context.Background(), m, info, inputs, Options{Target: numfmt.FP16, Hold: hold, Work: 1e8, Runs: 24, Suspects: []*graph.Value{v}})
		if _, over := seen.Of(v); over != (most > 65504) {
			t.Errorf("%s: seen to overflow %v", large, over)
		}
		if got, ok := seen.Sought(v); most < 65504 && (!ok || got != most) {
			t.Errorf("%s: the largest is %v, %v, want %v", large, got, ok, most)
		}
	}
	m, info, inputs := bounded(t, fmt.Sprintf(model, "3"), map[string]rangeprop.Range{"ids": {Lo: 0, Hi: 1 << 30}})
	v := m.Graph.Lookup("goal")
	if _, ok := Probe(context.Background(), m, info, inputs, Options{Target: numfmt.FP32, Work: 1e6, Runs: 24, Suspects: []*graph.Value{v}}).Sought(v); ok {
		t.Error("a search that left out ids counts")
	}
}
