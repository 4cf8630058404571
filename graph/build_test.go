package graph

import "testing"

// buildCalls is a model with a branch, a function of one attribute parameter and a call of it.
func buildCalls(t testing.TB) *Model {
	t.Helper()
	m := NewModel(10, Opset{"", 21}, Opset{"local", 1})
	g := m.Graph
	g.Name = "main"
	g.DeclareInput("x", TensorOf(Float, ShapeOf(2)))
	g.DeclareInput("c", TensorOf(Bool, Shape{}))
	g.AddInitTensor(FloatTensor("w", []int64{2}, 3, 4))
	then, other := m.NewGraph("then"), m.NewGraph("else")
	then.AddNodeNamed("Add", "", "inner", []string{"x", "w"}, []string{"y1"})
	then.DeclareOutput("y1", Type{})
	other.AddNodeNamed("Identity", "", "", []string{"w"}, []string{"y2"})
	other.DeclareOutput("y2", Type{})
	g.AddNodeNamed("If", "", "branch", []string{"c"}, []string{"y"},
		&Attr{Name: "then_branch", Type: AttrGraph, Graph: then}, &Attr{Name: "else_branch", Type: AttrGraph, Graph: other})
	g.AddNodeNamed("Scale", "local", "call", []string{"y"}, []string{"z"}, &Attr{Name: "alpha", Type: AttrFloat, F: 2})
	g.DeclareOutput("z", TensorOf(Float, ShapeOf(2)))
	g.DeclareValue("y", TensorOf(Float, ShapeOf(2)))
	f := m.AddFunction("local", "Scale", []string{"a"}, []string{"b"}, []string{"alpha"}, nil, []Opset{{"", 21}})
	f.Body.AddNodeNamed("LeakyRelu", "", "leak", []string{"a"}, []string{"t"}, &Attr{Name: "alpha", Type: AttrFloat, Ref: "alpha"})
	f.Body.AddNodeNamed("Neg", "", "", []string{"t"}, []string{"b"})
	if err := m.Link(); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBuild(t *testing.T) {
	m := buildCalls(t)
	want := []string{"branch", "call", "branch/then_branch/inner", "branch/else_branch/#y2", "call/leak", "call/#b"}
	var got []string
	for n := range m.Nodes() {
		got = append(got, n.Key())
	}
	if len(got) != len(want) {
		t.Fatalf("nodes %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("node %d is %q, want %q", i, got[i], want[i])
		}
	}
	if a := m.Graph.Nodes[1].Call.Nodes[0].Float("alpha", 0); a != 2 {
		t.Errorf("the call's attribute is %v inside", a)
	}
	if uses := m.Graph.Find("w").Uses; len(uses) != 2 || uses[0].Node.Name != "inner" {
		t.Errorf("w is used by %v", uses)
	}
	if y := m.Graph.Find("y"); y.Type.String() != "float[2]" || y.Producer.Op != "If" {
		t.Errorf("y is %v", y.Type)
	}
}
