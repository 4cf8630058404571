package onnxtxt

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph"
)

func printed(t *testing.T, m *graph.Model, opt PrintOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Print(&b, m, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func parsed(t *testing.T, src string) *graph.Model {
	t.Helper()
	m, err := Parse("t", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return m
}

func encoded(t *testing.T, src string) []byte {
	t.Helper()
	b, err := Encode("t", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPrintLosesNothing holds that the printed text is the same model, byte for byte, apart from
// doc strings.
func TestPrintLosesNothing(t *testing.T) {
	texts := []string{sample, `"odd graph" () => () {}`, `g (float "float") => (seq(int8) "seq") { "seq" = "my-domain"."Op 1"("float") }`}
	models, err := filepath.Glob("../../testdata/models/*.onnxtxt")
	if err != nil || len(models) < 6 {
		t.Fatalf("%d models, %v", len(models), err)
	}
	for _, path := range models {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	for _, src := range texts {
		src = strings.Replace(src, "doc_string: \"a \\\"doc\\\" with \\\\\",\n", "", 1)
		src = strings.Replace(src, ", doc_string: \"f\"", "", 1)
		out := printed(t, parsed(t, src), PrintOptions{})
		again := printed(t, parsed(t, out), PrintOptions{})
		if d := cmp.Diff(out, again); d != "" {
			t.Errorf("printing twice differs:\n%s", d)
		}
		if strings.HasPrefix(src, "<") && !bytes.Equal(encoded(t, src), encoded(t, out)) {
			t.Errorf("the printed text is another model:\n%s", out)
		}
	}
}

func TestPrintedText(t *testing.T) {
	src := `<ir_version: 8, opset_import: ["" : 17], producer_name: "p">
g (float[N,?,"a b"] x, bool c) => (float[] y)
<
  float[2] w = {1, -2.5e-05},
  float16[2] h = {15360, 64512}
>
{
  [n] t = Elu <alpha = 1.0, axes = [1, 2], e: ints = [], v = float[1] {inf}, tp = seq(float)> (x)
  y = If (c) <
    then_branch = a () => (float z)
    <
      float one = {1}
    >
    {
      z = Add (t, one)
    },
    else_branch = b () => (t) {
    }
  >
}
`
	want := strings.Replace(src, "<ir_version: 8, opset_import: [\"\" : 17], producer_name: \"p\">",
		"<\n  ir_version: 8,\n  opset_import: [\"\" : 17],\n  producer_name: \"p\"\n>", 1)
	got := printed(t, parsed(t, src), PrintOptions{})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestElision(t *testing.T) {
	m := parsed(t, `g (float[4] x) => (y) <float[4] w = {1, nan, -3, 2}, int64[4] i = {1, 2, 3, 4}, float[2] s = {1, 2}>
{ v = Constant<value = float[4] {1, 2, 3, 4}>()  y = Op(x, w, i, s, v) }`)
	out := printed(t, m, PrintOptions{MaxElements: 3})
	for _, want := range []string{
		`float[4] w = ["location" : "elided", "min" : "-3", "max" : "2"]`, `int64[4] i = ["location" : "elided"]`,
		`float[2] s = {1, 2}`, `<value = float[4] = ["location" : "elided", "min" : "1", "max" : "4"]>`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
	if again := printed(t, parsed(t, out), PrintOptions{MaxElements: 3}); again != out {
		t.Errorf("the elided text is read as\n%s", again)
	}
}

func TestPrintTypesThatInferenceFound(t *testing.T) {
	m := parsed(t, "g (float[4] x) => (float[4] y) { t = Abs(x)\n u = Abs(t)\n y = Abs(u) }")
	m.Graph.Lookup("t").Type = graph.TensorOf(graph.Float, graph.ShapeOf(4))
	out := printed(t, m, PrintOptions{Types: true})
	if !strings.Contains(out, "<\n  float[4] t\n>") {
		t.Errorf("no type of t in\n%s", out)
	}
}

// TestUnreadableElements holds that a text with holes is an error, not a text.
func TestUnreadableElements(t *testing.T) {
	m := parsed(t, "g (float[1] x) => (y) { y = Abs(x) }")
	bad := graph.NewTensor("w", graph.ElemType(99), []int64{1}, nil)
	m.Graph.Nodes[0].Attrs = append(m.Graph.Nodes[0].Attrs, &graph.Attr{Name: "a", Type: graph.AttrTensor, Tensor: bad})
	if err := Print(&bytes.Buffer{}, m, PrintOptions{}); err == nil {
		t.Error("a tensor of an unknown type is printed")
	}
	m.Graph.Nodes[0].Attrs[0] = &graph.Attr{Name: "a", Type: graph.AttrGraph}
	if err := Print(&bytes.Buffer{}, m, PrintOptions{}); err == nil {
		t.Error("an attribute without its graph is printed")
	}
}
