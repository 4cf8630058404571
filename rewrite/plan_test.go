package rewrite

import (
	"strings"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

const small = `<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x, int64[1] n) => (float[4] y) <float[4] w = {1,2,3,4}>
{
  [mul] m = Mul(x, w)
  [tanh] t = Tan(m)
  [exp] e = Exp(t)
  [log] l = Mul(e, w)
  [sin] s = Tan(l)
  [cosh] y = Cosh(s)
}`

func TestHoldTellsTheFormatAfterwards(t *testing.T) {
	m := parsed(t, small)
	hold, err := (&Plan{Target: numfmt.FP16, Edits: []Edit{Widen{m.Graph.Lookup("e")}}}).Hold(m)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"x": false, "n": false, "w": true, "m": true, "t": true, "e": false, "l": false, "s": true, "y": true}
	for name, low := range want {
		if f, got := hold(m.Graph.Lookup(name)); got != low || low && f != numfmt.FP16 {
			t.Errorf("%s: %v %v", name, f, got)
		}
	}
}

func TestPlansThatCannotBeMeant(t *testing.T) {
	m, other := parsed(t, small), parsed(t, small)
	for _, c := range []struct {
		plan *Plan
		want string
	}{
		{&Plan{Target: numfmt.E4M3FNUZ}, "want fp16, bf16, fp32, fp8e4m3fn or fp8e5m2"},
		{&Plan{Target: numfmt.FP16, Edits: []Edit{Clamp{m.Graph.Lookup("w"), 1, -1}}}, "not in order"},
		{&Plan{Target: numfmt.FP16, Edits: []Edit{Widen{other.Graph.Lookup("e")}}}, "another model"},
	} {
		if _, _, err := c.plan.Apply(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}

func TestEditsDescribeThemselves(t *testing.T) {
	g := parsed(t, small).Graph
	for _, c := range []struct {
		edit Edit
		want string
		safe bool
	}{
		{Widen{g.Lookup("e")}, `hold "e" in fp32 from its maker to its readers`, true},
		{KeepFP32{g.Lookup("e").Producer}, `compute node "exp" (Exp) in fp32`, true},
		{Clamp{g.Lookup("w"), -65504, 65504}, `clamp constant "w" to [-65504, 65504]`, true},
		{SetConst{g.Lookup("w"), 0, 1e-6}, `change 0 to 1e-06 in constant "w"`, false},
		{SetFloat(g.Nodes[0], "epsilon", 1e-4), `set epsilon of node "mul" (Mul) to 0.0001`, false},
		{SetInt(g.Nodes[0], "stash_type", 1), `set stash_type of node "mul" (Mul) to 1`, true},
		{Quantize{g.Nodes[0], 1, 0}, `store input 1 of node "mul" (Mul) in 8 bits`, false},
		{Quantize{g.Nodes[0], 0, 0.5}, `round input 0 of node "mul" (Mul) to 8 bits with the scale 0.5`, false},
	} {
		if c.edit.Describe() != c.want || c.edit.Safe() != c.safe {
			t.Errorf("%q, safe %v", c.edit.Describe(), c.edit.Safe())
		}
	}
}
