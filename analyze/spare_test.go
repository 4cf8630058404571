package analyze

import (
	"testing"

	"github.com/amplint/amplint/graph/onnxtxt"
)

// TestSpare weighs the constants of a model, those of its bodies too, against what is run unasked.
func TestSpare(t *testing.T) {
	const text = `<ir_version: 8, opset_import: ["" : 17]>
m (bool c, float[1] x) => (float[1] y) <float[3] w = {1, 2, 3}, int64[9] no = {1, 2, 3, 4, 5, 6, 7, 8, 9}> {
  y = If (c) <then_branch = a () => (z) <float16[2] v = {1, 2}> { z = Add (x, x) }, else_branch = b () => (u) { u = Neg (x) }>
}`
	for _, c := range []struct {
		effort string
		most   int64
		want   string
	}{{"quick", 16, "quick"}, {"quick", 15, ""}, {"full", 15, "full"}, {"off", 15, "off"}} {
		m, err := onnxtxt.Parse("m", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Effort: c.effort}
		opt.spare(m, c.most)
		if opt.Effort != c.want || len(m.Notes) > 0 != (c.effort != c.want) {
			t.Errorf("%s with up to %d bytes: %q, notes %q", c.effort, c.most, opt.Effort, m.Notes)
		}
	}
}
