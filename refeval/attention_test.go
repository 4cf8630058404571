package refeval

import (
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// The keys of these models are zero unless said otherwise, so that every query sees the values it
// may see alike.
func TestAttentionOps(t *testing.T) {
	const qkv = `float[1,1,2,1] q = {0, 0}, float[1,1,2,1] k = {0, 0}, float[1,1,2,1] v = {1, 3}`
	checkOps(t, Options{}, []opCase{
		{"all keys", 23, `(float[A,B,C,D] y) <` + qkv + `> { y = Attention(q, k, v) }`, "float[1,1,2,1] 2 2"},
		{"causal", 23, `(float[A,B,C,D] y) <` + qkv + `> { y = Attention<is_causal = 1>(q, k, v) }`, "float[1,1,2,1] 1 2"},
		{"bool mask, a row of which sees nothing", 23, `(float[A,B,C,D] y, float[A,B,C,D] s) <` + qkv + `, bool[2,2] m = {0, 0, 0, 1}> { y, p, o, s = Attention<qk_matmul_output_mode = 3>(q, k, v, m) }`, "float[1,1,2,1] 0 3; float[1,1,2,2] 0 0 0 1"},
		{"short mask", 23, `(float[A,B,C,D] y) <` + qkv + `, float[2,1] m = {0, 5}> { y = Attention(q, k, v, m) }`, "float[1,1,2,1] 1 1"},
		{"three dimensions, a group of query heads", 23, `(float[A,B,C] y) <float[1,1,2] q = {0, 0}, float[1,2,1] k = {0, 0}, float[1,2,1] v = {1, 3}> { y = Attention<q_num_heads = 2, kv_num_heads = 1>(q, k, v) }`, "float[1,1,2] 2 2"},
		{"a cache within", 23, `(float[A,B,C,D] y, float[A,B,C,D] k2, float[A,B,C,D] v2) <` + qkv + `, float[1,1,1,1] a = {0}, float[1,1,1,1] b = {8}> { y, k2, v2 = Attention<is_causal = 1>(q, k, v, , a, b) }`, "float[1,1,2,1] 4.5 4; float[1,1,3,1] 0 0 0; float[1,1,3,1] 8 1 3"},
		{"a cache outside", 24, `(float[A,B,C,D] y) <float[2,1,1,1] q = {0, 0}, float[2,1,2,1] k = {0, 0, 0, 0}, float[2,1,2,1] v = {1, 3, 1, 3}, int64[2] n = {1, 2}> { y = Attention(q, k, v, , , , n) }`, "float[2,1,1,1] 1 2"},
		{"a window", 25, `(float[A,B,C,D] y) <float[1,1,3,1] q = {0, 0, 0}, float[1,1,3,1] k = {0, 0, 0}, float[1,1,3,1] v = {1, 3, 8}> { y = Attention<left_window_size = 1, right_window_size = 0>(q, k, v) }`, "float[1,1,3,1] 1 2 5.5"},
		{"softcap and scores", 23, `(float[A,B,C,D] y, float[A,B,C,D] s, float[A,B,C,D] u) <float[1,1,1,1] q = {2}, float[1,1,1,1] k = {8}, float[1,1,1,1] v = {1}> {
			y, p, o, s = Attention<scale = 1.0, softcap = 2.0>(q, k, v)  y2, p2, o2, u = Attention<scale = 1.0, softcap = 2.0, qk_matmul_output_mode = 1>(q, k, v) }`, "float[1,1,1,1] 1; float[1,1,1,1] 16; float[1,1,1,1] 2"},
		{"heads that do not divide", 23, `(float[A,B,C,D] y) <float[1,3,1,1] q = {0, 0, 0}, float[1,2,1,1] k = {0, 0}, float[1,2,1,1] v = {1, 3}> { y = Attention(q, k, v) }`, "error: queries float[1,3,1,1]"},
		{"turned halves by position", 23, `(float[A,B,C] y) <float[1,1,4] x = {1, 2, 3, 4}, float[2,2] c = {1, 1, 0, 0.5}, float[2,2] s = {0, 0, 1, 2}, int64[1,1] p = {1}> { y = RotaryEmbedding<num_heads = 1>(x, c, s, p) }`, "float[1,1,4] -3 -7 1 6"},
		{"turned pairs, in part", 23, `(float[A,B,C,D] y) <float[1,1,1,4] x = {1, 2, 3, 4}, float[1,1,1] c = {0}, float[1,1,1] s = {1}> { y = RotaryEmbedding<interleaved = 1, rotary_embedding_dim = 2>(x, c, s) }`, "float[1,1,1,4] -2 1 3 4"},
		// the states are 2, 2 + 6 = 8 and the readings times the query
		{"linear attention", 27, `(float[A,B,C] y, float[A,B,C,D] s) <float[1,2,1] q = {1, 10}, float[1,2,1] k = {1, 2}, float[1,2,1] v = {2, 3}> { y, s = LinearAttention<q_num_heads = 1, kv_num_heads = 1, update_rule = "linear">(q, k, v) }`, "float[1,2,1] 2 80; float[1,1,1,1] 8"},
		// v is 0.5 (3 - 4) for a state of 4, that is 4 - 0.5
		{"its delta rule", 27, `(float[A,B,C] y) <float[1,1,1] q = {1}, float[1,1,1] k = {1}, float[1,1,1] v = {3}, float[1,1,1,1] p = {4}, float[1,1,1] d = {0}, float[1,1,1] b = {0.5}> { y, s = LinearAttention<q_num_heads = 1, kv_num_heads = 1>(q, k, v, p, d, b) }`, "float[1,1,1] 3.5"},
		{"a rule without its decay", 27, `(float[A,B,C] y) <float[1,1,1] q = {1}, float[1,1,1] k = {1}, float[1,1,1] v = {3}> { y, s = LinearAttention<q_num_heads = 1, kv_num_heads = 1, update_rule = "gated">(q, k, v) }`, `error: the rule "gated", with decay false`},
		{"scores changed by a graph", 26, `(float[A,B,C,D] y) <` + qkv + `> { y = ai.onnx.preview.FlexAttention<score_mod = g (float[A,B,C,D] s) => (float[A,B,C,D] r) { m = Constant<value_floats = [0.0, -inf]>() r = Add(s, m) }, prob_mod = h (float[A,B,C,D] p) => (float[A,B,C,D] r) { r = Add(p, p) }>(q, k, v) }`, "float[1,1,2,1] 2 2"},
	})
	// 300 x 300 overflows, half of it does not
	checkOps(t, Options{As: numfmt.FP16, Accumulate: Target}, []opCase{
		{"scores in half", 23, `(float[A,B,C,D] y, float[A,B,C,D] s, float[A,B,C,D] u) <float[1,1,1,1] q = {300}, float[1,1,1,1] k = {300}, float[1,1,1,1] v = {1}> {
			y, p, o, s = Attention<scale = 1.0>(q, k, v)  y2, p2, o2, u = Attention<scale = 0.5>(q, k, v) }`, "float[1,1,1,1] NaN; float[1,1,1,1] +Inf; float[1,1,1,1] 44992"},
	})
}
