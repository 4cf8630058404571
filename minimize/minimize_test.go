package minimize

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

const layers = `<ir_version: 9, opset_import: ["" : 18, "local" : 1], metadata_props: ["amplint.range.x" : "[-3,3]", "other" : "note"]>
m (float[N, 64] x, float[N, 64] z) => (float[N, 64] y, float[N, 64] t)
<float[64, 64] w, float[64] b = {0.125}>
{
  a = MatMul(x, w)
  c = Add(a, b)
  e = Exp(c)
  f = local.twice(e)
  g = Relu(f)
  s = Softmax(g)
  y = Mul(s, z)
  t = Tanh(a)
}
<domain: "local", opset_import: ["" : 18]>
twice (z) => (d) { d = Add(z, z) }
<domain: "local", opset_import: ["" : 18]>
unused (z) => (d) { d = Neg(z) }`

// parse reads a model; a weight without elements gets some that tell their place.
func parse(t *testing.T, text string) *graph.Model {
	t.Helper()
	var list strings.Builder
	for i := range 64 * 64 {
		if i > 0 {
			list.WriteString(", ")
		}
		list.WriteString([]string{"0.5", "0.25", "1.0625", "3"}[i%4])
	}
	text = strings.Replace(text, "[64, 64] w,", "[64, 64] w = {"+list.String()+"},", 1)
	text = strings.Replace(text, "[64] b = {0.125}", "[64] b = {"+strings.Repeat("0.125, ", 63)+"0.125}", 1)
	m, err := onnxtxt.Parse("case", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	infer(m)
	return m
}

func at(t *testing.T, m *graph.Model, op string) *graph.Node {
	t.Helper()
	for _, n := range m.Graph.Nodes {
		if n.Op == op {
			return n
		}
	}
	t.Fatalf("no node %s", op)
	return nil
}

// leadsTo makes an oracle: the part holds a node of the one operator from which operands lead to
// one of the other.
func leadsTo(from, to string) func(*graph.Model) bool {
	return func(m *graph.Model) bool {
		for _, n := range m.Graph.Nodes {
			if n.Op != to {
				continue
			}
			for seen, list := map[*graph.Node]bool{}, []*graph.Node{n}; len(list) > 0; list = list[1:] {
				if list[0].Op == from {
					return m.Check() == nil
				}
				makers(list[0], func(o *graph.Node) {
					if !seen[o] {
						seen[o] = true
						list = append(list, o)
					}
				})
			}
		}
		return false
	}
}

func text(t *testing.T, m *graph.Model) string {
	t.Helper()
	var b bytes.Buffer
	if err := onnxtxt.Print(&b, m, onnxtxt.PrintOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestOf(t *testing.T) {
	ranges := map[string]Range{"a": {-9, 9}, "c": {-8, 8}, "e": {0, 2981.5}}
	for _, c := range []struct {
		name, node string
		fails      func(*graph.Model) bool
		ops        string
		has, not   []string
	}{
		{"one node", "Exp", leadsTo("Exp", "Exp"), "Exp", []string{`"amplint.range.c" : "[-8,8]"`, "float[1,1] c"}, []string{"twice", "other", "range.x"}},
		{"what lies between is bridged where it passes numbers on", "Exp", leadsTo("Exp", "Softmax"), "Exp twice Softmax", nil, []string{"Relu"}},
		{"a function is kept where it is needed", "twice", leadsTo("twice", "twice"), "twice", []string{`"amplint.range.e" : "[0,3000]"`, "twice (z)"}, []string{"unused"}},
		{"weights are sliced and rounded", "MatMul", leadsTo("MatMul", "MatMul"), "MatMul", []string{"float[1,1] w = {0.5}", `"amplint.range.x" : "[-3,3]"`}, nil},
	} {
		m := parse(t, layers)
		before := text(t, m)
		part, err := Of(m, at(t, m, c.node), Options{Ranges: ranges, Fails: c.fails, Budget: 200})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var ops []string
		for _, n := range part.Graph.Nodes {
			ops = append(ops, n.Op)
		}
		got := text(t, part)
		if strings.Join(ops, " ") != c.ops {
			t.Errorf("%s: %v, want %s\n%s", c.name, ops, c.ops, got)
		}
		for _, s := range c.has {
			if !strings.Contains(got, s) {
				t.Errorf("%s: no %s in\n%s", c.name, s, got)
			}
		}
		for _, s := range c.not {
			if strings.Contains(got, s) {
				t.Errorf("%s: %s is left in\n%s", c.name, s, got)
			}
		}
		if text(t, m) != before {
			t.Errorf("%s: the model itself was changed", c.name)
		}
	}
}

// A part that needs the last elements of a weight keeps these.
func TestLastElements(t *testing.T) {
	m := parse(t, layers)
	last := func(m *graph.Model) bool {
		w := m.Graph.Lookup("w")
		if w == nil || w.Init == nil {
			return false
		}
		x, err := w.Init.Float64s()
		return err == nil && x[len(x)-1] == 3
	}
	part, err := Of(m, at(t, m, "MatMul"), Options{Fails: last, Budget: 100})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, part); !strings.Contains(got, "float[1,1] w = {3}") {
		t.Error(got)
	}
}

func TestNothingFails(t *testing.T) {
	m := parse(t, layers)
	tried := 0
	_, err := Of(m, at(t, m, "Exp"), Options{Fails: func(*graph.Model) bool { tried++; return false }, Budget: 5})
	if !errors.Is(err, ErrLost) || tried == 0 || tried > 5 {
		t.Errorf("%v after %d parts", err, tried)
	}
}

// A part of a model with branches takes the node around them, and what the branches read.
func TestBranches(t *testing.T) {
	m := parse(t, `<ir_version: 9, opset_import: ["" : 18]>
m (float[4] x, bool c) => (float[4] y) <float two = {2}>
{ a = Mul(x, two) r = If(c) <then_branch = t () => (float[4] u) { u = Exp(a) }, else_branch = e () => (float[4] w) { w = Neg(x) }> y = Tanh(r) }`)
	part, err := Of(m, at(t, m, "If"), Options{Ranges: map[string]Range{"a": {-8, 8}}, Fails: leadsTo("If", "If"), Budget: 50})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, part); len(part.Graph.Nodes) != 1 || !strings.Contains(got, "Exp (a)") || !strings.Contains(got, `"amplint.range.a" : "[-8,8]"`) {
		t.Error(got)
	}
}
