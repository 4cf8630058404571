package graph_test

import (
	"strings"
	"testing"

	"github.com/amplint/amplint/graph/onnxtxt"
)

func TestCheck(t *testing.T) {
	const head = `<ir_version: 8, opset_import: ["" : 17]> g `
	for _, c := range []struct{ name, text, err string }{
		{"good", head + `(float[2] x, float[2] w) => (float[2] y) { y = Add(x, w) }`, ""},
		{"heterogeneous", head + `(bool c, float[2] x) => (float[2] y) { y = Where(c, x, x) }`, ""},
		{"optional left out", head + `(float[2] x, float hi) => (float[2] y) { y = Clip(x, , hi) }`, ""},
		{"variadic", head + `(float[2] x) => (float[2] y) { y = Sum(x, x, x, x) }`, ""},
		{"two types", head + `(float[2] x, float16[2] w) => (float[2] y) { y = Add(x, w) }`, `input 1: "w" has type float16 where the node has float`},
		{"result", head + `(float[2] x) => (float16[2] y) { y = Neg(x) }`, `output 0: "y" has type float16`},
		{"not allowed", head + `(float[1,1,2,2] x, float16[4] s) => (float[1,1,4,4] y) { y = Resize(x, , s) }`, `which scales does not allow`},
		{"missing", head + `(float[2] x) => (float[2] y) { y = Add(x) }`, "input 1 (B) is missing"},
		{"too many", head + `(float[2] x) => (float[2] y) { y = Neg(x, x) }`, "2 inputs are too many"},
		{"domain", head + `(float[2] x) => (float[2] y) { y = com.microsoft.Gelu(x) }`, `does not import the domain "com.microsoft"`},
		{"in a branch", head + `(bool c, float[2] x, float16[2] w) => (float[2] y) {
			[pick] y = If(c) <then_branch = t () => (float[2] a) { [sum] a = Add(x, w) }, else_branch = e () => (float[2] b) { b = Neg(x) }> }`,
			`node "sum" (Add): input 1`},
	} {
		m, err := onnxtxt.Parse(c.name, []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		err = m.Check()
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
	}
}
