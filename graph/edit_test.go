package graph

import (
	"strings"
	"testing"
)

// TestEdits makes edits on the model of build_test.go and on the chain, holds the edges against
// each other after each, and reads back what was written.
func TestEdits(t *testing.T) {
	cases := []struct {
		name string
		edit func(m *Model)
		want string // the nodes of the chain x -> a -> p -> b -> q -> c -> y
	}{
		{"replace uses", func(m *Model) { m.Graph.Lookup("q").ReplaceUses(m.Graph.Lookup("p"), nil) },
			"Relu:a(x)=p LeakyRelu:b(p)=q Neg:c(p)=y"},
		{"keep a use", func(m *Model) {
			m.Graph.Lookup("p").ReplaceUses(m.Graph.Lookup("x"), func(u Use) bool { return u.Node.Name == "b" })
		}, "Relu:a(x)=p LeakyRelu:b(p)=q Neg:c(q)=y"},
		{"pass an output on", func(m *Model) { // b makes another value, a cast makes q of it
			g, b := m.Graph, m.Graph.Nodes[1]
			q := b.Outputs[0]
			b.SetOutput(0, g.NewValue("low", Type{}))
			cast := g.NewNode("Cast", "", "cast")
			cast.AddInput(b.Outputs[0])
			cast.SetOutput(0, q)
			g.InsertAfter(b, cast)
		}, "Relu:a(x)=p LeakyRelu:b(p)=low Cast:cast(low)=q Neg:c(q)=y"},
		{"steal an output", func(m *Model) {
			g := m.Graph
			id := g.NewNode("Identity", "", "id")
			id.AddInput(g.Lookup("p"))
			id.SetOutput(0, g.Lookup("y"))
			g.InsertBefore(nil, id)
			g.Remove(g.Nodes[2])
		}, "Relu:a(x)=p LeakyRelu:b(p)=q Identity:id(p)=y"},
		{"move", func(m *Model) {
			g, c := m.Graph, m.Graph.Nodes[2]
			g.Remove(c)
			c.SetInput(0, g.Lookup("p"))
			g.InsertBefore(g.Nodes[1], c)
		}, "Relu:a(x)=p Neg:c(p)=y LeakyRelu:b(p)=q"},
		{"initializers", func(m *Model) {
			g := m.Graph
			g.RemoveInit(g.Lookup("w"))
			add := g.NewNode("Add", "", "add")
			add.AddInput(g.Lookup("p"))
			add.AddInput(g.AddInit(FloatTensor(m.Unique("w"), []int64{2}, 1, 2)))
			add.AddOutput("sum", Type{})
			g.InsertBefore(nil, add)
		}, "Relu:a(x)=p LeakyRelu:b(p)=q Neg:c(q)=y Add:add(p,w)=sum"},
		{"inputs and outputs", func(m *Model) {
			g := m.Graph
			m.Graph.Nodes[0].SetInput(0, g.AddInput("z", TensorOf(Float, ShapeOf(2))))
			g.AddOutput(g.Lookup("q"))
			g.SetOutput(0, g.Lookup("p"))
		}, "Relu:a(z)=p LeakyRelu:b(p)=q Neg:c(q)=y"},
		{"left out", func(m *Model) {
			n := m.Graph.Nodes[1]
			n.SetInput(2, m.Graph.Lookup("w"))
			n.SetInput(3, nil)
			n.AddOutput("", Type{})
			n.AddOutput("extra", Type{})
			n.TrimInputs()
		}, "Relu:a(x)=p LeakyRelu:b(p,,w)=q,,extra Neg:c(q)=y"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := decoded(t, chain())
			c.edit(m)
			checkEdges(t, m)
			again := decoded(t, written(t, m))
			for _, k := range []*Model{m, m.Clone(), again} {
				checkEdges(t, k)
				if got := operators(k); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
			}
		})
	}
}

func TestOutputsAndInputs(t *testing.T) {
	m := decoded(t, chain())
	g := m.Graph
	p, q, y := g.Lookup("p"), g.Lookup("q"), g.Lookup("y")
	g.AddOutput(q)
	g.SetOutput(0, p)
	if !p.Output || !q.Output || y.Output {
		t.Error("the marks of outputs are wrong")
	}
	if p.Type.String() != "float[2]" || q.Declared() != true || y.Declared() {
		t.Errorf("types %v %v, declared %v %v", p.Type, q.Type, q.Declared(), y.Declared())
	}
	g.SetOutput(0, y)
	g.Lookup("x").Rename("input")
	again := decoded(t, written(t, m))
	if len(again.Graph.Outputs) != 2 || again.Graph.Outputs[0].Name != "y" || again.Graph.Inputs[0].Name != "input" {
		t.Error("the signature is not what was set")
	}
}

func TestUnique(t *testing.T) {
	m := buildCalls(t)
	for _, c := range []struct{ base, want string }{
		{"free", "free"}, {"free", "free_1"}, {"free", "free_2"}, {"y1", "y1_1"}, {"inner", "inner_1"}, {"t", "t_1"}, {"", "_1"},
	} {
		if got := m.Unique(c.base); got != c.want {
			t.Errorf("Unique(%q) is %q, want %q", c.base, got, c.want)
		}
	}
	v := m.Graph.NewValue("free_3", Type{})
	if got := m.Unique("free"); got != "free_4" || v.Name != "free_3" {
		t.Errorf("a new value's name was given again: %q", got)
	}
}

// TestCaptured edits values that a branch reads.
func TestCaptured(t *testing.T) {
	m := buildCalls(t)
	x := m.Graph.Lookup("x")
	x.Rename("renamed")
	w := m.Graph.Lookup("w")
	w.ReplaceUses(x, nil)
	checkEdges(t, m)
	m.Graph.RemoveInit(w)
	again := decoded(t, written(t, m))
	if got := bodyOf(again.Graph.Nodes[0].Body("then_branch")); got != "Add(renamed,renamed)" {
		t.Errorf("the branch is %s", got)
	}
	branch := m.Graph.Nodes[0]
	m.Graph.Remove(branch)
	if n := len(x.Uses); n != 0 {
		t.Errorf("%d uses are left of a removed branch", n)
	}
	m.Graph.InsertAfter(nil, branch)
	if n := len(x.Uses); n != 3 {
		t.Errorf("%d uses after inserting it again, want 3", n)
	}
	checkEdges(t, m)
}

func bodyOf(g *Graph) string {
	var list []string
	for _, n := range g.Nodes {
		list = append(list, n.Op+"("+strings.Join(valueNames(n.Inputs), ",")+")")
	}
	return strings.Join(list, " ")
}

// TestCloneIsDeep edits a clone in every way and finds the original as it was.
func TestCloneIsDeep(t *testing.T) {
	m := buildCalls(t)
	before := string(written(t, m))
	k := m.Clone()
	for g := range k.Graphs() {
		for _, v := range g.Values {
			v.Declare(TensorOf(Float16, nil))
			v.Rename(k.Unique("renamed"))
		}
		for _, n := range g.Nodes {
			n.Name, n.Doc = "", "doc"
			for _, a := range n.Attrs {
				a.F, a.Ref = 9, ""
			}
		}
	}
	k.SetOpset("", 20)
	k.Meta = append(k.Meta, Entry{"a", "b"})
	if string(written(t, m)) != before {
		t.Error("the original changed")
	}
	checkEdges(t, m)
}
