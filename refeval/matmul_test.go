package refeval

import (
	"testing"

	"github.com/amplint/amplint/numfmt"
)

func TestMatmulOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"gemm", 13, `(float[A,B] y) <float[1,2] a = {1, 2}, float[2,2] b = {1, 2, 3, 4}, float[2] c = {1, 1}> { y = Gemm<alpha = 2.0, beta = 10.0>(a, b, c) }`, "float[1,2] 24 30"},
		{"gemm of turned matrices", 13, `(float[A,B] y) <float[2,1] a = {1, 2}, float[2,2] b = {1, 2, 3, 4}> { y = Gemm<transA = 1, transB = 1>(a, b) }`, "float[1,2] 5 11"},
		{"gemm of integers", 13, `(int32[A,B] y) <int32[1,2] a = {1, 2}, int32[2,2] b = {1, 2, 3, 4}, int32[1,1] c = {1}> { y = Gemm<transB = 1>(a, b, c) }`, "int32[1,2] 6 12"},
		{"gemm of others", 13, `(float[A,B] y) <float[1,2] a = {1, 2}, float[1,2] b = {1, 2}> { y = Gemm(a, b) }`, "error: do not multiply"},
		{"integers less zero points by row and column", 10, `(int32[A,B] y) <uint8[2,1] a = {3, 3}, uint8[1,2] b = {5, 5}, uint8[2] z = {1, 2}, uint8[2] v = {0, 4}> { y = MatMulInteger(a, b, z, v) }`, "int32[2,2] 10 2 5 1"},
		{"determinants", 11, `(float[A] y) <float[2,2,2] x = {1, 2, 3, 4, 0, 1, 1, 0}> { y = Det(x) }`, "float[2] -2 -1"},
		{"sum of products: matrices", 12, `(float[A,B] y) <float[1,2] a = {1, 2}, float[2,2] b = {1, 2, 3, 4}> { y = Einsum<equation = "ij, jk -> ik">(a, b) }`, "float[1,2] 7 10"},
		{"implicit", 12, `(float[A,B] y) <float[2,2] a = {1, 2, 3, 4}> { y = Einsum<equation = "ba">(a) }`, "float[2,2] 1 3 2 4"},
		{"trace and diagonal", 12, `(float y, float[A] z) <float[2,2] a = {1, 2, 3, 4}> { y = Einsum<equation = "ii->">(a) z = Einsum<equation = "ii->i">(a) }`, "float 5; float[2] 1 4"},
		{"dots that broadcast", 12, `(float[A,B,C] y) <float[2,1,2] a = {1, 2, 3, 4}, float[1,2,1] b = {1, 10}> { y = Einsum<equation = "...ij,...jk->...ik">(a, b) }`, "float[2,1,1] 21 43"},
		{"three operands", 12, `(float y) <float[2] a = {1, 2}, float[2,2] b = {1, 2, 3, 4}, float[2] c = {1, 10}> { y = Einsum<equation = "i,ij,j->">(a, b, c) }`, "float 107"},
		{"labels of one operand alone", 12, `(double[A] y) <double[2,2] a = {1, 2, 3, 4}, double[3] b = {1, 2, 3}> { y = Einsum<equation = "ij,k->j">(a, b) }`, "double[2] 24 36"},
		{"labels that clash", 12, `(float[A] y) <float[2] a = {1, 2}, float[3] b = {1, 2, 3}> { y = Einsum<equation = "i,i->i">(a, b) }`, "error: the label i stands for 2 and 3"},
	})
	checkOps(t, Options{As: numfmt.FP16, Accumulate: Target}, []opCase{
		{"low gemm", 13, `(float[A,B] y) <float[1,3] a = {2048, 1, 1}, float[3,1] b = {1, 1, 1}> { y = Gemm<alpha = 2.0>(a, b) }`, "float[1,1] 4096"},
		{"low sum of products", 12, `(float y) <float[3] a = {2048, 1, 1}, float[3] b = {1, 1, 1}> { y = Einsum<equation = "i,i->">(a, b) }`, "float 2048"},
	})
}
