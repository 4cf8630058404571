package graph

import "testing"

// contradictory builds y = Exp(x), where value_info contradicts what the output declares.
func contradictory(t *testing.T) *Model {
	t.Helper()
	m := NewModel(8, Opset{"", 17})
	m.Graph.DeclareInput("x", TensorOf(Float, Shape{{Sym: "N"}}))
	m.Graph.DeclareOutput("y", TensorOf(Float, Shape{{Sym: "N"}}))
	m.Graph.DeclareValue("y", TensorOf(Float, Shape{}))
	m.Graph.AddNodeNamed("Exp", "", "e", []string{"x"}, []string{"y"})
	if err := m.Link(); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSetElemKeepsDeclaredShapes(t *testing.T) {
	g := contradictory(t).Graph
	g.Lookup("y").SetElem(Float16)
	if got := g.OutputInfos()[0].Type.String(); got != "float16[N]" {
		t.Errorf("output: %s", got)
	}
	if got := g.ValueInfos()[0].Type.String(); got != "float16" {
		t.Errorf("value_info: %s", got)
	}
	seq := Type{Kind: KindSequence, Of: &Type{Kind: KindTensor, Elem: Float}}
	if got := seq.withElem(Double); got.Of.Elem != Double || seq.Of.Elem != Float {
		t.Errorf("sequence: %s, was %s", got, seq)
	}
}

func TestDropInfoKeepsInputsAndOutputs(t *testing.T) {
	g := contradictory(t).Graph
	y := g.Lookup("y")
	y.DropInfo()
	if len(g.ValueInfos()) != 0 || !y.Declared() || g.OutputInfos()[0].Type.String() != "float[N]" {
		t.Errorf("value_info %v, output %v", g.ValueInfos(), g.OutputInfos()[0])
	}
	x := g.Lookup("x")
	if x.DropInfo(); !x.Declared() {
		t.Error("the input lost its declaration")
	}
}
