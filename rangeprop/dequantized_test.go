package rangeprop_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
)

// TestDequantized bounds products with weights in 8 bits as closely as those with the numbers that they stand for,
// however they are scaled, and looser by their rounding where they are held in 16 bits.
func TestDequantized(t *testing.T) {
	const rows, cols = 64, 80
	list := func(n int, at func(i int) any) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprint(at(i))
		}
		return strings.Join(all, ", ")
	}
	q := func(i int) int { return i*7919%201 - 100 }
	whole := list(rows*cols, func(i int) any { return q(i) })
	floats := func(scale func(row, col int) float64) string {
		return list(rows*cols, func(i int) any { return float32(float64(q(i)) * float64(float32(scale(i/cols, i%cols)))) })
	}
	byCol := func(_, col int) float64 { return 0.01 + float64(col)/1e4 }
	byRow := func(row, _ int) float64 { return 0.02 + float64(row)/1e4 }
	tiny := func(_, _ int) float64 { return 1e-6 }
	scales := func(n int, scale func(row, col int) float64) string {
		return list(n, func(i int) any { return float32(scale(i, i)) })
	}
	const text = `<ir_version: 9, opset_import: ["" : 19], metadata_props: ["amplint.range.x": "[-9,9]"]>
m (float[2, 64] x) => (float[2, %d] y) <%s, float[64] g = {%s}> { n = LayerNormalization(x, g) %s }`
	top := func(out int, constants, body string, hold numfmt.Format) float64 {
		opt := rangeprop.Options{}
		if hold != numfmt.Invalid {
			opt.Hold = func(v *graph.Value) numfmt.Format {
				if v.Type.Float() {
					return hold
				}
				return numfmt.Invalid
			}
		}
		m, r := analyze(t, fmt.Sprintf(text, out, constants, list(rows, func(int) any { return 1 }), body), opt)
		return r.Val(m.Graph.Lookup("y")).Hull().MaxAbs()
	}
	for _, c := range []struct {
		name, constants, body string
		out                   int
		scale                 func(row, col int) float64
		low                   bool // followed in FP16
	}{
		{"a DequantizeLinear by columns", "int8[64, 80] q = {" + whole + "}, float[80] s = {" + scales(cols, byCol) + "}", "w = DequantizeLinear<axis = 1>(q, s) y = MatMul(n, w)", cols, byCol, true},
		{"one number", "int8[64, 80] q = {" + whole + "}, float s = {0.01}", "w = DequantizeLinear(q, s) y = Gemm(n, w)", cols, func(int, int) float64 { return 0.01 }, true},
		{"spelled out", "int8[64, 80] q = {" + whole + "}, float[1, 80] s = {" + scales(cols, byCol) + "}", "c = Cast<to = 1>(q) w = Mul(c, s) y = MatMul(n, w)", cols, byCol, true},
		{"by rows", "int8[64, 80] q = {" + whole + "}, float[64, 1] s = {" + scales(rows, byRow) + "}", "c = Cast<to = 1>(q) w = Mul(s, c) y = MatMul(n, w)", cols, byRow, true},
		{"numbers of float8", "float8e4m3fn[64, 80] q = {" + list(rows*cols, func(i int) any { return numfmt.E4M3FN.Encode(float64(q(i) / 16)) }) + "}, float s = {0.16}", "w = DequantizeLinear(q, s) y = MatMul(n, w)", cols, nil, true},
		{"scales that are subnormal in FP16", "int8[64, 80] q = {" + whole + "}, float s = {0.000001}", "w = DequantizeLinear(q, s) y = MatMul(n, w)", cols, tiny, false},
	} {
		numbers := ""
		if c.scale != nil {
			numbers = floats(c.scale)
		} else {
			numbers = list(rows*cols, func(i int) any { return float32(float64(q(i)/16) * float64(float32(0.16))) })
		}
		want := top(c.out, "float[64, 80] w = {"+numbers+"}", "y = MatMul(n, w)", numfmt.Invalid)
		if got := top(c.out, c.constants, c.body, numfmt.Invalid); !(math.Abs(got-want) <= 1e-3*want) {
			t.Errorf("%s: %g, want %g", c.name, got, want)
		}
		got := top(c.out, c.constants, c.body, numfmt.FP16)
		if c.low && !(got >= want && got <= 1.04*want) || !c.low && got < 1.5*want {
			t.Errorf("%s in FP16: %g, where FP32 has %g", c.name, got, want)
		}
	}
}
