package refeval

import (
	"testing"

	"github.com/amplint/amplint/numfmt"
)

const ones22 = `float[1,1,2,2] w = {1, 1, 1, 1}`

func TestConvOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"conv", 11, `(float[A,B,C,D] y) <float[1,1,3,3] x = {1, 2, 3, 4, 5, 6, 7, 8, 9}, ` + ones22 + `> { y = Conv(x, w) }`, "float[1,1,2,2] 12 16 24 28"},
		{"conv with strides and uneven borders", 11, `(float[A,B,C,D] y) <float[1,1,3,3] x = {1, 2, 3, 4, 5, 6, 7, 8, 9}, ` + ones22 + `> { y = Conv<pads = [1, 0, 0, 1], strides = [2, 2]>(x, w) }`, "float[1,1,2,2] 3 3 24 15"},
		{"conv of the same size", 11, `(float[A,B,C] y, float[A,B,C] z) <float[1,1,3] x = {1, 2, 3}, float[1,1,2] w = {1, 10}> { y = Conv<auto_pad = "SAME_UPPER">(x, w) z = Conv<auto_pad = "SAME_LOWER">(x, w) }`, "float[1,1,3] 21 32 3; float[1,1,3] 10 21 32"},
		{"dilated conv", 11, `(float[A,B,C] y) <float[1,1,4] x = {1, 2, 3, 4}, float[1,1,2] w = {1, 10}> { y = Conv<dilations = [2]>(x, w) }`, "float[1,1,2] 31 42"},
		{"grouped conv with a bias", 11, `(float[A,B,C] y) <float[1,2,2] x = {1, 2, 3, 4}, float[4,1,1] w = {1, 2, 3, 4}, float[4] b = {0, 0, 0, 100}> { y = Conv<group = 2>(x, w, b) }`, "float[1,4,2] 1 2 2 4 9 12 112 116"},
		{"conv of doubles in three dimensions", 11, `(double[A,B,C,D,E] y) <double[1,1,1,1,3] x = {1, 2, 3}, double[1,1,1,1,2] w = {1, -1}> { y = Conv(x, w) }`, "double[1,1,1,1,2] -1 -1"},
		{"a kernel that does not fit", 11, `(float[A,B,C] y) <float[1,1,1] x = {1}, float[1,1,2] w = {1, 10}> { y = Conv(x, w) }`, "error: a kernel of 2 over 1"},
		{"weights for other channels", 11, `(float[A,B,C] y) <float[1,2,2] x = {1, 2, 3, 4}, float[1,1,1] w = {1}> { y = Conv(x, w) }`, "error: in 1 groups for an image"},
		{"conv of integers", 10, `(int32[A,B,C] y) <uint8[1,1,3] x = {2, 3, 4}, uint8[1,1,2] w = {1, 1}, uint8 z = {1}> { y = ConvInteger<pads = [1, 0]>(x, w, z) }`, "int32[1,1,3] 1 3 5"},
		{"transposed conv", 11, `(float[A,B,C] y) <float[1,1,2] x = {1, 2}, float[1,1,3] w = {1, 10, 100}> { y = ConvTranspose<strides = [2]>(x, w) }`, "float[1,1,5] 1 10 102 20 200"},
		{"transposed conv, cut and padded", 11, `(float[A,B,C] y) <float[1,1,2] x = {1, 2}, float[1,1,3] w = {1, 10, 100}, float[1] b = {1}> { y = ConvTranspose<strides = [2], pads = [1, 1], output_padding = [1]>(x, w, b) }`, "float[1,1,4] 11 103 21 201"},
		{"transposed conv of a given size", 11, `(float[A,B,C] y, float[A,B,C] z) <float[1,1,2] x = {1, 2}, float[1,1,3] w = {1, 10, 100}> { y = ConvTranspose<strides = [2], output_shape = [4]>(x, w) z = ConvTranspose<strides = [2], auto_pad = "SAME_UPPER">(x, w) }`, "float[1,1,4] 10 102 20 200; float[1,1,4] 1 10 102 20"},
		{"transposed conv, more than it reaches", 11, `(float[A,B,C] y, double[A,B,C] z, double[A,B,C] v) <float[1,1,3] x = {1, 2, 3}, float[1,1,3] w = {1, 10, 100}, double[1,1,3] d = {1, 2, 3}, double[1,1,3] k = {1, 10, 100}> { y = ConvTranspose<strides = [2], output_shape = [7], output_padding = [1], auto_pad = "SAME_LOWER">(x, w) z = ConvTranspose<strides = [2], output_shape = [6], auto_pad = "SAME_UPPER">(d, k) v = ConvTranspose<strides = [2], output_shape = [6]>(d, k) }`, "float[1,1,7] 10 102 20 203 30 300 0; double[1,1,6] 1 10 102 20 203 30; double[1,1,6] 10 102 20 203 30 300"},
		{"transposed conv in groups", 11, `(float[A,B,C] y) <float[1,2,1] x = {1, 2}, float[2,2,1] w = {1, 10, 100, 1000}> { y = ConvTranspose<group = 2>(x, w) }`, "float[1,4,1] 1 10 200 2000"},
		{"blocks into an image", 18, `(float[A,B,C,D] y) <float[1,2,3] x = {1, 2, 3, 10, 20, 30}, int64[2] i = {1, 4}, int64[2] b = {1, 2}> { y = Col2Im(x, i, b) }`, "float[1,1,1,4] 1 12 23 30"},
		{"deformed conv", 19, `(float[A,B,C,D] y) <float[1,1,1,3] x = {1, 2, 3}, float[1,1,1,1] w = {1}, float[1,2,1,3] o = {0, 0, 0.5, 0.5, 1, 0}> { y = DeformConv(x, w, o) }`, "float[1,1,1,3] 1.5 3 1.5"},
		{"masked", 19, `(float[A,B,C,D] y) <float[1,1,1,2] x = {1, 2}, float[1,1,1,1] w = {1}, float[1,2,1,2] o = {0, 0, 0, 0}, float[1] b = {1}, float[1,1,1,2] m = {0.5, 2}> { y = DeformConv(x, w, o, b, m) }`, "float[1,1,1,2] 1.5 5"},
		{"causal conv with a state", 27, `(float[A,B,C] y, float[A,B,D] s) <float[1,1,3] x = {1, 2, 3}, float[1,1,3] w = {100, 10, 1}, float[1,1,2] p = {8, 9}> { y, s = CausalConvWithState(x, w, , p) }`, "float[1,1,3] 891 912 123; float[1,1,2] 2 3"},
	})
}

// TestLowConv: sums run over the channels, then the taps; 2048 + 1 is 2048 in float16.
func TestLowConv(t *testing.T) {
	checkOps(t, Options{As: numfmt.FP16, Accumulate: Target}, []opCase{
		{"conv", 11, `(float[A,B,C] y) <float[1,2,2] x = {2048, 1, 1, 1}, float[1,2,2] w = {1, 1, 1, 1}> { y = Conv(x, w) }`, "float[1,1,1] 2048"},
		{"a small one first", 11, `(float[A,B,C] y) <float[1,2,2] x = {1, 1, 2048, 1}, float[1,2,2] w = {1, 1, 1, 1}> { y = Conv(x, w) }`, "float[1,1,1] 2052"},
		{"transposed conv", 11, `(float[A,B,C] y) <float[1,1,2] x = {1, 2048}, float[1,1,2] w = {1, 1}> { y = ConvTranspose(x, w) }`, "float[1,1,3] 1 2048 2048"},
	})
	checkOps(t, Options{As: numfmt.FP16}, []opCase{
		{"conv in float32", 11, `(float[A,B,C] y) <float[1,2,2] x = {2048, 1, 1, 1}, float[1,2,2] w = {1, 1, 1, 1}> { y = Conv(x, w) }`, "float[1,1,1] 2052"},
	})
}
