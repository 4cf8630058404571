package rangeprop

import (
	"math"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// TestTanhOut: the bound has room for kernels that pass 1 by two steps of FP32 where the tangent is nearly 1.
func TestTanhOut(t *testing.T) {
	const beyond = 1 + 2.0/(1<<23)
	for _, r := range []Range{{8.13, 9}, {8.13, 8.13}, {-9, -8.2}} {
		y := mathOps()["Tanh"].f(&call{in: []*Val{scalar(r)}})[0]
		if h := roundTo(numfmt.FP32, y, mathOps()["Tanh"].ulps).Hull(); h.MaxAbs() < beyond {
			t.Errorf("%v: got %v, want room for %v", r, h, beyond)
		}
	}
}

// TestZeroPiece: 0 between negative and positive numbers may be -0, whose reciprocal is -Inf.
func TestZeroPiece(t *testing.T) {
	for _, c := range []struct {
		r        Range
		negative bool
	}{{Range{-1, 1}, true}, {Range{0, 1}, false}} {
		v := cutUp(c.r, 0x1p-24)
		found := false
		for i, lo := range v.lo {
			if lo == 0 && v.hi[i] == 0 {
				found = found || math.Signbit(lo)
			}
		}
		if found != c.negative {
			t.Errorf("%v: a piece of -0: %v, want %v", c.r, found, c.negative)
		}
	}
}
