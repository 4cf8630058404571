package analyze

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/amplint/amplint/config"
	"github.com/amplint/amplint/rangeprop"
)

// chainModel is a chain of n nodes over 768 channels.
func chainModel(n int) string {
	var b strings.Builder
	b.WriteString("<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[N, 768] v0) => (float[N, 768] y) <float k = {0.5}> {\n")
	for i := range n {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, "v%d = Add(v%d, k) ", i+1, i)
		case 1:
			fmt.Fprintf(&b, "v%d = Relu(v%d) ", i+1, i)
		default:
			fmt.Fprintf(&b, "v%d = Tanh(v%d) ", i+1, i)
		}
	}
	fmt.Fprintf(&b, "y = Identity(v%d) }", n)
	return b.String()
}

// blocksModel is a stack of n feed-forward blocks of a transformer, 256 channels wide.
func blocksModel(n int) string {
	const width, inner = 256, 512
	weights := make([]string, width*inner)
	for i := range weights {
		weights[i] = fmt.Sprintf("%.3f", float64(i*7919%201-100)/2000)
	}
	ones := strings.TrimSuffix(strings.Repeat("1, ", width), ", ")
	list := strings.Join(weights, ", ")
	var b strings.Builder
	fmt.Fprintf(&b, "<ir_version: 8, opset_import: [\"\" : 20]>\ng (float[N, 8, %d] x0) => (float[N, 8, %d] y) <float[%d] g = {%s}", width, width, width, ones)
	for i := range n {
		fmt.Fprintf(&b, ", float[%d, %d] u%d = {%s}, float[%d, %d] d%d = {%s}", width, inner, i, list, inner, width, i, list)
	}
	b.WriteString("> {\n")
	for i := range n {
		fmt.Fprintf(&b, "n%d = LayerNormalization(x%d, g) a%d = MatMul(n%d, u%d) h%d = Gelu(a%d) o%d = MatMul(h%d, d%d) x%d = Add(x%d, o%d)\n", i, i, i, i, i, i, i, i, i, i, i+1, i, i)
	}
	fmt.Fprintf(&b, "y = Identity(x%d) }", n)
	return b.String()
}

func BenchmarkRanges(b *testing.B) {
	for _, c := range []struct{ name, src, input string }{
		{"chain of 3000", chainModel(3000), "v0"}, {"4 blocks", blocksModel(4), "x0"},
	} {
		path := written(b, c.src)
		for _, effort := range []string{"off", "quick"} {
			b.Run(c.name+", effort "+effort, func(b *testing.B) {
				opt := Options{Effort: effort, Ranges: []config.Range{{Name: c.input, Range: rangeprop.Range{Lo: -1, Hi: 1}}}}
				b.ReportAllocs()
				for b.Loop() {
					r, err := RangesOf(context.Background(), path, opt)
					if err != nil || !r.Bounds[len(r.Bounds)-1].Range.Bounded() {
						b.Fatalf("the output is not bounded: %v", err)
					}
				}
			})
		}
	}
}
