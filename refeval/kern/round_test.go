package kern

import (
	"flag"
	"math"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

var all = flag.Bool("all", false, "round every float32, not one in a hundred")

// TestRoundHasTheBitsOfNumfmt goes through the float32 numbers in blocks.
func TestRoundHasTheBitsOfNumfmt(t *testing.T) {
	const block = 1 << 16
	step := 101
	if testing.Short() {
		step = 1001
	}
	if *all {
		step = 1
	}
	x, want := make([]float32, block), make([]float32, block)
	for _, l := range Levels()[1:] {
		e := NewAt(l, 1)
		for b := 0; b < 1<<16; b += step {
			for _, f := range []numfmt.Format{numfmt.FP16, numfmt.BF16} {
				for i := range x {
					x[i] = math.Float32frombits(uint32(b*block + i))
				}
				copy(want, x)
				roundGo(f, b&1 == 1, want)
				e.Round(f, x, b&1 == 1)
				if i, ok := sameBits(x, want); !ok {
					t.Fatalf("%s, %s: %#x is rounded to %v, want %v", l, f, b*block+i, x[i], want[i])
				}
			}
		}
	}
}
