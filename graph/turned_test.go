package graph

import (
	"math"
	"slices"
	"testing"
)

// TestTurned reads a tensor that is made from another, in chunks, as bytes and in sections.
func TestTurned(t *testing.T) {
	x := make([]float32, 3*chunkFloats+7)
	want := make([]float64, len(x))
	for i := range x {
		x[i], want[i] = float32(i%250), float64(float32(i%250)*float32(i))
	}
	y := FloatTensor("x", []int64{int64(len(x))}, x...).Turned(func(from int64, chunk []float32) {
		for i := range chunk {
			chunk[i] *= float32(from + int64(i))
		}
	})
	got, err := y.Float64s()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("elements differ, %v", err)
	}
	got = got[:0]
	if err := y.Floats(func(chunk []float32) error {
		for _, v := range chunk {
			got = append(got, float64(v))
		}
		return nil
	}); err != nil || !slices.Equal(got, want) {
		t.Errorf("chunks differ, %v", err)
	}
	sum, all := 0.0, 0.0
	for _, v := range want {
		all += v
	}
	err = y.Sections(Sections{Size: 1000, Begin: func(int) func(int64, []float32) {
		return func(_ int64, chunk []float32) {
			for _, v := range chunk {
				sum += float64(v)
			}
		}
	}, End: func(int) {}})
	if err != nil || math.Abs(sum-all) > 1e-9*all {
		t.Errorf("sections come to %g, want %g, %v", sum, all, err)
	}
}
