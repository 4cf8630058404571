package witness

import (
	"context"
	"math"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// bounded reads a model and bounds its values.
func bounded(t *testing.T, text string, ranges map[string]rangeprop.Range) (*graph.Model, *infer.Info, []rangeprop.InputRange) {
	t.Helper()
	m, err := onnxtxt.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	info, err := infer.Run(m, infer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]rangeprop.Given{}
	for name, r := range ranges {
		given[name] = rangeprop.Given{Range: r, Basis: rangeprop.Declared}
	}
	r, err := rangeprop.Analyze(m, info, rangeprop.Options{Ranges: given})
	if err != nil {
		t.Fatal(err)
	}
	return m, info, r.Inputs()
}

func probe(t *testing.T, text string, target numfmt.Format, ranges map[string]rangeprop.Range) (*graph.Model, *Seen) {
	t.Helper()
	m, info, inputs := bounded(t, text, ranges)
	hold := func(v *graph.Value) (numfmt.Format, bool) { return target, v.Type.Float() }
	suspects := []*graph.Value{}
	if v := m.Graph.Lookup("suspect"); v != nil {
		suspects = append(suspects, v)
	}
	return m, Probe(context.Background(), m, info, inputs, Options{Target: target, Hold: hold, Suspects: suspects, Runs: 24, Climbs: 500})
}

const chain = `<ir_version: 9, opset_import: ["" : 18]>
m (float[N, 8] x) => (float[N, 8] y)
<float small = {0.0001}>
{
  a = Mul(x, x)
  b = Mul(a, a)
  c = Mul(b, small)
  y = Mul(c, small)
}`

func TestRootsOnly(t *testing.T) {
	m, seen := probe(t, chain, numfmt.FP16, map[string]rangeprop.Range{"x": {Lo: -20, Hi: 20}})
	if seen.Runs != 24 || seen.Err != nil {
		t.Fatalf("%d runs, %v", seen.Runs, seen.Err)
	}
	s, ok := seen.Of(m.Graph.Lookup("b"))
	if !ok || s.Hi != 160000 || s.Right || s.NaN {
		t.Errorf("b: %+v, %v", s, ok)
	}
	for _, name := range []string{"a", "c", "y"} {
		if s, ok := seen.Of(m.Graph.Lookup(name)); ok {
			t.Errorf("%s is no root: %+v", name, s)
		}
	}
}

func TestNothingToSee(t *testing.T) {
	m, seen := probe(t, chain, numfmt.FP16, map[string]rangeprop.Range{"x": {Lo: -2, Hi: 2}})
	if _, ok := seen.Of(m.Graph.Lookup("b")); ok || seen.Runs == 0 {
		t.Errorf("seen %v after %d runs", ok, seen.Runs)
	}
}

// An integer of which nothing is known is not run: what overflows then overflows for an input that
// nobody gives.
func TestUnknownIntegersAreNotRun(t *testing.T) {
	const positions = `<ir_version: 9, opset_import: ["" : 18]>
m (int64[N] pos) => (float[N] y)
{
  a = Cast<to = 1>(pos)
  y = Sin(a)
}`
	m, seen := probe(t, positions, numfmt.FP16, nil)
	if s, ok := seen.Of(m.Graph.Lookup("a")); ok || seen.Runs != 0 || seen.Err == nil {
		t.Errorf("%d runs on an unknown input, error %v, a: %+v", seen.Runs, seen.Err, s)
	}
	m, seen = probe(t, positions, numfmt.FP16, map[string]rangeprop.Range{"pos": {Lo: 0, Hi: 100000}})
	if _, ok := seen.Of(m.Graph.Lookup("a")); !ok {
		t.Errorf("%d runs on a declared input show no overflow, error %v", seen.Runs, seen.Err)
	}
}

func TestAbsorbed(t *testing.T) {
	m, seen := probe(t, `<ir_version: 9, opset_import: ["" : 18]>
m (float[2, 8] x) => (float[2, 8] y)
<float one = {1}>
{
  e = Exp(x)
  p = Add(e, one)
  l = Log(p)
  g = Tanh(l)
  y = Mul(x, g)
}`, numfmt.FP16, map[string]rangeprop.Range{"x": {Lo: -20, Hi: 20}})
	if s, ok := seen.Of(m.Graph.Lookup("e")); !ok || !s.Right {
		t.Errorf("e: %+v, %v", s, ok)
	}
}

func TestFunctionsAndBranches(t *testing.T) {
	m, seen := probe(t, `<ir_version: 9, opset_import: ["" : 18, "local" : 1]>
m (float[2, 8] x, bool c) => (float[2, 8] y)
<float big = {30000}>
{
  s = Mul(x, big)
  q = local.twice(s)
  y = If(c) <then_branch = t () => (float[2, 8] u) { u = Mul(x, x) }, else_branch = e () => (float[2, 8] w) { w = Identity(q) }>
}
<domain: "local", opset_import: ["" : 18]>
twice (z) => (d) { d = Add(z, z) }`, numfmt.FP16, map[string]rangeprop.Range{"x": {Lo: -300, Hi: 300}, "c": {Lo: 0, Hi: 1}})
	if _, ok := seen.Of(m.Graph.Lookup("s")); !ok {
		t.Errorf("s is a root; %v", seen.Err)
	}
	roots := 0
	for n := range m.Nodes() {
		if _, ok := seen.Of(n.Out(0)); ok {
			roots++
		}
	}
	if roots != 2 {
		t.Errorf("%d roots, want s and the square in the branch", roots)
	}
}

func TestInputsWithoutRange(t *testing.T) {
	if _, seen := probe(t, chain, numfmt.FP16, nil); seen.Runs != 0 || seen.Err == nil {
		t.Errorf("%d runs, %v", seen.Runs, seen.Err)
	}
}

func TestAsItIs(t *testing.T) {
	m, seen := probe(t, `<ir_version: 9, opset_import: ["" : 18]>
m (float16[2, 8] x) => (float16[2, 8] y)
{
  a = Mul(x, x)
  y = Sqrt(a)
}`, numfmt.Invalid, map[string]rangeprop.Range{"x": {Lo: 0, Hi: 300}})
	if s, ok := seen.Of(m.Graph.Lookup("a")); !ok || s.Right {
		t.Errorf("a: %+v, %v", s, ok)
	}
}

// TestClimb needs an input whose elements agree with the signs of the weights, which no draw hits.
func TestClimb(t *testing.T) {
	m, seen := probe(t, `<ir_version: 9, opset_import: ["" : 18]>
m (float[1, 64] x) => (float[1, 1] y)
<float[4] w = {3, -1, 2, -4}, int64[2] shape = {16, 4}, float small = {0.0001}>
{
  r = Reshape(x, shape)
  p = Mul(r, w)
  sum = ReduceSum<keepdims = 0>(p)
  suspect = Mul(sum, sum)
  y = Mul(suspect, small)
}`, numfmt.FP16, map[string]rangeprop.Range{"x": {Lo: -2, Hi: 2}})
	if s, ok := seen.Of(m.Graph.Lookup("suspect")); !ok || s.Hi < 65520 {
		t.Errorf("suspect: %+v, %v after %d runs, %v", s, ok, seen.Runs, seen.Err)
	}
}

// TestWork ends the runs after a count of operations, whatever time they take.
func TestWork(t *testing.T) {
	m, info, inputs := bounded(t, chain, map[string]rangeprop.Range{"x": {Lo: -20, Hi: 20}})
	hold := func(v *graph.Value) (numfmt.Format, bool) { return numfmt.FP16, v.Type.Float() }
	runs := func(work int64) int {
		return Probe(context.Background(), m, info, inputs, Options{Target: numfmt.FP16, Hold: hold, Runs: 24, Work: work}).Runs
	}
	few := runs(20_000)
	if few == 0 || few >= 24 {
		t.Errorf("%d runs", few)
	}
	if again := runs(20_000); again != few {
		t.Errorf("%d runs, then %d", few, again)
	}
	if all := runs(1e9); all != 24 {
		t.Errorf("%d runs of 24", all)
	}
}

// TestAlone tells a harmless overflow from one that spoils the output beside it.
func TestAlone(t *testing.T) {
	m, seen := probe(t, `<ir_version: 9, opset_import: ["" : 18]>
m (float[2, 8] x) => (float[2, 8] y)
{
  a = Exp(x)
  g = Tanh(a)
  q = Mul(x, x)
  b = Mul(q, q)
  r = Sqrt(b)
  y = Add(g, r)
}`, numfmt.FP16, map[string]rangeprop.Range{"x": {Lo: -20, Hi: 20}})
	if s, ok := seen.Of(m.Graph.Lookup("a")); !ok || !s.Right {
		t.Errorf("a: %+v, %v", s, ok)
	}
	if s, ok := seen.Of(m.Graph.Lookup("b")); !ok || s.Right {
		t.Errorf("b: %+v, %v", s, ok)
	}
}

func TestExtremes(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		x    []float32
		want extremes
	}{
		{[]float32{1, -2, 3}, extremes{lo: -2, hi: 3}},
		{[]float32{0, nan, 4, 5, 6, 7, 8, 9, 10}, extremes{lo: 0, hi: 10, nan: true}},
		{[]float32{1, -inf}, extremes{lo: math.Inf(-1), hi: 1, inf: true}},
		{[]float32{nan, inf, -3}, extremes{lo: -3, hi: math.Inf(1), nan: true, inf: true}},
		{[]float32{nan}, extremes{lo: math.Inf(1), hi: math.Inf(-1), nan: true}},
		{nil, extremes{lo: math.Inf(1), hi: math.Inf(-1)}},
	} {
		if got := extremesOf(&refeval.Tensor{Elem: graph.Float, Dims: []int{len(c.x)}, F: c.x}); got != c.want {
			t.Errorf("extremes of %v are %+v, not %+v", c.x, got, c.want)
		}
		double := &refeval.Tensor{Elem: graph.Double, Dims: []int{len(c.x)}}
		for _, x := range c.x {
			double.D = append(double.D, float64(x))
		}
		if got := extremesOf(double); got != c.want {
			t.Errorf("extremes of doubles %v are %+v, not %+v", c.x, got, c.want)
		}
	}
}

// TestBehind finds what overflows by itself behind what has overflowed before, and nothing that only passes that on.
func TestBehind(t *testing.T) {
	m, seen := probe(t, `<ir_version: 9, opset_import: ["" : 18]>
m (float[N, 8] x) => (float[N, 8] y)
<float small = {0.0001}, float large = {60000}>
{
  a = Mul(x, x)
  b = Mul(a, small)
  c = Mul(b, large)
  y = Mul(c, small)
}`, numfmt.FP16, map[string]rangeprop.Range{"x": {Lo: -400, Hi: 400}})
	for name, root := range map[string]bool{"a": true, "b": false, "c": true, "y": false} {
		s, ok := seen.Of(m.Graph.Lookup(name))
		if ok != root {
			t.Errorf("%s is a root: %t, want %t", name, ok, root)
		}
		if ok && (s.NaN || s.Hi < 65520) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if most := seen.Close(m.Graph.Lookup("c")); most < 65520 || seen.Close(m.Graph.Lookup("b")) != 0 {
		t.Errorf("c came to %g", most)
	}
}
