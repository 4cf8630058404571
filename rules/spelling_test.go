package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// TestSpellings writes the bad examples of all pages in other ways that mean the same. The findings
// must not change.
func TestSpellings(t *testing.T) {
	for _, s := range []struct {
		name  string
		apply func(m *graph.Model)
	}{
		{"identities", func(m *graph.Model) { follow(m, "Identity") }},
		{"casts", func(m *graph.Model) {
			follow(m, "Cast", &graph.Attr{Name: "to", Type: graph.AttrInt, I: int64(graph.Float)})
		}},
		{"swapped", swap},
	} {
		t.Run(s.name, func(t *testing.T) {
			for _, r := range All() {
				text, _ := Page(r.Name)
				for i, example := range fence.FindAllStringSubmatch(text, -1) {
					if example[1] == "Bad" {
						compareSpelling(t, r.Name, i, example[4], s.apply)
					}
				}
			}
		})
	}
}

func compareSpelling(t *testing.T, rule string, i int, text string, apply func(m *graph.Model)) {
	t.Helper()
	var got [2][]string
	for k := range got {
		m, _, err := onnxtxt.ParseSource("bad", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := infer.Run(m, infer.Options{}); err != nil {
			t.Fatal(err)
		}
		if k == 1 {
			apply(m)
		}
		got[k] = places(Run(prepare(t, m, false)))
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Errorf("%s, example %d: findings differ (-as written +respelled):\n%s", rule, i, diff)
	}
}

// places lists findings by rule, severity and node, which is named by what it computes.
func places(found []Finding) []string {
	var list []string
	for _, f := range found {
		at := f.Occurrences
		if len(at) == 0 {
			at = []Place{{f.Node, f.Value}}
		}
		for _, p := range at {
			name := ""
			if p.Node != nil {
				name = strings.TrimSuffix(p.Node.Out(0).Name, "_before")
			}
			list = append(list, f.Rule+" "+f.Severity.String()+" "+name)
		}
	}
	slices.Sort(list)
	return list
}

// follow puts a node that hands its input on behind every result of a node of the main graph that
// is of type float, under the result's name.
func follow(m *graph.Model, op string, attrs ...*graph.Attr) {
	g := m.Graph
	for _, n := range slices.Clone(g.Nodes) {
		for i, v := range n.Outputs {
			if v == nil || v.Type.Elem != graph.Float || v.Output || n.Op == "Constant" {
				continue
			}
			moved := g.NewValue(v.Name+"_before", v.Type)
			n.SetOutput(i, moved)
			c := g.NewNode(op, "", "")
			for _, a := range attrs {
				c.SetAttr(a)
			}
			c.AddInput(moved)
			g.InsertAfter(n, c)
			c.SetOutput(0, v)
		}
	}
}

// swap turns the operands of sums and products around.
func swap(m *graph.Model) {
	for n := range m.Nodes() {
		if n.Domain != "" || n.Op != "Add" && n.Op != "Mul" {
			continue
		}
		a, b := n.In(0), n.In(1)
		n.SetInput(0, b)
		n.SetInput(1, a)
	}
}
