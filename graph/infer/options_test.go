package infer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

func parse(t *testing.T, text string) *graph.Model {
	t.Helper()
	m, err := onnxtxt.Parse("model", []byte("<ir_version: 8, opset_import: [\"\" : 17]>\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func typeOf(t *testing.T, m *graph.Model, name string, opt Options) string {
	t.Helper()
	if _, err := Run(m, opt); err != nil {
		t.Fatal(err)
	}
	return m.Graph.Lookup(name).Type.String()
}

const sized = `g (float[n,s] x, int64[2] to, float[n,4] z) => () { y = Reshape(x, to) w = Concat<axis = 1>(x, z) }`

// TestOptions says what the user knows, and forgets it again.
func TestOptions(t *testing.T) {
	m := parse(t, sized)
	for _, c := range []struct {
		name, want string
		opt        Options
	}{
		{"w", "float[n,s+4]", Options{}},
		{"w", "float[n,12]", Options{Dims: map[string]DimRange{"s": {8, 8}}}},
		{"w", "float[n,s+4]", Options{Dims: map[string]DimRange{"s": {1, 8}}}},
		{"w", "float[3,9]", Options{Shapes: map[string]graph.Shape{"x": graph.ShapeOf(3, 5)}}},
		{"y", "float[3,5]", Options{Values: map[string]*graph.Tensor{"to": graph.IntTensor("to", []int64{2}, 3, -1)},
			Shapes: map[string]graph.Shape{"x": graph.ShapeOf(3, 5)}}},
		{"w", "float[n,s+4]", Options{}},
	} {
		if got := typeOf(t, m, c.name, c.opt); got != c.want {
			t.Errorf("%s under %+v is %s, want %s", c.name, c.opt, got, c.want)
		}
	}
}

func TestGivenShapeContradicts(t *testing.T) {
	_, err := Run(parse(t, sized), Options{Shapes: map[string]graph.Shape{"z": graph.ShapeOf(2, 5)}})
	if err == nil || !strings.Contains(err.Error(), `input "z"`) {
		t.Errorf("error %v", err)
	}
}

func TestBounds(t *testing.T) {
	m := parse(t, `g (float[n,s] x) => () {
		a = Concat<axis = 1>(x, x)
		b = MaxPool<kernel_shape = [3], strides = [2]>(u)
		u = Unsqueeze(a, one)
		one = Constant<value_ints = [1]>()
	}`)
	info, err := Run(m, Options{Dims: map[string]DimRange{"s": {4, 10}}})
	if err != nil {
		t.Fatal(err)
	}
	last := func(name string) graph.Dim {
		s := m.Graph.Lookup(name).Type.Shape
		return s[len(s)-1]
	}
	for _, c := range []struct {
		dim    graph.Dim
		lo, hi int64
	}{
		{last("x"), 4, 10}, {last("a"), 8, 20}, {last("b"), 3, 9}, {graph.Dim{N: 7}, 7, 7},
		{graph.Dim{Sym: "n", N: -1}, 0, -1}, {graph.UnknownDim, 0, -1}, {graph.Dim{Sym: "other", N: -1}, 0, -1},
	} {
		if lo, hi := info.Bounds(c.dim); lo != c.lo || hi != c.hi {
			t.Errorf("bounds of %s: [%d, %d], want [%d, %d]", c.dim, lo, hi, c.lo, c.hi)
		}
	}
}

// TestDeclared holds what the file says against what its nodes compute.
func TestDeclared(t *testing.T) {
	m := parse(t, `g (float[n,4] x, int64[2] to) => (float[2,5] y, float[7,8] z, int32[n,4] w) {
		y = Relu(x)
		z = Reshape(x, to)
		w = Neg(x)
	}`)
	info, err := Run(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"y": "float[2,4]", "z": "float[7,8]", "w": "float[n,4]"} {
		if got := m.Graph.Lookup(name).Type.String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if len(info.Notes) != 2 || !strings.Contains(info.Notes[0], `"y" is declared as float[2,5]`) {
		t.Errorf("notes %q", info.Notes)
	}
}

// TestManyStale: the first few values that are declared wrongly are named, the others counted.
func TestManyStale(t *testing.T) {
	var outs, body []string
	for i := range 9 {
		outs = append(outs, fmt.Sprintf("float[2,5] y%d", i))
		body = append(body, fmt.Sprintf("y%d = Relu(x)", i))
	}
	info, err := Run(parse(t, `g (float[n,4] x) => (`+strings.Join(outs, ", ")+`) { `+strings.Join(body, " ")+` }`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(info.Notes); n != 6 || info.Notes[5] != "4 more values are declared otherwise than they are" {
		t.Errorf("notes %q", info.Notes)
	}
}

func TestUnknownOperators(t *testing.T) {
	m := parse(t, `g (float[n,4] x) => (float[n,4] y) { a = com.acme.Foo(x) b = com.acme.Foo(a) c = Bar(b) y = Relu(c) }`)
	info, err := Run(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []OpCount{{"Bar", 1}, {"com.acme.Foo", 2}}; !slices.Equal(info.Unknown, want) {
		t.Errorf("unknown %v, want %v", info.Unknown, want)
	}
	if got := m.Graph.Lookup("y").Type.String(); got != "float[n,4]" {
		t.Errorf("y is %s", got)
	}
}

// TestEval folds through an evaluator: constant inputs only, never what differs from run to run, and an error of
// the evaluator folds nothing.
func TestEval(t *testing.T) {
	m := parse(t, `g (float[n] x) => () <float[2] c = {1, 2}, float[3] d = {1, 2, 3}> {
		a = Exp(c)
		b = Exp(x)
		e = Sin(c)
		f = RandomUniformLike(c)
		h = Exp(d)
	}`)
	var asked []string
	eval := func(n *graph.Node, in []*graph.Tensor) ([]*graph.Tensor, error) {
		asked = append(asked, n.Outputs[0].Name)
		if n.Op == "Sin" {
			return nil, errors.New("no")
		}
		return []*graph.Tensor{graph.FloatTensor("", in[0].Dims, make([]float32, in[0].Len())...)}, nil
	}
	if _, err := Run(m, Options{Eval: eval, MaxFold: 2}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(asked, []string{"a", "e"}) {
		t.Errorf("evaluated %v", asked)
	}
	for name, want := range map[string]bool{"a": true, "b": false, "e": false, "f": false, "h": false} {
		if got := m.Graph.Lookup(name).Const != nil; got != want {
			t.Errorf("%s constant: %v", name, got)
		}
	}
	if _, err := Run(m, Options{}); err != nil || m.Graph.Lookup("a").Const != nil {
		t.Errorf("an earlier run's constant stays: %v", err)
	}
}

// TestBudget folds no more in all than a hostile file may make it.
func TestBudget(t *testing.T) {
	var b strings.Builder
	b.WriteString("g () => () <int64[1] n = {60000}> {\n")
	for i := range 200 {
		b.WriteString("v")
		b.WriteString(strings.Repeat("x", i))
		b.WriteString(" = ConstantOfShape(n)\n")
	}
	b.WriteString("}")
	m := parse(t, b.String())
	if _, err := Run(m, Options{}); err != nil {
		t.Fatal(err)
	}
	folded := 0
	for _, v := range m.Graph.Values {
		if v.Producer != nil && v.Const != nil {
			folded++
		}
	}
	if folded < 10 || folded > 80 {
		t.Errorf("%d values of 60,000 elements are folded", folded)
	}
}

// TestDimensionsOfTheFile reads sums and products as exporters spell them, and anything else as a name.
func TestDimensionsOfTheFile(t *testing.T) {
	m := parse(t, `g (float["past + seq"] a, float[past] b, float[seq] c, float["2*seq"] d, float["my-dim"] e, float["?(x)"] f) => () {
		ab = Concat<axis = 0>(b, c)
		s = Add(a, ab)
		cc = Concat<axis = 0>(c, c)
		t = Add(d, cc)
		ee = Concat<axis = 0>(e, e)
		ff = Concat<axis = 0>(f, f)
	}`)
	if _, err := Run(m, Options{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"s": "float[past+seq]", "t": "float[2*seq]", "ee": "float[2*my-dim]", "ff": "float[2*?(x)]"} {
		if got := m.Graph.Lookup(name).Type.String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
