package refeval

import (
	"testing"

	"github.com/amplint/amplint/numfmt"
)

func TestNormalizeOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"layer norm with its moments", 17, `(float[A,B] y, float[A,C] m, float[A,C] i) <float[2,2] x = {1, 3, 2, 2}, float[2] s = {1, 2}, float[2] b = {0, 1}> { y, m, i = LayerNormalization<epsilon = 0.0>(x, s, b) }`,
			"float[2,2] -1 3 NaN NaN; float[2,1] 2 2; float[2,1] 1 +Inf"},
		{"layer norm over all axes", 17, `(float[A,B] y) <float[2,2] x = {1, 1, 3, 3}, float[2,2] s = {1, 1, 1, 2}> { y = LayerNormalization<axis = 0, epsilon = 0.0>(x, s) }`, "float[2,2] -1 -1 1 2"},
		{"layer norm in half", 17, `(float[A] y) <float[2] x = {1, 1000}, float[2] s = {1, 1}> { y = LayerNormalization<stash_type = 10>(x, s) }`, "float[2] 0 0"},
		{"root mean square norm", 23, `(float16[A] y) <float[2] x = {3, 4}, float[2] s = {1, 2}> { h = Cast<to = 10>(s) y = RMSNormalization<epsilon = 0.0>(x, h) }`, "float16[2] 0.84863 2.2637"},
		{"instance norm", 6, `(float[A,B,C] y) <float[1,2,2] x = {1, 3, 4, 8}, float[2] s = {1, 10}, float[2] b = {0, 5}> { y = InstanceNormalization<epsilon = 0.0>(x, s, b) }`, "float[1,2,2] -1 1 -5 15"},
		{"group norm of opset 18 by group", 18, `(float[A,B,C] y) <float[1,4,1] x = {1, 3, 4, 8}, float[2] s = {1, 10}, float[2] b = {0, 5}> { y = GroupNormalization<num_groups = 2, epsilon = 0.0>(x, s, b) }`, "float[1,4,1] -1 1 -5 15"},
		{"group norm by channel", 21, `(float[A,B,C] y) <float[1,4,1] x = {1, 3, 4, 8}, float[4] s = {1, 2, 3, 4}, float[4] b = {0, 0, 0, 1}> { y = GroupNormalization<num_groups = 2, epsilon = 0.0>(x, s, b) }`, "float[1,4,1] -1 2 -3 5"},
		{"lengths", 1, `(float[A,B] y, float[A,B] z) <float[2,2] x = {3, 4, 0, 0}> { y = LpNormalization(x) z = LpNormalization<p = 1, axis = 0>(x) }`, "float[2,2] 0.6 0.8 0 0; float[2,2] 1 1 0 0"},
		{"mean and variance", 13, `(float[A,B,C,D] y) <float[1,1,1,2] x = {1, 3}> { y = MeanVarianceNormalization(x) }`, "float[1,1,1,2] -1 1"},
		{"local response", 13, `(float[A,B,C] y) <float[1,3,1] x = {1, 2, 3}> { y = LRN<size = 2, alpha = 2.0, beta = 1.0, bias = 1.0>(x) }`, "float[1,3,1] 0.16667 0.14286 0.3"},
		{"batch norm", 15, `(float[A,B,C] y) <float[1,2,1] x = {3, 4}, float[2] s = {1, 2}, float[2] b = {0, 1}, float[2] m = {1, 2}, float[2] v = {4, 1}> { y = BatchNormalization<epsilon = 0.0>(x, s, b, m, v) }`, "float[1,2,1] 1 5"},
		{"batch norm that names the moments it keeps", 15, `(float[A,B,C] y, float[B] n, float[B] w) <float[1,2,1] x = {3, 4}, float[2] s = {1, 2}, float[2] b = {0, 1}, float[2] m = {1, 2}, float[2] v = {4, 1}> { y, n, w = BatchNormalization<epsilon = 0.0>(x, s, b, m, v) }`, "float[1,2,1] 1 5; float[2] 1 2; float[2] 4 1"},
		{"batch norm of a vector", 15, `(float[A] y) <float[2] x = {3, 4}, float[1] s = {1}, float[1] b = {0}, float[1] m = {1}, float[1] v = {4}> { y = BatchNormalization<epsilon = 0.0>(x, s, b, m, v) }`, "float[2] 1 1.5"},
		{"batch norm in training", 15, `(float[A,B] y, float[B] m, float[B] v) <float[2,1] x = {1, 3}, float[1] s = {2}, float[1] b = {1}, float[1] a = {10}, float[1] c = {20}> { y, m, v = BatchNormalization<training_mode = 1, momentum = 0.5, epsilon = 0.0>(x, s, b, a, c) }`,
			"float[2,1] -1 3; float[1] 6; float[1] 10.5"},
		{"batch norm of opset 7 in training, place by place", 7, `(float[A,B,C] y, float[B] m, float[B] v, float[B] n, float[B] w) <float[2,1,2] x = {1, 5, 3, 5}, float[2] s = {2, 2}, float[2] b = {1, 1}, float[2] a = {10, 10}, float[2] c = {20, 20}> { y, m, v, n, w = BatchNormalization<spatial = 0, momentum = 0.5, epsilon = 0.0>(x, s, b, a, c) }`,
			"float[2,1,2] -1 NaN 3 NaN; float[2] 6 7.5; float[2] 10.5 10; float[2] 2 5; float[2] 1 0"},
	})
}

// TestLowNorms: the square of 300 is infinite in float16, so that everything ends as zero; the
// epsilon 1e-9 is zero in it.
func TestLowNorms(t *testing.T) {
	checkOps(t, Options{As: numfmt.FP16, Accumulate: Target}, []opCase{
		{"layer norm", 17, `(float[A] y) <float[2] x = {-300, 300}, float[2] s = {1, 1}> { y = LayerNormalization(x, s) }`, "float[2] 0 0"},
		{"root mean square norm", 23, `(float[A] y) <float[1] x = {300}, float[1] s = {1}> { y = RMSNormalization(x, s) }`, "float[1] 0"},
		{"mean and variance of equal elements", 13, `(float[A,B] y) <float[1,2] x = {2, 2}> { y = MeanVarianceNormalization<axes = [1]>(x) }`, "float[1,2] NaN NaN"},
		{"local response", 13, `(float[A,B] y) <float[1,1] x = {300}> { y = LRN<size = 1>(x) }`, "float[1,1] 0"},
	})
}
