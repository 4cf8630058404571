package graph

import (
	"fmt"
	"math"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// TestScaled: elements are divided by, or multiplied with, the scale of their channel on the way, wherever they are
// read from, and the largest of each channel is found, along every axis.
func TestScaled(t *testing.T) {
	for _, c := range []struct {
		dims []int64
		axis int
	}{{[]int64{5, 7}, 1}, {[]int64{5, 7}, 0}, {[]int64{3, 4, 5, 6}, 1}, {[]int64{3, 4, 5}, 2}, {[]int64{6}, -1}, {[]int64{1, 9}, 0}, {[]int64{300, 701}, 1}, {[]int64{300, 701}, 0}, {[]int64{}, -1}} {
		t.Run(fmt.Sprint(c.dims, c.axis), func(t *testing.T) {
			by := ChannelsOf(c.dims, c.axis)
			n, _ := elements(c.dims)
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(math.Sin(float64(i)))
			}
			scales, most, largest := make([]float32, by.Len()), make([]float32, by.Len()), make([]float32, by.Len())
			for k := range scales {
				scales[k] = 1 + float32(k)/7
			}
			at := ScaleAt(c.dims, int64(len(scales)), max(c.axis, 0), 0)
			divided, multiplied := make([]float32, n), make([]float32, n)
			for i, v := range x {
				k := at(int64(i))
				divided[i], multiplied[i] = v/scales[k], v*scales[k]
				most[k] = max(most[k], v, -v)
			}
			by.Largest(largest, 0, x[:n/3])
			by.Largest(largest, n/3, x[n/3:])
			in := FloatTensor("x", c.dims, x...)
			same(t, "the largest", largest, most)
			same(t, "divided", floatsOf(t, in.Scaled(Float, by, scales)), divided)
			same(t, "multiplied", floatsOf(t, in.Unscaled(Float, by, scales)), multiplied)
			low := numfmt.E4M3FN.AppendEncoded(nil, divided, true)
			if got, err := in.Scaled(Float8E4M3FN, by, scales).Bytes(); err != nil || string(got) != string(low) {
				t.Errorf("not stored in 8 bits as numbers that were divided: %v", err)
			}
			rest := make([]byte, 1)
			for i := range n {
				if err := new(reader).raw(in.Scaled(Float8E4M3FN, by, scales), i, rest); err != nil || rest[0] != low[i] {
					t.Fatalf("element %d alone is %x, want %x: %v", i, rest, low[i], err)
				}
			}
		})
	}
}

// TestScaledEnds: what is past the largest number becomes that where elements are stored in 8 bits, and infinities
// stay where they are multiplied; neither is a rounding of what it was made from.
func TestScaledEnds(t *testing.T) {
	by := ChannelsOf([]int64{2}, -1)
	low := FloatTensor("x", []int64{2}, 1000, -1).Scaled(Float8E4M3FN, by, []float32{0.5})
	same(t, "stored", floatsOf(t, low), []float32{448, -2})
	e5m2 := FloatTensor("x", []int64{2}, float32(math.Inf(1)), 3).Converted(Float8E5M2, false)
	wide := e5m2.Unscaled(Float, by, []float32{2})
	same(t, "multiplied", floatsOf(t, wide), []float32{float32(math.Inf(1)), 6})
	if low.Origin() != nil || wide.Origin() != nil {
		t.Error("it is taken for the same numbers in another type")
	}
}

func floatsOf(t *testing.T, x *Tensor) (all []float32) {
	t.Helper()
	if err := x.Floats(func(chunk []float32) error { all = append(all, chunk...); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
