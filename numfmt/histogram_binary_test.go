package numfmt

import (
	"math"
	"testing"
)

func TestHistogramBinary(t *testing.T) {
	var h, got Histogram
	for _, x := range []float64{0, 1, -3, 1e-40, 7e4, math.Inf(1), math.NaN()} {
		h.Add(x)
	}
	b, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := got.UnmarshalBinary(b); err != nil || got != h {
		t.Errorf("got %+v, want %+v; %v", got, h, err)
	}
	if err := got.UnmarshalBinary(b[1:]); err == nil {
		t.Error("a histogram that is cut off was read")
	}
}
