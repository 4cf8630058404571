package rewrite

import (
	"testing"

	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/numfmt"
)

// TestSecondRoundLosesNothing narrows a model and then repairs the result in memory: the constant
// that overflowed in the first round is whole again in the second.
func TestSecondRoundLosesNothing(t *testing.T) {
	m := parsed(t, `<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float[2] big = {1e9, 0.1}>
{
  [div] d = Div(x, big)
  [y] y = Sin(d)
}`)
	low, sum, err := (&Plan{Target: numfmt.FP16}).Apply(m)
	if err != nil || sum.Converted != 8 {
		t.Fatal(sum, err)
	}
	if _, err := infer.Run(low, infer.Options{}); err != nil {
		t.Fatal(err)
	}
	p := &Plan{Target: numfmt.FP16, Strategy: Repair, Edits: []Edit{KeepFP32{low.Graph.Lookup("d").Producer}}}
	out, _, err := p.Apply(low)
	if err != nil {
		t.Fatal(err)
	}
	v := out.Graph.Lookup("big")
	if x, err := v.Init.Float64s(); err != nil || x[0] != 1e9 || float32(x[1]) != 0.1 {
		t.Errorf("%v %v: %s", x, err, printed(t, out))
	}
}
