package onnxtxt

import (
	"bytes"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
)

// sample uses most of the syntax; the tests of the parser read it and the printer writes it again.
const sample = `<ir_version: 10, opset_import: ["" : 21, "local" : 1], producer_name: "p", producer_version: "1",
 domain: "d", model_version: 3, doc_string: "a \"doc\" with \\",
 metadata_props: ["amplint.range.q" : "[-8,8]", "k" : ""]>
# a comment
g (float[N, "a b", 2, ?] x, float s = {-0.5}, int64[] r, seq(optional(map(int64, float16[]))) q, sparse_tensor(float[3]) sp)
=> (float[] y, "odd/name:0")
<float[2,2] w = {1, -2.5e-3, inf, -nan}, float16 h = {15360}, int4[3] i4 = {33, 3}, uint4[3] u4 = {1, 2, 15},
 bool b = {1}, string[2] st = {"a", "b\"c"}, double[0] none = {}, float[4] ext = ["location" : "w.bin", "offset" : "16"],
 sparse_tensor(float[9]) spw = float[2] {1, 2} int64[2] {0, 4}, uint64 big = {18446744073709551615}, float[2] t, untyped>
{
  [first] t = Add(x, s)
  untyped, "" = local.f<alpha = 2.0>(t, "")
  [ "odd name" ] m = com.acme.Op:over <i: int = -3, fl: float = 1, s = "x", is = [1, 2], fs = [1, 2.5], e: ints = [], ss = ["a"],
     t = float[1] named {7}, tp = seq(float[N]), ts = [float {1}, int8[2] {1, -1}], gs = [a () => (t) {}, b () => (t) {}]>(,x,)
  c = Greater(s, w)   # trailing comment
  "odd/name:0" = If(c) <then_branch = then_b () => (float[N] z) <float z0 = {1}> { z = Add(t, z0) },
     else_branch = else_b => (v) { v = Identity(t) }>
  y = Constant<sparse_value = sparse_tensor(float[9]) = float[2] {1, 2} int64[2] {0, 4}>()
}
<domain: "local", opset_import: ["" : 21], doc_string: "f">
f <alpha, beta: float = 0.5, gamma: ints = [1, 2]> (a, float[N] b) => (float c, d) <float t1>
{
  t1 = Elu<alpha: float = @alpha>(a)
  c = Elu<alpha = @beta>(t1)
  d = Identity(b)
}
`

func TestParseReadsEveryForm(t *testing.T) {
	m, err := Parse("sample", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if m.IRVersion != 10 || m.Opset("") != 21 || m.Producer != "p" || len(m.Meta) != 2 || m.Meta[0].Value != "[-8,8]" {
		t.Errorf("header: %+v", m)
	}
	types := map[string]string{
		"r": "int64[]", "q": "seq(optional(map(int64, float16[])))", "sp": "sparse_tensor(float[3])", "s": "float",
		"w": "float[2,2]", "i4": "int4[3]", "t": "float[2]", "untyped": "?", "none": "double[0]",
	}
	for name, want := range types {
		if v := m.Graph.Lookup(name); v == nil || v.Type.String() != want {
			t.Errorf("type of %s: %v, want %s", name, v, want)
		}
	}
	shape := m.Graph.Inputs[0].Type.Shape
	if len(shape) != 4 || shape[0].Sym != "N" || shape[1].Sym != "a b" || shape[2].N != 2 || shape[3] != graph.UnknownDim {
		t.Errorf("shape of x: %v", shape)
	}
	op := m.Graph.Lookup("m").Producer
	if op.Name != "odd name" || op.Domain != "com.acme" || op.Op != "Op" || op.Overload != "over" {
		t.Errorf("node: %+v", op)
	}
	if len(op.Inputs) != 2 || op.Inputs[0] != nil || op.Inputs[1].Name != "x" {
		t.Errorf("inputs: %v", op.Inputs)
	}
	if a := op.Attr("fl"); a.Type != graph.AttrFloat || a.F != 1 {
		t.Errorf("fl: %+v", a)
	}
	if a := op.Attr("fs"); a.Type != graph.AttrFloats || len(a.Floats) != 2 || a.Floats[0] != 1 {
		t.Errorf("fs: %+v", a)
	}
	if a := op.Attr("gs"); a.Type != graph.AttrGraphs || len(a.Graphs) != 2 || a.Graphs[1].Name != "b" {
		t.Errorf("gs: %+v", a)
	}
	if call := m.Graph.Lookup("untyped").Producer.Call; call == nil || call.Nodes[0].Float("alpha", 0) != 2 {
		t.Errorf("call: %+v", call)
	}
}

func TestPositions(t *testing.T) {
	m, src, err := ParseSource("sample", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	for n := range m.Nodes() {
		line, col, ok := src.Position(n)
		if !ok {
			t.Errorf("%s has no position", n.Key())
			continue
		}
		if text := src.Line(line)[col-1:]; !strings.Contains(text, n.Op) {
			t.Errorf("%s is said to stand at %d:%d, where %q is", n.Key(), line, col, text)
		}
	}
	if _, _, ok := src.Position(&graph.Node{}); ok {
		t.Error("a foreign node has a position")
	}
	if src.Line(0) != "" || src.Line(1000) != "" {
		t.Error("lines outside the text are not empty")
	}
}

// TestPositionsOfSortedNodes holds that a node keeps its line where reading sorts the nodes.
func TestPositionsOfSortedNodes(t *testing.T) {
	m, src, err := ParseSource("s", []byte("g (float x) => (float z) {\n z = Neg(y)\n y = Abs(x)\n}"))
	if err != nil {
		t.Fatal(err)
	}
	if line, col, ok := src.Position(m.Graph.Nodes[0]); line != 3 || col != 2 || !ok || m.Graph.Nodes[0].Op != "Abs" {
		t.Errorf("Abs at %d:%d", line, col)
	}
}

func TestBytesOfElements(t *testing.T) {
	for _, c := range []struct{ tensor, want string }{
		{"float {1}", "\x00\x00\x80\x3f"},
		{"float {-nan}", "\x00\x00\xc0\xff"},
		{"float {-Infinity}", "\x00\x00\x80\xff"},
		{"float16[2] {15360, 65535}", "\x00\x3c\xff\xff"},
		{"int8[2] {-1, 127}", "\xff\x7f"},
		{"uint64 {18446744073709551615}", "\xff\xff\xff\xff\xff\xff\xff\xff"},
		{"int4[4] {33, 67}", "\x21\x43"},
		{"int4[3] {1, -1, 3}", "\xf1\x03"},
		{"int4 {-8}", "\xf8"},
		{"uint2[5] {0, 1, 2, 3, 1}", "\xe4\x01"},
		{"complex64 {1, -0.0}", "\x00\x00\x80\x3f\x00\x00\x00\x80"},
		{"double[0] {}", ""},
		{"double {-nan}", "\x00\x00\x00\x00\x00\x00\xf8\xff"},
		{"float {1e-46}", "\x00\x00\x00\x00"},
	} {
		p := &parser{text: text{"t", c.tensor}}
		var a attrAST
		p.typedValue(&a)
		if p.err != nil {
			t.Errorf("%s: %v", c.tensor, p.err)
			continue
		}
		if got := string(a.tensors[0].raw); got != c.want {
			t.Errorf("%s is % x, want % x", c.tensor, got, c.want)
		}
	}
}

// TestParsedModelsAreSavedAsFilesAre holds that a text model that nobody changed is written as the
// bytes it was read from.
func TestParsedModelsAreSavedAsFilesAre(t *testing.T) {
	want, err := Encode("sample", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := parsed(t, sample).WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d bytes, want %d, %v", got.Len(), len(want), err)
	}
}
