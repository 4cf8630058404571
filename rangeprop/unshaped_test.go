package rangeprop_test

import (
	"testing"

	"github.com/amplint/amplint/rangeprop"
)

// TestUnshaped bounds what counts elements where nothing tells how many there are.
func TestUnshaped(t *testing.T) {
	for name, c := range map[string]struct {
		src   string
		least float64 // that the bound of the last output must reach
	}{
		"instance norm":           {`m (float[] x, float[2] s, float[2] b) => (float[] y) { y = InstanceNormalization(x, s, b) }`, 100},
		"group norm":              {`m (float[] x, float[2] s, float[2] b) => (float[] y) { y = GroupNormalization<num_groups = 2>(x, s, b) }`, 100},
		"product":                 {`m (float[] x) => (float[] y) { y = MatMul(x, x) }`, 100},
		"pool":                    {`m (float[] x) => (float[] y) { y = GlobalLpPool(x) }`, 100},
		"scores":                  {`m (float[] x) => (float[] o, float[] y) { o, p, q, y = Attention(x, x, x) }`, 100},
		"scores of unknown heads": {`m (float[B, 2, 3, H] x) => (float[] o, float[] y) { o, p, q, y = Attention(x, x, x) }`, 100},
	} {
		t.Run(name, func(t *testing.T) {
			m, res := analyze(t, `<ir_version: 10, opset_import: ["" : 23]> `+c.src, rangeprop.Options{Ranges: map[string]rangeprop.Given{"x": given(-4, 4), "s": given(1, 1), "b": given(0, 0)}})
			y := m.Graph.Outputs[len(m.Graph.Outputs)-1]
			if h := res.Val(y).Hull(); h.Hi < c.least {
				t.Errorf("%v, but a tensor of many elements goes further", h)
			}
		})
	}
}
