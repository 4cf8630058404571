package rules

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/numfmt"
)

const exported = `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-600,600]", "amplint.range.z": "[-600,600]"]>
m (float[2, 4] x, float[2, 4] z) => (float[2, 4] y, float[2, 4] w)
<float[1] eps = {1e-12}, float[4, 4] k = {900, 0, 0, 0, 0, 900, 0, 0, 0, 0, 900, 0, 0, 0, 0, 900}>
{
  ["first/square"] a = Mul(x, x)
  ["second/product"] b = Mul(x, z)
  ["third/product"] c = MatMul(z, k)
  ["norm/add"] d = Add(a, eps)
  ["norm/root"] e = Sqrt(d)
  ["norm/div"] f = Div(x, e)
  ["sum"] y = Add(b, c)
  w = Identity(f)
}`

// again are exports of the same model that keep its hazards as they are.
var again = map[string]string{
	"other names": `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.left": "[-600,600]", "amplint.range.right": "[-600,600]"]>
m (float[2, 4] left, float[2, 4] right) => (float[2, 4] o1, float[2, 4] o2)
<float[1] tiny = {1e-12}, float[4, 4] weight = {901, 0, 0, 0, 0, 900, 0, 0, 0, 0, 900, 0, 0, 0, 0, 902}>
{ ["n1"] v1 = Mul(left, left) ["n2"] v2 = Mul(left, right) ["n3"] v3 = MatMul(right, weight) ["n4"] v4 = Add(v1, tiny) ["n5"] v5 = Sqrt(v4) ["n6"] v6 = Div(left, v5) ["n7"] o1 = Add(v2, v3) o2 = Identity(v6) }`,
	"nodes, readers and an output added": `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-600,600]", "amplint.range.z": "[-600,600]"]>
m (float[2, 4] x, float[2, 4] z, float[2, 4] more) => (float[2, 4] y, float[2, 4] w, float[2, 4] extra)
<float[1] eps = {1e-12}, float half = {0.5}, float[4, 4] k = {900, 0, 0, 0, 0, 900, 0, 0, 0, 0, 900, 0, 0, 0, 0, 900}>
{
  ["new/halved"] n = Mul(x, half)
  ["new/tanh"] t = Tanh(n)
  ["first/square"] a = Mul(x, x)
  ["second/product"] b = Mul(x, z)
  ["third/product"] c = MatMul(z, k)
  ["new/reader"] r = Tanh(b)
  ["norm/add"] d = Add(a, eps)
  ["norm/root"] e = Sqrt(d)
  ["norm/div"] f = Div(x, e)
  ["sum"] y = Add(b, c)
  w = Identity(f)
  extra = Add(t, r)
}`,
	"operands turned and no-ops between": `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-600,600]", "amplint.range.z": "[-600,600]"]>
m (float[2, 4] x, float[2, 4] z) => (float[2, 4] y, float[2, 4] w)
<float[1] eps = {1e-12}, float[4, 4] k = {900, 0, 0, 0, 0, 900, 0, 0, 0, 0, 900, 0, 0, 0, 0, 900}>
{
  i = Identity(z)
  ["second/product"] b = Mul(i, x)
  ["first/square"] a = Mul(x, x)
  ["third/product"] c = MatMul(i, k)
  ["norm/add"] d = Add(eps, a)
  ["norm/root"] e = Sqrt(d)
  ["norm/div"] f = Div(x, e)
  ["sum"] y = Add(c, b)
  w = Identity(f)
}`,
}

// prints lists the fingerprints of the errors and warnings by the operators that they stand on.
func printsOf(t *testing.T, text string) map[string]string {
	t.Helper()
	list := map[string]string{}
	for _, f := range Run(prepareText(t, text)) {
		if f.Severity > Note {
			list[f.Fingerprint] = f.Rule + " " + f.Node.OpName()
		}
	}
	return list
}

func TestFingerprintsOutliveAnExport(t *testing.T) {
	want := printsOf(t, exported)
	if len(want) < 4 {
		t.Fatalf("%d findings: %v", len(want), want)
	}
	for what, text := range again {
		if d := cmp.Diff(want, printsOf(t, text)); d != "" {
			t.Errorf("%s (-before +after):\n%s", what, d)
		}
	}
}

// Places of one structure have fingerprints of their own, and so have a branch and its like outside.
func TestFingerprintsTellPlacesApart(t *testing.T) {
	in := prepareText(t, `<ir_version: 9, opset_import: ["" : 18], metadata_props: ["amplint.range.x": "[-1,100]"]>
m (float[2, 4] x, bool c) => (float[2, 4] p, float[2, 4] q, float[2, 4] r, float[2, 4] s)
{
  ["l.0/log"] p = Log(x)
  ["l.1/log"] q = Log(x)
  r = If(c) <then_branch = t () => (float[2, 4] u) { ["in"] u = Log(x) }, else_branch = e () => (float[2, 4] w) { ["other"] w = Log(x) }>
  ["last"] s = Exp(x)
}`)
	in.Target = numfmt.FP32
	seen := map[string]string{}
	for _, f := range Run(in) {
		if old := seen[f.Fingerprint]; old != "" {
			t.Errorf("%s and %s have one fingerprint", old, f.Node.Key())
		}
		seen[f.Fingerprint] = f.Node.Key()
	}
	if len(seen) < 5 {
		t.Errorf("findings at %v only", seen)
	}
}
