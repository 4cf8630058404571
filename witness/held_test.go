package witness

import (
	"math"
	"testing"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
)

// TestHeld: an input of 16 bits holds numbers of its format alone, and none beyond its range.
func TestHeld(t *testing.T) {
	unit := rangeprop.Range{Lo: -0.9999, Hi: 0.9999}
	for _, c := range []struct {
		x    float64
		f    numfmt.Format
		r    rangeprop.Range
		want float64
	}{
		{0.9999, numfmt.FP16, unit, 1 - 0x1p-11},
		{-0.9999, numfmt.FP16, unit, -1 + 0x1p-11},
		{0.9999, numfmt.BF16, unit, 1 - 0x1p-8},
		{0.9999, numfmt.FP32, unit, 0.9999},
		{0.3, numfmt.FP16, unit, numfmt.FP16.Round(0.3)},
		{1e-9, numfmt.FP16, rangeprop.Range{Lo: 1e-9, Hi: 1}, 0x1p-24},
		{1e-9, numfmt.FP16, rangeprop.Range{Lo: 0, Hi: 1}, 0},
		{1e6, numfmt.FP16, rangeprop.Range{Lo: 0, Hi: 1e6}, 65504},
		{0.30001, numfmt.FP16, rangeprop.Range{Lo: 0.30001, Hi: 0.30001}, numfmt.FP16.Round(0.30001)},
	} {
		if got := held(c.x, c.f, c.r); got != c.want || math.IsNaN(got) {
			t.Errorf("%g in %s of %s: got %g, want %g", c.x, c.f, c.r, got, c.want)
		}
	}
}
