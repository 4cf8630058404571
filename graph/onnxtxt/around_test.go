package onnxtxt

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph"
)

const chain = `<ir_version: 8, opset_import: ["" : 17, "f" : 1], metadata_props: ["amplint.range.x" : "[-1,1]", "k" : "v"]>
chain (float[4] x, float[4] far) => (float[4] y, float[4] z)
<float[4] w = {1, -2, 3, 4}, float s = {2}>
{
  a = Abs (x)
  b = Mul (a, w)
  c = Mul (b, s)
  one = Constant <value = float {1}> ()
  d = Add (c, one)
  e = f.Twice (d)
  y = Exp (e)
  z = Add (c, far)
}
<domain: "f", opset_import: ["" : 17]>
Twice (v) => (o) { o = Add (v, v) }
<domain: "f", opset_import: ["" : 17]>
Unused (v) => (o) { o = Add (v, v) }
`

func aroundText(t *testing.T, src, value string, depth int, opt PrintOptions) string {
	t.Helper()
	m := parsed(t, src)
	var b bytes.Buffer
	for g := range m.Graphs() {
		if v := g.Lookup(value); v != nil && v.Producer != nil {
			if err := PrintAround(&b, v.Producer, depth, opt); err != nil {
				t.Fatal(err)
			}
			parsed(t, b.String())
			return b.String()
		}
	}
	t.Fatalf("nothing makes %s", value)
	return ""
}

func TestAroundIsAModelOfItsOwn(t *testing.T) {
	known := func(v *graph.Value) (lo, hi float64, ok bool) { return -9, 9.5, v.Name == "b" }
	got := aroundText(t, chain, "c", 0, PrintOptions{Range: known})
	want := `<
  ir_version: 8,
  opset_import: ["" : 17, "f" : 1],
  metadata_props: ["amplint.range.b" : "[-9,9.5]"]
>
chain (b) => (c)
<
  float s = {2}
>
{
  c = Mul (b, s)
}
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestAroundTurnsLongConstantsIntoInputs holds that an elided weight leaves its range behind, and
// that inputs of the model keep the one they have.
func TestAroundTurnsLongConstantsIntoInputs(t *testing.T) {
	got := aroundText(t, chain, "c", 2, PrintOptions{MaxElements: 2})
	want := `<
  ir_version: 8,
  opset_import: ["" : 17, "f" : 1],
  metadata_props: ["amplint.range.x" : "[-1,1]", "amplint.range.w" : "[-2,4]"]
>
chain (float[4] x, float[4] w, float[4] far) => (e, float[4] z)
<
  float s = {2},
  float one = {1}
>
{
  a = Abs (x)
  b = Mul (a, w)
  c = Mul (b, s)
  d = Add (c, one)
  e = f.Twice (d)
  z = Add (c, far)
}
<
  domain: "f",
  opset_import: ["" : 17]
>
Twice (v) => (o) {
  o = Add (v, v)
}
`
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestAroundInsideABranchReadsCapturesAsInputs(t *testing.T) {
	src := `g (float[2] x, bool c) => (float[2] y) {
  a = Abs (x)
  y = If (c) <then_branch = p () => (float[2] z) { m = Neg (a)
 z = Exp (m) }, else_branch = q () => (float[2] r) { r = Identity (a) }>
}`
	got := aroundText(t, src, "z", 1, PrintOptions{})
	if !strings.Contains(got, "p (a) => (float[2] z) {\n  m = Neg (a)\n  z = Exp (m)\n}") {
		t.Errorf("got\n%s", got)
	}
	got = aroundText(t, src, "a", 1, PrintOptions{})
	if !strings.Contains(got, "g (float[2] x, bool c) => (float[2] y) {\n  a = Abs (x)\n  y = If (c)") {
		t.Errorf("got\n%s", got)
	}
}
