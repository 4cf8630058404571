package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
)

func parsed(t *testing.T, text string) *graph.Model {
	t.Helper()
	m, err := onnxtxt.Parse("model", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := infer.Run(m, infer.Options{}); err != nil {
		t.Fatal(err)
	}
	return m
}

const head = `<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x, bool c) => (float[2] y) `

func TestModels(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		nodes      []Node
		types      []Type
		consts     []Const
	}{
		{"a branch", `{ [if] y = If (c) <
			then_branch = t () => (float[2] p) { [in] p = Tan(x) }, else_branch = e () => (float[2] q) { q = Identity(x) }> }`,
			`{ [if] y = If (c) <
			then_branch = t () => (float[2] p) { [in] p = Sin(x) }, else_branch = e () => (float[2] q) { q = Identity(x) }> }`,
			[]Node{{Changed, "if/then_branch/in", "Sin", []string{"Tan is now Sin"}}}, nil, nil},
		{"a constant's numbers", `<float[2] w = {1, 2}> { y = Mul(x, w) }`, `<float[2] w = {1, 2.5}> { y = Mul(x, w) }`,
			nil, nil, []Const{{Change: Changed, Name: "w", Before: "float[2]", After: "float[2]", Differing: 1, Largest: 0.5, Elements: 2}}},
		{"an infinite one", `<float[2] w = {1, 2}> { y = Mul(x, w) }`, `<float[2] w = {1, inf}> { y = Mul(x, w) }`,
			nil, nil, []Const{{Change: Changed, Name: "w", Before: "float[2]", After: "float[2]", Differing: 1, Lost: 1, Elements: 2}}},
		{"only the type", `<float[2] w = {1, 2}> { [mul] y = Mul(x, w) }`, `<float16[2] w = {15360, 16384}> { [up] u = Cast<to = 1>(w) [mul] y = Mul(x, u) }`,
			[]Node{{Changed, "mul", "Mul", []string{`input 1 is now "u", not "w"`}}, {Change: Added, Key: "up", Op: "Cast"}}, nil,
			[]Const{{Change: Changed, Name: "w", Before: "float[2]", After: "float16[2]", Elements: 2}}},
		{"nodes of one name", `{ [n] a = Sin(x) [n] y = Sin(a) }`, `{ [n] a = Sin(x) [n] b = Sin(a) [n] y = Sin(b) }`,
			[]Node{{Changed, "n", "Sin", []string{`output 0 is now "b", not "y"`}}, {Change: Added, Key: "n", Op: "Sin"}}, nil, nil},
		{"another order", `{ [a] a = Sin(x) [b] b = Cos(x) [y] y = Add(a, b) }`, `{ [b] b = Cos(x) [a] a = Sin(x) [y] y = Add(a, b) }`, nil, nil, nil},
	} {
		r, err := Models(parsed(t, head+c.a), parsed(t, head+c.b))
		if err != nil {
			t.Fatal(c.name, err)
		}
		if d := cmp.Diff(c.nodes, r.Nodes) + cmp.Diff(c.types, r.Types) + cmp.Diff(c.consts, r.Consts); d != "" {
			t.Errorf("%s: -want +got:\n%s", c.name, d)
		}
		if same := len(c.nodes)+len(c.types)+len(c.consts) == 0; r.Same() != same {
			t.Errorf("%s: same: %v", c.name, r.Same())
		}
	}
}
