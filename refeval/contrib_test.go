package refeval

import (
	"testing"

	"github.com/amplint/amplint/numfmt"
)

func TestContribOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"gelu of a sum", 17, `(float[A] y, float[A] z) <float[2] x = {1, 2}, float[2] b = {-1, -1}> { y = com.microsoft.BiasGelu(x, b) z = com.microsoft.Gelu(x) }`, "float[2] 0 0.84134; float[2] 0.84134 1.9545"},
		{"its approximations", 17, `(float[A] y, float[A] z) <float[1] x = {2}, float[1] b = {-1}> { y = com.microsoft.FastGelu(x, b) z = com.microsoft.QuickGelu<alpha = 0.0>(x) }`, "float[1] 0.84119; float[1] 1"},
		{"bias and softmax", 17, `(float[A,B] y) <float[1,2] x = {1, 2}, float[1,2] b = {1, 0}> { y = com.microsoft.BiasSoftmax<axis = 1, is_inner_broadcast = 0>(x, b) }`, "float[1,2] 0.5 0.5"},
		{"bias and a second input", 17, `(float[A] y) <float[2] x = {1, 2}, float[2] b = {10, 20}, float[2] s = {100, 200}> { y = com.microsoft.BiasAdd(x, b, s) }`, "float[2] 111 222"},
		{"one half gates the other", 17, `(float[A] y) <float[4] x = {2, 3, 1, 0}, float[4] b = {0, 0, 0, 0}> { y = com.microsoft.BiasSplitGelu(x, b) }`, "float[2] 1.6827 0"},
		{"finite or not", 17, `(bool y, bool z) <float[2] x = {1, inf}> { y = com.microsoft.IsAllFinite(x) z = com.microsoft.IsAllFinite<isnan_only = 1>(x) }`, "bool 0; bool 1"},
		{"one more dimension", 17, `(float[A,B] y) <float[2] x = {1, 2}, int32 a = {-1}> { y = com.microsoft.ExpandDims(x, a) }`, "float[2,1] 1 2"},
		{"norm without centre", 17, `(float[A] y, float[B] i) <float[2] x = {3, 4}, float[2] s = {1, 2}> { y, i = SimplifiedLayerNormalization<epsilon = 0.0>(x, s) }`, "float[2] 0.84853 2.2627; float[1] 0.28284"},
		{"norm of a sum", 17, `(float[A,B,C] y, float[A,B,C] s) <float[1,1,2] x = {1, 2}, float[1,1,2] k = {0, 1}, float[2] g = {1, 1}, float[2] b = {5, 5}, float[2] a = {1, 1}> { y, m, i, s = com.microsoft.SkipLayerNormalization<epsilon = 0.0>(x, k, g, b, a) }`, "float[1,1,2] 4 6; float[1,1,2] 2 4"},
		{"norm of a sum without centre", 17, `(float[A,B,C] y) <float[1,1,2] x = {1, 2}, float[1,1,2] k = {2, 2}, float[2] g = {1, 2}> { y = com.microsoft.SkipSimplifiedLayerNormalization<epsilon = 0.0>(x, k, g) }`, "float[1,1,2] 0.84853 2.2627"},
		{"embeddings", 17, `(float[A,B,C] y, int32[A] m, float[A,B,C] s) <int32[1,2] i = {1, 0}, int32[1,2] t = {0, 1}, float[2,2] w = {0, 1, 2, 3}, float[2,2] p = {0, 0, 10, 20}, float[2,2] e = {0, 0, 0, 100}, float[2] g = {1, 1}, float[2] b = {0, 0}, int32[1,2] k = {1, 0}> { y, m, s = com.microsoft.EmbedLayerNormalization<epsilon = 0.0>(i, t, w, p, e, g, b, k) }`, "float[1,2,2] -1 1 -1 1; int32[1] 1; float[1,2,2] 2 3 10 121"},
		{"group norm, channels last", 17, `(float[A,B,C,D] y) <float[1,1,1,4] x = {1, 3, 4, 8}, float[4] g = {1, 1, 2, 2}, float[4] b = {0, 0, 0, 1}> { y = com.microsoft.GroupNorm<groups = 2, activation = 0, epsilon = 0.0>(x, g, b) }`, "float[1,1,1,4] -1 1 -2 3"},
		{"group norm of a sum", 17, `(float[A,B,C,D] y, float[A,B,C,D] s) <float[1,2,1,1] x = {1, 3}, float[1,2,1,1] k = {0, 2}, float[2] g = {1, 1}, float[2] b = {1, 1}> { y, s = com.microsoft.SkipGroupNorm<groups = 1, activation = 1, channels_last = 0, epsilon = 0.0>(x, g, b, k) }`, "float[1,2,1,1] 0 1.7616; float[1,2,1,1] 1 5"},
	})
}

func TestContribProducts(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"turned and scaled", 17, `(float[A,B] y) <float[2,1] a = {1, 2}, float[2,2] b = {1, 2, 3, 4}> { y = com.microsoft.FusedMatMul<transA = 1, transB = 1, alpha = 2.0>(a, b) }`, "float[1,2] 10 22"},
		{"turned stacks", 17, `(float[A,B,C] y) <float[2,1,1] a = {1, 2}, float[1,1,1] b = {10}> { y = com.microsoft.FusedMatMul<transBatchA = 1>(a, b) }`, "float[1,2,1] 10 20"},
		{"gemm with its activation", 17, `(float[A,B] y) <float[1,1] a = {2}, float[1,2] b = {1, -1}> { y = com.microsoft.FusedGemm<activation = "LeakyRelu", activation_alpha = 0.5>(a, b) }`, "float[1,2] 2 -1"},
		{"conv with a second input and its activation", 17, `(float[A,B,C] y) <float[1,1,2] x = {1, 2}, float[1,1,1] w = {1}, float[1] b = {1}, float[1,1,2] z = {-5, 5}> { y = com.microsoft.FusedConv<activation = "Clip", activation_params = [0.0, 6.0]>(x, w, b, z) }`, "float[1,1,2] 0 6"},
		{"conv, channels last", 17, `(float[A,B,C,D] y) <float[1,1,2,2] x = {1, 2, 3, 4}, float[1,2,1,1] w = {1, 10}> { y = com.microsoft.NhwcConv(x, w) }`, "float[1,1,2,1] 21 43"},
		{"inverses", 17, `(float[A,B] y) <float[2,2] x = {0, 2, 4, 0}> { y = com.microsoft.Inverse(x) }`, "float[2,2] 0 0.25 0.5 0"},
		{"no inverse", 17, `(float[A,B] y) <float[2,2] x = {1, 2, 2, 4}> { y = com.microsoft.Inverse(x) }`, "error: a matrix has no inverse"},
		// nibbles 9, 8, 7, 10 less 8, scaled by 1 and 2
		{"four bits", 17, `(float[A,B] y) <float[1,4] x = {1, 10, 100, 1000}, uint8[1,2,1] b = {137, 167}, float[2] s = {1, 2}> { y = com.microsoft.MatMulNBits<K = 4, N = 1, bits = 4, block_size = 2>(x, b, s) }`, "float[1,1] 3801"},
		{"zero points and a bias", 17, `(float[A,B] y) <float[1,4] x = {1, 10, 100, 1000}, uint8[1,2,1] b = {137, 167}, float[2] s = {1, 2}, uint8[1] z = {121}, float[1] c = {0.5}> { y = com.microsoft.MatMulNBits<K = 4, N = 1, bits = 4, block_size = 2>(x, b, s, z, , c) }`, "float[1,1] 5990.5"},
	})
	checkOps(t, Options{As: numfmt.FP16, Accumulate: Target}, []opCase{
		{"the product overflows before it is scaled", 17, `(float[A,B] y) <float[1,1] a = {300}, float[1,1] b = {300}> { y = com.microsoft.FusedMatMul<alpha = 0.1>(a, b) }`, "float[1,1] +Inf"},
	})
}

// The scores of these models are zero, so that every query sees alike what it may see.
func TestContribAttention(t *testing.T) {
	const w = `float[1,3] w = {0, 0, 1}`
	const mha = `float[1,2,1] q = {0, 0}, float[1,2,1] k = {0, 0}, float[1,2,1] v = {1, 3}`
	const gqa = `float[1,2,2] q = {0, 0, 0, 0}, float[1,2,1] k = {0, 0}, float[1,2,1] v = {1, 3}, int32[1] n = {1}, int32 t = {2}`
	checkOps(t, Options{}, []opCase{
		{"shared keys, packed beside the queries", 17, `(float[A,B,C] y) <float[1,2,32] q = {-1.0, 0.4, -0.4, 1.0, 0.2, -0.6, 0.8, 0.0, -0.8, 0.6, -0.2, -1.0, 0.4, -0.4, 1.0, 0.2, -0.6, 0.8, 0.0, -0.8, 0.6, -0.2, -1.0, 0.4, -0.4, 1.0, 0.2, -0.6, 0.8, 0.0, -0.8, 0.6, -0.2, -1.0, 0.4, -0.4, 1.0, 0.2, -0.6, 0.8, 0.0, -0.8, 0.6, -0.2, -1.0, 0.4, -0.4, 1.0, 0.2, -0.6, 0.8, 0.0, -0.8, 0.6, -0.2, -1.0, 0.4, -0.4, 1.0, 0.2, -0.6, 0.8, 0.0, -0.8}, int32[1] len = {1}, int32 tot = {2}> { y, k, v = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1, scale = 0.3>(q, , , , , len, tot) }`, "float[1,2,16] -0.4 1 0.2 -0.6 0.8 0 -0.8 0.6 -0.4 1 0.2 -0.6 0.8 0 -0.8 0.6 -0.094198 0.46485 0.5058 -0.2942 0.26485 0.3058 -0.4942 0.064847 0.085081 0.15111 0.68508 -0.11492 -0.048892 0.48508 -0.31492 -0.24889"},
		{"queries, keys and values of one product", 17, `(float[A,B,C] y) <float[1,2,1] x = {1, 3}, ` + w + `> { y = com.microsoft.Attention<num_heads = 1>(x, w) }`, "float[1,2,1] 2 2"},
		{"with a past and a look back only", 17, `(float[A,B,C] y, float[A,B,C,D,E] p) <float[1,2,1] x = {1, 3}, ` + w + `, float[2,1,1,1,1] o = {0, 8}> { y, p = com.microsoft.Attention<num_heads = 1, unidirectional = 1>(x, w, , , o) }`, "float[1,2,1] 4.5 4; float[2,1,1,3,1] 0 0 0 8 1 3"},
		{"lengths", 17, `(float[A,B,C] y) <float[1,2,1] x = {1, 3}, ` + w + `, int32[1] m = {1}> { y = com.microsoft.Attention<num_heads = 1>(x, w, , m) }`, "float[1,2,1] 1 1"},
		{"heads apart", 17, `(float[A,B,C] y) <` + mha + `> { y = com.microsoft.MultiHeadAttention<num_heads = 1>(q, k, v) }`, "float[1,2,1] 2 2"},
		{"a padding mask and a bias", 17, `(float[A,B,C] y, float[A,B,C] z) <` + mha + `, int32[1,2] m = {0, 1}, float[1,1,2,2] b = {0, -1000, -1000, 0}> { y = com.microsoft.MultiHeadAttention<num_heads = 1>(q, k, v, , m) z = com.microsoft.MultiHeadAttention<num_heads = 1>(q, k, v, , , b) }`, "float[1,2,1] 3 3; float[1,2,1] 1 3"},
		{"packed", 17, `(float[A,B,C] y) <float[1,2,1,3,1] q = {0, 0, 1, 0, 0, 3}> { y = com.microsoft.MultiHeadAttention<num_heads = 1>(q) }`, "float[1,2,1] 2 2"},
		{"a group of queries", 17, `(float[A,B,C] y, float[A,B,C,D] k2, float[A,B,C,D] v2) <` + gqa + `> { y, k2, v2 = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1>(q, k, v, , , n, t) }`, "float[1,2,2] 1 1 2 2; float[1,1,2,1] 0 0; float[1,1,2,1] 1 3"},
		{"one more into a cache", 17, `(float[A,B,C] y, float[A,B,C,D] v2) <float[1,1,1] q = {0}, float[1,1,4,1] p = {0, 0, 0, 0}, float[1,1,4,1] o = {4, 6, 0, 0}, float[1,1,1] k = {0}, float[1,1,1] v = {2}, int32[1] n = {2}, int32 t = {3}> { y, k2, v2 = com.microsoft.GroupQueryAttention<num_heads = 1, kv_num_heads = 1>(q, k, v, p, o, n, t) }`, "float[1,1,1] 4; float[1,1,4,1] 4 6 2 0"},
		{"a window", 17, `(float[A,B,C] y) <` + gqa + `> { y, k2, v2 = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1, local_window_size = 1>(q, k, v, , , n, t) }`, "float[1,2,2] 1 1 3 3"},
		{"a sink takes its part", 17, `(float[A,B,C] y) <` + gqa + `> { y, k2, v2 = com.microsoft.GroupQueryAttention<num_heads = 2, kv_num_heads = 1, smooth_softmax = 1>(q, k, v, , , n, t) }`, "float[1,2,2] 0.5 0.5 1.3333 1.3333"},
		{"turned from a first position on", 17, `(float[A,B,C] y) <float[1,2,2] x = {1, 2, 1, 2}, int64[1] p = {1}, float[3,1] c = {9, 1, 0}, float[3,1] s = {9, 0, 1}> { y = com.microsoft.RotaryEmbedding(x, p, c, s) }`, "float[1,2,2] 1 2 -2 1"},
	})
}
