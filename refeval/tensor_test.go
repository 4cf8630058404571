package refeval

import (
	"bytes"
	"slices"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// TestConversionIsExact sends every bit pattern of the narrow types, and some of the wide ones,
// through a Tensor and back. Only the payload of NaN may be lost.
func TestConversionIsExact(t *testing.T) {
	for e := graph.Float; e <= graph.Int2; e++ {
		if e == graph.String {
			continue
		}
		raw, n := patterns(e)
		x, err := FromGraph(graph.NewTensor("", e, []int64{int64(n)}, raw))
		if err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		got, err := x.ToGraph("").Bytes()
		if err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		back, err := FromGraph(graph.NewTensor("", e, []int64{int64(n)}, got))
		if err != nil {
			t.Fatalf("%s: %v", e, err)
		}
		if !back.EqualBits(x) {
			t.Errorf("%s: the numbers differ after a round trip", e)
		}
		if !e.IsFloat() && storeOf(e) != storeC && !bytes.Equal(got, raw) {
			t.Errorf("%s: the bytes differ after a round trip", e)
		}
	}
}

// patterns returns raw data that holds all codes of a type up to 16 bits.
func patterns(e graph.ElemType) (raw []byte, n int) {
	switch bits := e.Bits(); {
	case e == graph.Bool:
		return []byte{0, 1}, 2
	case bits == 16:
		for i := range 1 << 16 {
			raw = append(raw, byte(i), byte(i>>8))
		}
		return raw, 1 << 16
	default:
		for i := range 256 {
			raw = append(raw, byte(i))
		}
		return raw, 256 * 8 / bits
	}
}

func TestCastOfFloats(t *testing.T) {
	for _, c := range []struct {
		to       graph.ElemType
		saturate bool
		x, want  float32
	}{
		{graph.Float16, true, 65520, inf},
		{graph.Float16, true, 1e-9, 0},
		{graph.BFloat16, true, 1.00390625, 1},
		{graph.Float8E4M3FN, true, 1e6, 448},
		{graph.Float8E4M3FN, false, 1e6, nan},
		{graph.Float8E5M2, true, inf, 57344},
		{graph.Float8E5M2, false, inf, inf},
		{graph.Float4E2M1, true, 2.5, 2},
		{graph.Float4E2M1, true, 100, 6},
		{graph.Float4E2M1, true, -0.25, 0},
		{graph.Float8E8M0, true, 3, 4},
	} {
		y := &Tensor{Elem: c.to, Dims: []int{1}, F: []float32{0}}
		convert(y, FloatTensor([]int{1}, c.x), c.saturate, "up")
		if got := y.F[0]; got != c.want && (got == got || c.want == c.want) {
			t.Errorf("%v as %s (saturate %v) is %v, want %v", c.x, c.to, c.saturate, got, c.want)
		}
	}
}

func TestCastToIntegersAndStrings(t *testing.T) {
	for _, c := range []struct {
		x    float64
		to   graph.ElemType
		want int64
	}{
		{-1.9, graph.Int32, -1}, {3e9, graph.Int32, -1 << 31}, {300, graph.Uint8, 44}, {-1, graph.Uint8, 255},
		{1e30, graph.Int64, -1 << 63}, {0.5, graph.Bool, 1}, {9, graph.Int4, -7}, {1.5e19, graph.Uint64, 15e18 - 1<<64},
	} {
		if got := floatToInt(c.x, c.to); got != c.want {
			t.Errorf("%v as %s is %d, want %d", c.x, c.to, got, c.want)
		}
	}
	for x, want := range map[float64]string{1: "1.0", 0.1: "0.1", 1e16: "1e+16", 1e-5: "1e-05"} {
		if got := spell(x, 64); got != want {
			t.Errorf("%v is spelt %s, want %s", x, got, want)
		}
	}
}

func TestBroadcast(t *testing.T) {
	if got := broadcast([]int{3, 1}, []int{2}, []int{}); !slices.Equal(got, []int{3, 2}) {
		t.Errorf("shape %v", got)
	}
	if got := broadcast([]int{0}, []int{1}); !slices.Equal(got, []int{0}) {
		t.Errorf("shape %v", got)
	}
	if got := spread([]int{3, 1}, []int{4, 3, 2}); !slices.Equal(got, []int{0, 1, 0}) {
		t.Errorf("strides %v", got)
	}
}

func TestAccumulation(t *testing.T) {
	ones := make([]float32, 4096)
	for i := range ones {
		ones[i] = 1
	}
	for _, c := range []struct {
		a    accum
		want float32
	}{
		{accum{}, 4096},
		{accum{format: numfmt.FP16}, 2048}, // 2048 + 1 rounds back
		{accum{format: numfmt.FP16, block: blockLen}, 4096},
		{accum{format: numfmt.BF16}, 256},
	} {
		if got := c.a.sum(ones); got != c.want {
			t.Errorf("%v: the sum is %v, want %v", c.a, got, c.want)
		}
	}
}
