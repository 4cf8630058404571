package graph

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// TestConvertedFloats: the elements of a conversion are the same whether they are rounded or read
// back from the bytes that a save writes.
func TestConvertedFloats(t *testing.T) {
	x := []float32{0, float32(math.Copysign(0, -1)), 1, -1.0001, 3.7, 447, 449, 480, -60000, 65519, 65520, -1e30, math.MaxFloat32, 1e-8, 3e-8, -6e-5, 1e-40,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	for i := range 3 * chunkFloats {
		x = append(x, float32(math.Sin(float64(i))*math.Exp(float64(i%40-20))))
	}
	plain := FloatTensor("w", []int64{int64(len(x))}, x...)
	for _, from := range []*Tensor{plain, plain.Converted(Float16, false), plain.Converted(BFloat16, false)} {
		for _, e := range []ElemType{Float, Float16, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Double} {
			for _, saturate := range []bool{false, true} {
				name := fmt.Sprintf("%s to %s, saturate %v", from.Elem, e, saturate)
				compareConversion(t, name, from.Converted(e, saturate))
			}
		}
	}
}

func compareConversion(t *testing.T, name string, c *Tensor) {
	t.Helper()
	raw, err := c.Bytes()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	stored := NewTensor("w", c.Elem, c.Dims, raw)
	want, err := stored.Float64s()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	i := 0
	err = c.Floats(func(chunk []float32) error {
		for _, g := range chunk {
			if w := float32(want[i]); math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
				t.Errorf("%s: element %d is %v, its bytes say %v", name, i, g, w)
			}
			i++
		}
		return nil
	})
	if err != nil || i != len(want) {
		t.Errorf("%s: %d elements of %d, %v", name, i, len(want), err)
	}
	compareHistograms(t, name, c, stored)
}

func compareHistograms(t *testing.T, name string, a, b *Tensor) {
	t.Helper()
	x, err := a.Histogram()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	y, err := b.Histogram()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got := fmt.Sprint(x.Count(), x.Zeros(), x.Infs(), x.NaNs(), x.Min(), x.Max(), x.MinMagnitude(), x.Overflow(numfmt.FP16), x.Underflow(numfmt.FP16))
	want := fmt.Sprint(y.Count(), y.Zeros(), y.Infs(), y.NaNs(), y.Min(), y.Max(), y.MinMagnitude(), y.Overflow(numfmt.FP16), y.Underflow(numfmt.FP16))
	if got != want {
		t.Errorf("%s: histogram %s, of the bytes %s", name, got, want)
	}
}

// TestFloatsCounted: the elements come out, and the counts are those of a histogram, of a conversion
// too, whether they follow from those of its origin or not.
func TestFloatsCounted(t *testing.T) {
	small := []float32{0, 1, -300, 2e-5, 1e-8}
	for _, x := range [][]float32{small, append([]float32{-70000, float32(math.NaN())}, small...)} {
		w := FloatTensor("w", []int64{int64(len(x))}, x...)
		for _, v := range []*Tensor{w, w.Converted(Float16, false), w.Converted(Float16, true), w.Converted(BFloat16, false)} {
			for range 2 { // the second time it is counted
				var got []float32
				err := v.FloatsCounted(numfmt.FP16, func(chunk []float32) { got = append(got, chunk...) })
				if err != nil || len(got) != len(x) {
					t.Fatalf("%s: %v, %v", v.Elem, got, err)
				}
			}
			compareCounts(t, v, NewTensor("w", v.Elem, v.Dims, must(v.Bytes())))
		}
		if c := w.Converted(Float16, false); (c.tally() != nil) != (len(x) == len(small)) {
			t.Errorf("the counts of %v in fp16 follow from those in fp32: %v", x, c.tally() != nil)
		}
	}
}

// compareCounts compares the counts of one tensor with the histogram of the other.
func compareCounts(t *testing.T, a, b *Tensor) {
	t.Helper()
	c, err := a.Counts()
	if err != nil {
		t.Fatal(err)
	}
	h, err := b.Histogram()
	if err != nil {
		t.Fatal(err)
	}
	all := func(k known) string {
		return fmt.Sprint(k.Count(), k.Zeros(), k.Infs(), k.NaNs(), k.Min(), k.Max(), k.MinMagnitude(), k.MaxMagnitude())
	}
	if got, want := all(c), all(h); got != want {
		t.Errorf("%s: %s, want %s", a.Elem, got, want)
	}
	for _, f := range []numfmt.Format{numfmt.FP32, numfmt.FP16, numfmt.BF16, numfmt.E4M3FN} {
		got := []int64{c.Overflow(f), c.Underflow(f), c.Subnormal(f), c.Exponent(-17)}
		if want := []int64{h.Overflow(f), h.Underflow(f), h.Subnormal(f), h.Exponent(-17)}; !slices.Equal(got, want) {
			t.Errorf("%s in %s: %v, want %v", a.Elem, f, got, want)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// TestOutline: an outline opens as the model does and is as long, with none of its new elements.
func TestOutline(t *testing.T) {
	m := NewModel(10, Opset{"", 21})
	m.Graph.AddInitTensor(FloatTensor("w", []int64{4}, 1, 2, 3, 4).Converted(Float16, false))
	m.Graph.AddNodeNamed("Neg", "", "n", []string{"w"}, []string{"y"})
	m.Graph.DeclareOutput("y", TensorOf(Float16, ShapeOf(4)))
	if err := m.Link(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "outline.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := m.WriteOutline(f); err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if _, err := m.WriteTo(&whole); err != nil {
		t.Fatal(err)
	}
	again := opened(t, f.Name())
	elements := again.Graph.Lookup("w").Init.mustFloats(t)
	if st, err := f.Stat(); err != nil || st.Size() != int64(whole.Len()) || len(again.Graph.Nodes) != 1 || !equal(elements, make([]float64, 4)) {
		t.Errorf("%d bytes of %d, %d nodes, elements %v, %v", st.Size(), whole.Len(), len(again.Graph.Nodes), elements, err)
	}
}
