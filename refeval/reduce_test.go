package refeval

import (
	"testing"

	"github.com/amplint/amplint/numfmt"
)

func TestReduceOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"sum along the first axis", 13, `(float[A,B] y) <float[2,2] x = {1, 2, 3, 4}, int64[1] a = {0}> { y = ReduceSum(x, a) }`, "float[1,2] 4 6"},
		{"sum by attribute", 11, `(float[A] y) <float[2,2] x = {1, 2, 3, 4}> { y = ReduceSum<axes = [-1], keepdims = 0>(x) }`, "float[2] 3 7"},
		{"sum of all", 13, `(int32 y) <int32[2,2] x = {1, 2, 3, 4}> { y = ReduceSum<keepdims = 0>(x) }`, "int32 10"},
		{"sum over no axes", 13, `(float[A] y) <float[2] x = {1, 2}, int64[0] a = {}> { y = ReduceSum<noop_with_empty_axes = 1>(x, a) }`, "float[2] 1 2"},
		{"squares over no axes", 18, `(float[A] y) <float[2] x = {1, 2}, int64[0] a = {}> { y = ReduceSumSquare<noop_with_empty_axes = 1>(x, a) }`, "float[2] 1 4"},
		{"mean of outer and inner axes", 18, `(float[A] y) <float[2,2,2] x = {1, 2, 3, 4, 5, 6, 7, 8}, int64[2] a = {0, 2}> { y = ReduceMean<keepdims = 0>(x, a) }`, "float[2] 3.5 5.5"},
		{"mean of integers", 18, `(int32[A] y) <int32[2] x = {1, 2}> { y = ReduceMean(x) }`, "int32[1] 1"},
		{"norms", 18, `(float[A] y, float[A] z) <float[2] x = {3, -4}> { y = ReduceL1(x) z = ReduceL2(x) }`, "float[1] 7; float[1] 5"},
		{"logarithms", 18, `(float[A] y, float[A] z) <float[2] x = {1000, 1000}> { y = ReduceLogSum(x) z = ReduceLogSumExp(x) }`, "float[1] 7.6009; float[1] 1000.7"},
		{"product", 18, `(double[A] y) <double[3] x = {1, 2, 3}> { y = ReduceProd(x) }`, "double[1] 6"},
		{"nothing", 20, `(float[A] y, float[A] z, bool[A] v, float[A] w) <float[0] x = {}, bool[0] b = {}> { y = ReduceMax(x) z = ReduceSum(x) v = ReduceMin(b) w = ReduceProd(x) }`, "float[1] -Inf; float[1] 0; bool[1] 1; float[1] 1"},
		{"largest", 18, `(float[A] y, int8[A] z, float[A] n) <float[3] x = {1, 3, 2}, int8[2] i = {-1, -2}, float[2] q = {1, nan}> { y = ReduceMax(x) z = ReduceMin(i) n = ReduceMax(q) }`, "float[1] 3; int8[1] -2; float[1] NaN"},
		{"place of the largest", 13, `(int64[A] y, int64[A] z) <float[4] x = {1, 3, 2, 3}> { y = ArgMax(x) z = ArgMax<select_last_index = 1>(x) }`, "int64[1] 1; int64[1] 3"},
		{"place of the least along the first axis", 13, `(int64[A] y) <float[2,2] x = {1, 3, 2, 0}> { y = ArgMin<axis = 0, keepdims = 0>(x) }`, "int64[2] 0 1"},
		{"running sums", 14, `(float[A] y, float[A] z, float[A] r) <float[3] x = {1, 2, 3}, int64 a = {0}> { y = CumSum(x, a) z = CumSum<exclusive = 1>(x, a) r = CumSum<reverse = 1>(x, a) }`, "float[3] 1 3 6; float[3] 0 1 3; float[3] 6 5 3"},
		{"running products along the first axis", 26, `(float[A,B] y) <float[2,2] x = {1, 2, 3, 4}, int64 a = {0}> { y = CumProd<reverse = 1, exclusive = 1>(x, a) }`, "float[2,2] 3 4 1 1"},
	})
}

// TestLowReduce holds that every partial result is rounded: 2048 + 1 is 2048 in float16, and 300
// squared is infinite.
func TestLowReduce(t *testing.T) {
	ops := []opCase{
		{"sum", 18, `(float[A] y) <float[3] x = {2048, 1, 1}> { y = ReduceSum(x) }`, "float[1] 2048"},
		{"mean", 18, `(float[A] y) <float[2] x = {60000, 60000}> { y = ReduceMean(x) }`, "float[1] +Inf"},
		{"squares", 18, `(float[A] y) <float[1] x = {300}> { y = ReduceL2(x) }`, "float[1] +Inf"},
		{"exponents", 18, `(float[A] y) <float[1] x = {12}> { y = ReduceLogSumExp(x) }`, "float[1] +Inf"},
		{"running sum", 18, `(float[A] y) <float[3] x = {2048, 1, 1}, int64 a = {0}> { y = CumSum(x, a) }`, "float[3] 2048 2048 2048"},
		{"product", 18, `(float[A] y) <float[3] x = {300, 300, 0.001}> { y = ReduceProd(x) }`, "float[1] +Inf"},
	}
	checkOps(t, Options{As: numfmt.FP16, Accumulate: Target}, ops)
	for i, want := range []string{"float[1] 2050", "float[1] 60000", "float[1] 300", "float[1] 12", "float[3] 2048 2048 2050", "float[1] 90.062"} {
		ops[i].want = want
	}
	checkOps(t, Options{As: numfmt.FP16}, ops)
}

// TestManyRows covers sums that run side by side, more than one block of them.
func TestManyRows(t *testing.T) {
	a := accum{format: numfmt.FP16}
	x := make([]float32, 3*100)
	for i := range x {
		x[i] = pick(i%3 == 0, float32(2048), 1)
	}
	for i, s := range sums(a, x, 3) {
		if s != 2048 {
			t.Fatalf("sum %d is %v", i, s)
		}
	}
	for i, s := range sums(accum{}, x, 3) {
		if s != 2050 {
			t.Fatalf("sum %d in float32 is %v", i, s)
		}
	}
}

func TestSoftmaxOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"softmax", 13, `(float[A,B] y) <float[2,2] x = {1000, 1000, 0, 0.6931472}> { y = Softmax(x) }`, "float[2,2] 0.5 0.5 0.33333 0.66667"},
		{"softmax along the first axis", 13, `(float[A,B] y) <float[2,2] x = {0, 1, 0, 1}> { y = Softmax<axis = 0>(x) }`, "float[2,2] 0.5 0.5 0.5 0.5"},
		{"softmax of opset 1 over all axes behind", 1, `(float[A,B,C] y) <float[1,2,2] x = {0, 0, 0, 0}> { y = Softmax(x) }`, "float[1,2,2] 0.25 0.25 0.25 0.25"},
		{"its logarithm", 13, `(double[A] y) <double[2] x = {0, 0}> { y = LogSoftmax(x) }`, "double[2] -0.69315 -0.69315"},
		{"a row that is masked", 13, `(float[A] y) <float[2] x = {-inf, -inf}> { y = Softmax(x) }`, "float[2] NaN NaN"},
		{"hardmax", 13, `(float[A] y) <float[4] x = {1, 3, 3, 2}> { y = Hardmax(x) }`, "float[4] 0 1 0 0"},
	})
	checkOps(t, Options{As: numfmt.FP16, Accumulate: Target}, []opCase{
		{"a sum that stops growing at 2048", 13, `(float y) <float z = {0}, int64[1] n = {4096}> { x = Expand(z, n) s = Softmax(x) i = Constant<value_int = 0>() y = Gather(s, i) }`, "float 0.00048828"},
	})
}
