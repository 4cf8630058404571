package refeval

import "testing"

func TestQuantizeOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"ties to even, then the ends of the type", 10, `(uint8[N] y) <float[5] x = {1, 3, 5, -9, 999}, float s = {2}, uint8 z = {1}> { y = QuantizeLinear(x, s, z) }`, "uint8[5] 1 3 3 0 255"},
		{"without a zero point uint8", 13, `(uint8[N] y) <float[2] x = {-1, 4}, float s = {2}> { y = QuantizeLinear(x, s) }`, "uint8[2] 0 2"},
		{"a scale for each slice", 13, `(int8[A,B] y, float[A,B] w) <float[2,2] x = {1, 2, 3, 4}, float[2] s = {1, 0.5}, int8[2] z = {0, 1}> { y = QuantizeLinear<axis = 0>(x, s, z) w = DequantizeLinear<axis = -2>(y, s, z) }`, "int8[2,2] 1 2 7 9; float[2,2] 1 2 3 4"},
		{"a scale for each block", 21, `(int4[A,B] y, float[A,B] w) <float[2,3] x = {1, 2, 3, 4, 99, -99}, float[2,2] s = {1, 0.5, 2, 4}> { y = QuantizeLinear<block_size = 2, output_dtype = 22>(x, s) w = DequantizeLinear<block_size = 2>(y, s) }`, "int4[2,3] 1 2 6 2 7 -8; float[2,3] 1 2 3 4 14 -32"},
		{"to float8, saturated or not", 19, `(float8e4m3fn[N] y, float8e5m2[N] w) <float[2] x = {1.05, 1e6}, float s = {1}> { z = Constant<value = float8e4m3fn {0}>() v = Constant<value = float8e5m2 {0}>() y = QuantizeLinear(x, s, z) w = QuantizeLinear<saturate = 0>(x, s, v) }`, "float8e4m3fn[2] 1 448; float8e5m2[2] 1 +Inf"},
		{"to float4", 23, `(float4e2m1[N] y) <float[4] x = {0.3, 5, -5.1, 100}, float s = {1}> { y = QuantizeLinear<output_dtype = 23>(x, s) }`, "float4e2m1[4] 0.5 4 -6 6"},
		{"to float6", 28, `(float6e3m2[N] y, float6e2m3[N] w) <float[3] x = {27, -0.1, 100}, float s = {1}> { y = QuantizeLinear<output_dtype = 28>(x, s) w = QuantizeLinear<output_dtype = 27>(x, s) }`, "float6e3m2[3] 28 -0.125 28; float6e2m3[3] 7.5 -0.125 7.5"},
		{"halves", 23, `(float16[N] y) <int8[2] x = {3, -100}, float s = {0.1}> { y = DequantizeLinear<output_dtype = 10>(x, s) }`, "float16[2] 0.30005 -10"},
		{"scales of another number", 13, `(uint8[N] y) <float[2] x = {1, 2}, float[3] s = {1, 1, 1}> { y = QuantizeLinear<axis = 0>(x, s) }`, "error: scales float[3] along axis 0 of float[2]"},
		{"blocks that do not fit", 21, `(uint8[N] y) <float[4] x = {1, 2, 3, 4}, float[3] s = {1, 1, 1}> { y = QuantizeLinear<axis = 0, block_size = 2>(x, s) }`, "error: for blocks of 2 along axis 0"},
		{"by the range of the data", 11, `(uint8[N] y, float s, uint8 z) <float[3] x = {-1, 0, 1.55}> { y, s, z = DynamicQuantizeLinear(x) }`, "uint8[3] 0 100 255; float 0.01; uint8 100"},
		{"of zeros", 11, `(uint8[N] y, float s, uint8 z) <float[2] x = {0, 0}> { y, s, z = DynamicQuantizeLinear(x) }`, "uint8[2] 0 0; float 0.0039216; uint8 0"},
		{"products", 10, `(uint8[A,B] y) <uint8[1,2] a = {3, 5}, float s = {0.5}, uint8 z = {1}, uint8[2,2] b = {2, 4, 6, 8}, float u = {1}> { y = QLinearMatMul(a, s, z, b, s, z, u, z) }`, "uint8[1,2] 7 9"},
		{"products of float8", 21, `(float8e4m3fn[A,B] y) <float8e4m3fn[1,2] a = {64, 72}, float s = {0.5}, float8e4m3fn z = {0}, float8e4m3fn one = {56}, float8e4m3fn[2,1] b = {60, 48}, float u = {0.25}> { y = QLinearMatMul(a, s, one, b, s, z, u, z) }`, "float8e4m3fn[1,1] 3"},
		{"products with a scale for each column", 21, `(int8[A,B] y) <int8[1,1] a = {4}, float s = {1}, int8 z = {0}, int8[1,2] b = {1, 2}, float[2] bs = {1, 10}, int8[2] bz = {0, 1}> { y = QLinearMatMul(a, s, z, b, bs, bz, s, z) }`, "int8[1,2] 4 40"},
		{"convolution with a bias", 10, `(int8[A,B,C] y) <int8[1,1,3] x = {1, 2, 3}, float s = {0.5}, int8 z = {1}, int8[2,1,1] w = {2, 3}, float[2] ws = {1, 2}, int8[2] wz = {0, 1}, float one = {1}, int32[2] b = {4, 1}> { y = QLinearConv(x, s, z, w, ws, wz, one, z, b) }`, "int8[1,2,3] 3 4 5 2 4 6"},
	})
}

const qx = `float s = {0.5}, uint8 z = {2}, uint8[2] x = {4, 6}`

func TestContribQuantizeOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"sum and product", 17, `(uint8[N] y, uint8[N] w) <` + qx + `> { y = com.microsoft.QLinearAdd(x, s, z, x, s, z, s, z) w = com.microsoft.QLinearMul(x, s, z, x, s, z, s, z) }`, "uint8[2] 6 10; uint8[2] 4 10"},
		{"one by one", 17, `(uint8[N] y, uint8[N] w) <` + qx + `, float f = {0.00390625}, uint8 n = {0}> { y = com.microsoft.QLinearSigmoid(x, s, z, f, n) w = com.microsoft.QLinearLeakyRelu<alpha = 0.5>(n, s, z, s, z) }`, "uint8[2] 187 225; uint8 1"},
		{"joined", 17, `(uint8[N] y) <` + qx + `, float u = {1}> { y = com.microsoft.QLinearConcat<axis = 0>(u, z, x, s, z, x, u, z) }`, "uint8[4] 3 4 4 6"},
		{"chosen", 17, `(uint8[N] y) <` + qx + `, float u = {1}, bool[2] c = {1, 0}> { y = com.microsoft.QLinearWhere(c, x, s, z, x, u, z, u, z) }`, "uint8[2] 3 6"},
		{"mean", 17, `(uint8[N] y) <` + qx + `> { y = com.microsoft.QLinearReduceMean<axes = [0], keepdims = 1>(x, s, z, s, z) }`, "uint8[1] 5"},
		{"pools with the channels last", 17, `(uint8[A,B,C,D] y, uint8[A,B,C,D] w) <float s = {0.5}, uint8 z = {2}, uint8[1,1,2,2] x = {4, 8, 6, 12}> { y = com.microsoft.QLinearGlobalAveragePool<channels_last = 1>(x, s, z, s, z) w = com.microsoft.QLinearAveragePool<channels_last = 1, kernel_shape = [1, 2]>(x, s, z, s, z) }`, "uint8[1,1,1,2] 5 10; uint8[1,1,1,2] 5 10"},
		{"softmax", 17, `(uint8[N] y) <` + qx + `, float f = {0.00390625}, uint8 n = {0}> { y = com.microsoft.QLinearSoftmax<axis = -1, opset = 13>(x, s, z, f, n) }`, "uint8[2] 69 187"},
		{"matrices", 17, `(float[A,B] y, uint8[A,B] w) <float s = {0.5}, uint8 z = {1}, uint8[1,2] a = {3, 5}, uint8[1,2] b = {2, 4}, int32[1] c = {4}> { y = com.microsoft.QGemm<transB = 1, alpha = 2.0>(a, s, z, b, s, z, c) w = com.microsoft.QGemm<transB = 1>(a, s, z, b, s, z, c, s, z) }`, "float[1,1] 9; uint8[1,1] 10"},
		{"to real numbers", 17, `(float[A,B] y, float[A,B] w) <float s = {0.5}, uint8 z = {1}, uint8[1,2] a = {3, 5}, uint8[2,1] b = {2, 4}, float[1] c = {1}, float[1,2] x = {1, 2}> { y = com.microsoft.MatMulIntegerToFloat(a, b, s, s, z, z, c) w = com.microsoft.DynamicQuantizeMatMul(x, b, s, z, c) }`, "float[1,1] 4.5; float[1,1] 4.498"},
	})
}
