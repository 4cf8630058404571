package refeval

import "testing"

// The layers have one unit and identity-like weights, so that results can be followed by hand:
// Affine with the defaults is the identity, Relu cuts off.
func TestRNNOps(t *testing.T) {
	const x = `float[3,1,1] x = {1, 2, 3}, `
	checkOps(t, Options{}, []opCase{
		{"rnn", 14, `(float[A,B,C,D] y, float[B,C,D] h) <` + x + `float[1,1,1] w = {1}, float[1,1,1] r = {10}, float[1,2] b = {0.5, 0.5}> { y, h = RNN<hidden_size = 1, activations = ["Affine"]>(x, w, r, b) }`,
			"float[3,1,1,1] 2 23 234; float[1,1,1] 234"},
		{"rnn backwards from an initial state", 14, `(float[A,B,C,D] y, float[B,C,D] h) <` + x + `float[1,1,1] w = {1}, float[1,1,1] r = {10}, float[1,1,1] i = {1}> { y, h = RNN<hidden_size = 1, direction = "reverse", activations = ["Affine"]>(x, w, r, , , i) }`,
			"float[3,1,1,1] 1321 132 13; float[1,1,1] 1321"},
		{"rnn in both directions, with clip", 14, `(float[A,B,C,D] y) <` + x + `float[2,1,1] w = {1, 1}, float[2,1,1] r = {10, 10}> { y = RNN<hidden_size = 1, direction = "bidirectional", activations = ["Affine", "Affine"], activation_alpha = [1.0, 2.0], activation_beta = [0.0, 0.0], clip = 20.0>(x, w, r) }`,
			"float[3,2,1,1] 1 40 12 40 20 6"},
		{"rnn of sequences of other lengths, batch first", 14, `(float[A,B,C,D] y, float[B,C,D] h) <float[2,2,1] x = {1, 2, 3, 4}, float[1,1,1] w = {1}, float[1,1,1] r = {10}, int32[2] n = {1, 2}> { y, h = RNN<hidden_size = 1, layout = 1, direction = "reverse", activations = ["Relu"]>(x, w, r, , n) }`,
			"float[2,2,1,1] 1 0 43 4; float[2,1,1] 1 43"},
		// z = 0.5, h = x + (r.h) with r = 0.5
		{"gru", 14, `(float[A,B,C,D] y) <` + x + `float[1,3,1] w = {0, 0, 1}, float[1,3,1] r = {0, 0, 1}> { y = GRU<hidden_size = 1, activations = ["Sigmoid", "Affine"]>(x, w, r) }`,
			"float[3,1,1,1] 0.5 1.375 2.5312"},
		{"gru, linear before the reset", 14, `(double[A,B,C,D] y) <double[1,1,1] x = {1}, double[1,3,1] w = {0, 0, 1}, double[1,3,1] r = {0, 0, 1}, double[1,6] b = {0, 0, 1, 0, 0, 4}, double[1,1,1] i = {2}> { y = GRU<hidden_size = 1, linear_before_reset = 1, activations = ["Sigmoid", "Affine"]>(x, w, r, b, , i) }`,
			"double[1,1,1,1] 3.5"},
		// all gates are 0.5: C = C/2 + x/2, H = C/2
		{"lstm", 14, `(float[A,B,C,D] y, float[B,C,D] h, float[B,C,D] c) <` + x + `float[1,4,1] w = {0, 0, 0, 1}, float[1,4,1] r = {0, 0, 0, 0}> { y, h, c = LSTM<hidden_size = 1, activations = ["Sigmoid", "Affine", "Affine"]>(x, w, r) }`,
			"float[3,1,1,1] 0.25 0.625 1.0625; float[1,1,1] 1.0625; float[1,1,1] 2.125"},
		// 1, 2 and 3 are 85, 170 and 255 steps, and 100 times 0.01 is 1
		{"lstm of 8 bits", 14, `(float[A,B,C,D] y, float[B,C,D] h, float[B,C,D] c) <` + x + `int8[1,1,4] w = {3, 3, 3, 103}, int8[1,1,4] r = {0, 0, 0, 0}, float[1] ws = {0.01}, int8[1] wz = {3}, int8[1] rz = {0}> { y, h, c = com.microsoft.DynamicQuantizeLSTM<hidden_size = 1, activations = ["Sigmoid", "Affine", "Affine"]>(x, w, r, , , , , , ws, wz, ws, rz) }`,
			"float[3,1,1,1] 0.25 0.625 1.0625; float[1,1,1] 1.0625; float[1,1,1] 2.125"},
		// the state 0.5 is the end of its range: C = 1/2 + (2 + 2·0.5)/2
		{"lstm of 8 bits, gate by gate", 14, `(float[A,B,C,D] y) <float[2,1,1] x = {2, 2}, int8[1,1,4] w = {0, 0, 0, 10}, int8[1,1,4] r = {0, 0, 0, 20}, float[1,4] ws = {1, 1, 1, 0.1}, int8[1,4] z = {0, 0, 0, 0}> { y = com.microsoft.DynamicQuantizeLSTM<hidden_size = 1, activations = ["Sigmoid", "Affine", "Affine"]>(x, w, r, , , , , , ws, z, ws, z) }`,
			"float[2,1,1,1] 0.5 1"},
		// H is a quarter of the state, of which 0.3 is 76 of 255 steps
		{"lstm of 8 bits whose state is rounded", 14, `(float[A,B,C,D] y) <float[1,2,1] x = {0, 0}, int8[1,1,4] w = {0, 0, 0, 0}, int8[1,1,4] r = {0, 0, 0, 10}, float[1] s = {0.1}, int8[1] z = {0}, float[1,2,1] h = {1, 0.3}> { y = com.microsoft.DynamicQuantizeLSTM<hidden_size = 1, activations = ["Sigmoid", "Affine", "Affine"]>(x, w, r, , , h, , , s, z, s, z) }`,
			"float[1,1,2,1] 0.25 0.07451"},
		{"lstm of 8 bits without scales", 14, `(float[A,B,C,D] y) <` + x + `int8[1,1,4] w = {0, 0, 0, 1}> { y = com.microsoft.DynamicQuantizeLSTM<hidden_size = 1>(x, w, w) }`, "error: weights int8[1,1,4] with scales"},
		// i = C p_i = 6, f = 1 - i = -5, C = -5*2 + 6*1 = -4, o = p_o C = -4, H = 16
		{"lstm with peepholes and coupled gates", 14, `(float[A,B,C,D] y, float[B,C,D] h, float[B,C,D] c) <float[1,1,1] x = {1}, float[1,4,1] w = {0, 0, 0, 1}, float[1,4,1] r = {0, 0, 0, 0}, float[1,1,1] i = {2}, float[1,3] p = {3, 1, 100}> { y, h, c = LSTM<hidden_size = 1, input_forget = 1, activations = ["Affine", "Affine", "Affine"]>(x, w, r, , , , i, p) }`,
			"float[1,1,1,1] 16; float[1,1,1] 16; float[1,1,1] -4"},
		{"weights of other sizes", 14, `(float[A,B,C,D] y) <` + x + `float[1,2,1] w = {0, 0}, float[1,3,1] r = {0, 0, 1}> { y = GRU<hidden_size = 1>(x, w, r) }`, "error: with weights float[1,2,1]"},
		{"unknown activations", 14, `(float[A,B,C,D] y) <` + x + `float[1,1,1] w = {0}, float[1,1,1] r = {0}> { y = RNN<hidden_size = 1, activations = ["Swoosh"]>(x, w, r) }`, `error: unknown activation "Swoosh"`},
	})
}
