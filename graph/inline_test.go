package graph

import (
	"bytes"
	"strings"
	"testing"
)

// operators lists the operators of the main graph with their names.
func operators(m *Model) string {
	var list []string
	for _, n := range m.Graph.Nodes {
		list = append(list, n.Op+":"+n.Name+"("+strings.Join(valueNames(n.Inputs), ",")+")="+strings.Join(valueNames(n.Outputs), ","))
	}
	return strings.Join(list, " ")
}

func TestInline(t *testing.T) {
	m := buildCalls(t)
	original := written(t, m)
	m = decoded(t, original)
	copied := m.Clone()
	if err := m.Inline(m.Graph.Nodes[1]); err != nil {
		t.Fatal(err)
	}
	want := "If:branch(c)=y LeakyRelu:call/leak(y)=call/t Neg:call/#b(call/t)=z"
	if got := operators(m); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(m.Functions) != 0 {
		t.Error("a function that nothing calls is left")
	}
	checkEdges(t, m)
	again := decoded(t, written(t, m))
	if got := operators(again); got != want {
		t.Errorf("read again: %s, want %s", got, want)
	}
	if a := again.Graph.Nodes[1].Attr("alpha"); a.F != 2 || a.Ref != "" {
		t.Errorf("the attribute of the call did not follow: %+v", a)
	}
	if !bytes.Equal(written(t, copied), original) || len(copied.Functions) != 1 {
		t.Error("inlining changed the clone")
	}
}

// TestInlineShapes covers the ways in which the outputs of a function may be bound.
func TestInlineShapes(t *testing.T) {
	m := NewModel(10, Opset{"", 21}, Opset{"f", 1})
	g := m.Graph
	g.DeclareInput("x", TensorOf(Float, ShapeOf(2)))
	g.AddNodeNamed("F", "f", "one", []string{"x"}, []string{"a", "b", "c", ""})
	g.AddNodeNamed("F", "f", "two", []string{"c", "a"}, []string{"", "d"})
	g.DeclareOutput("b", TensorOf(Float, ShapeOf(2)))
	g.DeclareOutput("d", TensorOf(Float, ShapeOf(2)))
	f := m.AddFunction("f", "F", []string{"p", "q"}, []string{"r", "r", "p", "s"}, nil, nil, []Opset{{"", 21}, {"g", 1}})
	f.Body.AddNodeNamed("Relu", "", "", []string{"p"}, []string{"r"})
	f.Body.AddNodeNamed("H", "g", "h", []string{"r", "q"}, []string{"s"})
	h := m.AddFunction("g", "H", []string{"u", "v"}, []string{"w"}, nil, nil, []Opset{{"", 21}})
	h.Body.AddNodeNamed("Clip", "", "", []string{"u", "v"}, []string{"w"})
	if err := m.Link(); err != nil {
		t.Fatal(err)
	}
	for {
		var call *Node
		for _, n := range m.Graph.Nodes {
			if n.Call != nil {
				call = n
			}
		}
		if call == nil {
			break
		}
		if err := m.Inline(call); err != nil {
			t.Fatal(err)
		}
		checkEdges(t, m)
	}
	want := "Relu:one/#r(x)=a Clip:one/h/#w(a,)=one/s Identity:one/output(a)=b Identity:one/output_1(x)=c " +
		"Relu:two/#r(c)=d Clip:two/h/#w(d,a)=two/s"
	if got := operators(decoded(t, written(t, m))); got != want {
		t.Errorf("\n%s, want\n%s", got, want)
	}
	if len(m.Functions) != 0 || m.Opset("g") != 1 {
		t.Errorf("functions %v, opset of g %d", m.Functions, m.Opset("g"))
	}
}

func TestInlineRefuses(t *testing.T) {
	m := buildCalls(t)
	if err := m.Inline(m.Graph.Nodes[0]); err == nil {
		t.Error("an operator was inlined")
	}
	call := m.Graph.Nodes[1]
	call.Call.opsets = []Opset{{"", 15}} // LeakyRelu-16 allows a type more
	if err := m.Inline(call); err == nil || !strings.Contains(err.Error(), "LeakyRelu") {
		t.Errorf("inlined over a change of the operator: %v", err)
	}
	call.Call.Nodes[0].Graph.InsertAfter(nil, call.Call.NewNode("Identity", "", "id"))
	if _, err := m.WriteTo(&bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "not inlined") {
		t.Errorf("an edit inside a call got lost: %v", err)
	}
}

// checkEdges holds producers, uses, scopes and positions against each other.
func checkEdges(t *testing.T, m *Model) {
	t.Helper()
	for g := range m.Graphs() {
		for i, n := range g.Nodes {
			if n.Index != i || n.Graph != g {
				t.Errorf("%s stands at %d of %q, its index is %d", n.Key(), i, g.Name, n.Index)
			}
			for k, v := range n.Inputs {
				if v != nil && countUses(v, Use{n, k}) != 1 {
					t.Errorf("%s: input %q knows of %d uses there", n.Key(), v.Name, countUses(v, Use{n, k}))
				}
			}
			for k, v := range n.Outputs {
				if v != nil && (v.Producer != n || v.Index != k || v.Graph != g || g.Lookup(v.Name) != v) {
					t.Errorf("%s: output %q does not lead back", n.Key(), v.Name)
				}
			}
		}
		for _, v := range g.Values {
			for _, u := range v.Uses {
				if u.Node.In(u.Index) != v || u.Node.Index < 0 {
					t.Errorf("%q claims to be input %d of %s", v.Name, u.Index, u.Node.Key())
				}
			}
			if v.Graph != g {
				t.Errorf("%q stands in two scopes", v.Name)
			}
		}
	}
}

func countUses(v *Value, u Use) (n int) {
	for _, w := range v.Uses {
		if w == u {
			n++
		}
	}
	return n
}
