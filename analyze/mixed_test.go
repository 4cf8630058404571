package analyze

import "testing"

// TestMixedTypes: a file in which a node is given two types is told of, since runtimes refuse it.
func TestMixedTypes(t *testing.T) {
	for elem, want := range map[string]int{"float b = {1}": 1, "float16 b = {15360}": 0} {
		r := checkedAsIs(t, `<ir_version: 8, opset_import: ["" : 17], metadata_props: ["amplint.range.x": "[-1,1]"]> m (float16[2, 2] x) => (float16[2, 2] y) <`+elem+`> { y = Add(x, b) }`)
		if len(r.Notes) != want {
			t.Errorf("%s: notes %q, want %d", elem, r.Notes, want)
		}
	}
}
