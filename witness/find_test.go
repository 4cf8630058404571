package witness

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// find looks for an input that breaks the value "goal" of a model, or its reader "at" where there
// is a node of that name.
func find(t *testing.T, text string, target numfmt.Format, h Harm, ranges map[string]rangeprop.Range) (*graph.Model, *Witness) {
	t.Helper()
	m, info, inputs := bounded(t, text, ranges)
	g := Goal{Value: m.Graph.Lookup("goal"), Harm: h}
	g.Node = g.Value.Producer
	for n := range m.Nodes() {
		if n.Name == "at" {
			g.Node = n
		}
	}
	hold := func(v *graph.Value) (numfmt.Format, bool) { return target, v.Type.Float() }
	found, err := Find(context.Background(), m, info, inputs, []Goal{g}, Options{Target: target, Hold: hold, Work: 1e9, Runs: 24, Climbs: 400})
	if err != nil {
		t.Fatal(err)
	}
	return m, found[0].Witness
}

const head = `<ir_version: 9, opset_import: ["" : 18]> `

func TestFind(t *testing.T) {
	wide := rangeprop.Range{Lo: -20, Hi: 20}
	for _, c := range []struct {
		name, text string
		target     numfmt.Format
		harm       Harm
		ranges     map[string]rangeprop.Range
		right      bool // the output stays right
	}{
		{"an overflow", head + `m (float[2, 8] x) => (float[2, 8] y) { a = Mul(x, x) goal = Mul(a, a) y = Sqrt(goal) }`,
			numfmt.FP16, NotFinite, map[string]rangeprop.Range{"x": wide}, false},
		{"an overflow that does no harm", head + `m (float[2, 8] x) => (float[2, 8] y) { goal = Exp(x) y = Tanh(goal) }`,
			numfmt.FP16, NotFinite, map[string]rangeprop.Range{"x": wide}, true},
		{"a constant that turns to zero", head + `m (float[2, 8] x) => (float[2, 8] y) <float goal = {1e-12}> { ["at"] a = Add(x, goal) y = Log(a) }`,
			numfmt.FP16, Vanished, map[string]rangeprop.Range{"x": {Lo: 0, Hi: 1}}, false},
		{"a constant that turns to one", head + `m (float[2, 8] x) => (float[2, 8] y) <float lo = {0}, float goal = {0.999999}, float one = {1}> { ["at"] a = Clip(x, lo, goal) b = Sub(one, a) y = Log(b) }`,
			numfmt.FP16, Inexact, map[string]rangeprop.Range{"x": {Lo: 0, Hi: 1}}, false},
		{"a distance of equal rows", head + `m (float[4, 8] x, float[4, 8] z) => (float[4] y) <int64[1] last = {-1}> { a = Sub(x, z) q = Mul(a, a) d = ReduceSum<keepdims = 0>(q, last) goal = Reciprocal(d) y = Log(goal) }`,
			numfmt.FP32, NotFinite, map[string]rangeprop.Range{"x": {Lo: 1, Hi: 2}, "z": {Lo: 1, Hi: 2}}, false},
		{"an index", head + `m (int64[4] x) => (int64[4] y) { goal = Cast<to = 1>(x) y = Cast<to = 7>(goal) }`,
			numfmt.FP16, Inexact, map[string]rangeprop.Range{"x": {Lo: 0, Hi: 5000}}, false},
		{"a logarithm that needs a weight to move", head + `m (float[2, 8] x) => (float[2, 2] y) <float[8, 2] w = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}> { a = MatMul(x, w) p = Softmax(a) goal = Log(p) y = Neg(goal) }`,
			numfmt.FP32, NotFinite, map[string]rangeprop.Range{"x": {Lo: -1, Hi: 1}, "w": wide}, false},
		{"a branch", head + `m (float[8] x, bool c) => (float[8] y) { goal = If(c) <then_branch = t () => (float[8] u) { q = Mul(x, x) u = Mul(q, q) }, else_branch = e () => (float[8] w) { w = Identity(x) }> y = Sqrt(goal) }`,
			numfmt.FP16, NotFinite, map[string]rangeprop.Range{"x": wide, "c": {Lo: 0, Hi: 1}}, false},
	} {
		m, w := find(t, c.text, c.target, c.harm, c.ranges)
		if w == nil {
			t.Errorf("%s: no input was found", c.name)
			continue
		}
		if w.Right != c.right {
			t.Errorf("%s: the output is right %v, want %v", c.name, w.Right, c.right)
		}
		for name, r := range c.ranges {
			inside(t, c.name, m.Graph.Lookup(name), w.Input[name], r)
		}
	}
}

// inside makes sure that an input keeps to its range and to the type of the model.
func inside(t *testing.T, what string, v *graph.Value, x *refeval.Value, r rangeprop.Range) {
	t.Helper()
	if x == nil {
		if v.Init == nil {
			t.Errorf("%s: %s is not given", what, v.Name)
		}
		return
	}
	if x.Tensor.Elem != v.Type.Elem {
		t.Errorf("%s: %s is %s", what, v.Name, x.Tensor)
	}
	for i := range x.Tensor.Len() {
		if f := at(x.Tensor, i); f < r.Lo-1e-6 || f > r.Hi+1e-6 {
			t.Errorf("%s: %s holds %v, its range is %v", what, v.Name, f, r)
		}
	}
}

func TestFindNothing(t *testing.T) {
	for _, target := range []numfmt.Format{numfmt.FP16, numfmt.FP32} {
		if _, w := find(t, head+`m (float[2, 8] x) => (float[2, 8] y) { a = Tanh(x) goal = Mul(a, a) y = Sqrt(goal) }`, target, NotFinite, map[string]rangeprop.Range{"x": {Lo: -20, Hi: 20}}); w != nil {
			t.Errorf("%v: %+v", target, w)
		}
	}
}

// TestFindAgain gives the same input twice.
func TestFindAgain(t *testing.T) {
	text := head + `m (float[1, 64] x) => (float[1, 1] y) <float[4] w = {3, -1, 2, -4}, int64[2] shape = {16, 4}, float small = {0.0001}>
{ r = Reshape(x, shape) p = Mul(r, w) sum = ReduceSum<keepdims = 0>(p) goal = Mul(sum, sum) y = Mul(goal, small) }`
	ranges := map[string]rangeprop.Range{"x": {Lo: -2, Hi: 2}}
	_, a := find(t, text, numfmt.FP16, NotFinite, ranges)
	_, b := find(t, text, numfmt.FP16, NotFinite, ranges)
	if a == nil || b == nil {
		t.Fatal("no input was found")
	}
	for i := range a.Input["x"].Tensor.F {
		if a.Input["x"].Tensor.F[i] != b.Input["x"].Tensor.F[i] {
			t.Fatalf("element %d is %v, then %v", i, a.Input["x"].Tensor.F[i], b.Input["x"].Tensor.F[i])
		}
	}
}

// TestLongInputs needs more samples than a window is long.
func TestLongInputs(t *testing.T) {
	taps := strings.Repeat("1, ", 199) + "1"
	_, w := find(t, head+`m (float[1, 1, N] x) => (float[1, 1, M] y) <float[1, 1, 200] k = {`+taps+`}> { c = Conv(x, k) goal = Mul(c, c) y = Sqrt(goal) }`,
		numfmt.FP16, NotFinite, map[string]rangeprop.Range{"x": {Lo: -20, Hi: 20}})
	if w == nil {
		t.Fatal("no input was found")
	}
	if n := w.Input["x"].Tensor.Len(); n < 200 {
		t.Errorf("%d samples", n)
	}
}

// TestIndices keeps indices where the model can be run at all.
func TestIndices(t *testing.T) {
	_, w := find(t, head+`m (float[2, 8] x, int64[2] i) => (float[2, 2] y) { goal = Exp(x) y = Gather<axis = 1>(goal, i) }`,
		numfmt.FP16, NotFinite, map[string]rangeprop.Range{"x": {Lo: -20, Hi: 20}, "i": {Lo: -900, Hi: 900}})
	if w == nil {
		t.Fatal("no input was found")
	}
}

// TestMasks looks at what masks of sequences hide. A place whose numbers are NaN because all else is
// masked shows nothing of its own, and what is wrong behind a mask shows where nothing is masked.
func TestMasks(t *testing.T) {
	masked := head + `m (float[2, 8] x, int64[2, 8] mask) => (float[2, 8] y) <float low = {-3.4e38}, float zero = {0}, float tiny = {1e-12}, int64[1] last = {-1}>
{ b = Cast<to = 9>(mask) w = Where(b, zero, low) s = Add(x, w) p = Softmax(s) q = Mul(p, p) v = ReduceSum(q, last) %s }`
	epsilon := `["at"] e = Add(v, tiny) goal = Div(p, e) y = Mul(goal, x)`
	m, info, inputs := bounded(t, fmt.Sprintf(masked, epsilon), map[string]rangeprop.Range{"x": {Lo: -4, Hi: 4}, "mask": {Lo: 0, Hi: 1}})
	hold := func(v *graph.Value) (numfmt.Format, bool) { return numfmt.FP16, v.Type.Float() }
	e := m.Graph.Lookup("e")
	for _, nonempty := range []bool{true, false} {
		opt := Options{Target: numfmt.FP16, Hold: hold, Work: 1e9, Runs: 24, Climbs: 400, Padding: func(v *graph.Value) bool { return nonempty && v.Name == "mask" }}
		found, err := Find(context.Background(), m, info, inputs, []Goal{{Node: e.Producer, Value: e, Harm: Vanished}}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if w := found[0].Witness; w != nil && !w.Right {
			t.Errorf("with rows that are never empty %v: %v", nonempty, w.Input["mask"].Tensor.I)
		}
	}
}

// TestFewRuns finds what numbers near 0 do although the work allowed is less than a run.
func TestFewRuns(t *testing.T) {
	m, info, inputs := bounded(t, head+`m (float[16, 64] x) => (float[16, 64] y) <float tiny = {1e-10}> { s = Mul(x, x) ["at"] e = Add(s, tiny) y = Log(e) }`, map[string]rangeprop.Range{"x": {Lo: -4, Hi: 4}})
	hold := func(v *graph.Value) (numfmt.Format, bool) { return numfmt.FP16, v.Type.Float() }
	e := m.Graph.Lookup("e")
	opt := Options{Target: numfmt.FP16, Hold: hold, Work: 1e5, Runs: 24, Climbs: 400}
	found, err := Find(context.Background(), m, info, inputs, []Goal{{Node: e.Producer, Value: e, Harm: Vanished}}, opt)
	if err != nil || found[0].Witness == nil || !found[0].Witness.NotFinite {
		t.Errorf("got %+v, %v, want an input whose logarithm is infinite", found[0].Witness, err)
	}
}
