package graph

import (
	"strings"
	"testing"
)

// TestProblems breaks a sound model in one way after the other.
func TestProblems(t *testing.T) {
	node := func(m *Model, i int) *Node { return m.Graph.Nodes[i] }
	branch := func(m *Model) *Graph { return m.Graph.Nodes[0].Body("then_branch") }
	for _, c := range []struct {
		want string
		edit func(m *Model)
	}{
		{"", func(m *Model) {}},
		{"IR version 0", func(m *Model) { m.IRVersion = 0 }},
		{"has no opset imports", func(m *Model) { m.IRVersion = 2 }},
		{"needs an opset import", func(m *Model) { m.Opsets = nil }},
		{"versions 21 and 20", func(m *Model) { m.Opsets = append(m.Opsets, Opset{"", 20}) }},
		{"in version 0", func(m *Model) { m.SetOpset("", 0) }},
		{`metadata "k" stands twice`, func(m *Model) { m.Meta = []Entry{{"k", ""}, {"k", ""}} }},
		{"is no input, as IR version 3 demands", func(m *Model) { m.IRVersion, m.Functions, m.Graph.Nodes[1].Domain = 3, nil, "" }},
		{"the graph has no name", func(m *Model) { m.Graph.Name = "" }},
		{`nothing before it defines "y"`, func(m *Model) { n := node(m, 1); m.Graph.Remove(n); m.Graph.InsertAfter(nil, n) }},
		{`output 0: nothing defines "z"`, func(m *Model) { m.Graph.Remove(node(m, 1)) }},
		{`defines "x", which an input defines already`, func(m *Model) { node(m, 1).Outputs[0].Name = "x" }},
		{"has no name", func(m *Model) { node(m, 1).Outputs[0].Name = "" }},
		{"hides", func(m *Model) { v := branch(m).NewValue("x", Type{}); branch(m).Inputs = append(branch(m).Inputs, v) }},
		{"an outer scope defines already", func(m *Model) { branch(m).Nodes[0].Outputs[0].Name = "w" }},
		{"neither inputs nor outputs", func(m *Model) { m.Graph.InsertBefore(nil, m.Graph.NewNode("Relu", "", "r")) }},
		{"no operator", func(m *Model) { node(m, 0).Op = "" }},
		{"has no such operator", func(m *Model) { node(m, 0).Op = "Nonsense" }},
		{"was removed", func(m *Model) { node(m, 0).Op = "Upsample" }},
		{`does not import the domain "other"`, func(m *Model) { node(m, 1).Domain = "other" }},
		{`has no attribute "q"`, func(m *Model) { node(m, 0).SetAttr(&Attr{Name: "q", Type: AttrInt}) }},
		{"outside of a function", func(m *Model) { node(m, 1).Attrs[0].Ref = "p" }},
		{"takes 8 bytes, it has 4", func(m *Model) { m.Graph.Lookup("w").Init = NewTensor("w", Float, []int64{2}, make([]byte, 4)) }},
		{"no element type", func(m *Model) { m.Graph.Lookup("w").Init = NewTensor("w", Undefined, []int64{0}, nil) }},
		{"no conversion", func(m *Model) { w := m.Graph.Lookup("w"); w.SetInit(w.Init.Converted(Int4, false)) }},
		{"the model has no folder", func(m *Model) {
			w := NewTensor("w", Float, []int64{2}, nil)
			w.External = []Entry{{"location", "w.bin"}}
			m.Graph.Lookup("w").SetInit(w)
		}},
	} {
		m := buildCalls(t)
		c.edit(m)
		err := m.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
