package refeval

import (
	"testing"

	"github.com/amplint/amplint/numfmt"
)

const nine = `float[1,1,3,3] x = {1, 2, 3, 4, 5, 6, 7, 8, 9}`

func TestPoolOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"average without the border", 11, `(float[A,B,C,D] y) <` + nine + `> { y = AveragePool<kernel_shape = [2, 2], pads = [1, 1, 0, 0]>(x) }`, "float[1,1,3,3] 1 1.5 2.5 2.5 3 4 5.5 6 7"},
		{"average with the border", 11, `(float[A,B,C,D] y) <` + nine + `> { y = AveragePool<kernel_shape = [2, 2], pads = [1, 1, 0, 0], count_include_pad = 1>(x) }`, "float[1,1,3,3] 0.25 0.75 1.25 1.25 3 4 2.75 6 7"},
		{"average of steps that stick out", 11, `(float[A,B,C] y) <float[1,1,3] x = {1, 2, 3}> { y = AveragePool<kernel_shape = [2], strides = [2], ceil_mode = 1, count_include_pad = 1>(x) }`, "float[1,1,2] 1.5 3"},
		{"the last step may not begin past the image", 11, `(float[A,B,C] y) <float[1,1,2] x = {1, 2}> { y = AveragePool<kernel_shape = [1], strides = [2], ceil_mode = 1, pads = [0, 1]>(x) }`, "float[1,1,1] 1"},
		{"dilated average", 19, `(float[A,B,C] y) <float[1,1,4] x = {1, 2, 3, 4}> { y = AveragePool<kernel_shape = [2], dilations = [2]>(x) }`, "float[1,1,2] 2 3"},
		{"largest, and where", 12, `(float[A,B,C,D] y, int64[A,B,C,D] i) <` + nine + `> { y, i = MaxPool<kernel_shape = [2, 2], strides = [2, 2], pads = [1, 1, 0, 0]>(x) }`, "float[1,1,2,2] 1 3 7 9; int64[1,1,2,2] 0 2 6 8"},
		{"where, by columns", 12, `(float[A,B,C,D] y, int64[A,B,C,D] i) <float[1,1,2,3] x = {1, 9, 3, 4, 5, 6}> { y, i = MaxPool<kernel_shape = [2, 3], storage_order = 1>(x) }`, "float[1,1,1,1] 9; int64[1,1,1,1] 2"},
		{"largest of integers", 12, `(int8[A,B,C] y) <int8[1,1,3] x = {-3, -1, -2}> { y = MaxPool<kernel_shape = [2]>(x) }`, "int8[1,1,2] -1 -1"},
		{"largest at the same size", 11, `(float[A,B,C] y) <float[1,1,3] x = {-1, -2, -3}> { y = MaxPool<kernel_shape = [2], auto_pad = "SAME_LOWER">(x) }`, "float[1,1,3] -1 -1 -2"},
		{"put back", 11, `(float[A,B,C] y, float[A,B,C] z) <float[1,1,2] x = {7, 8}, int64[1,1,2] i = {1, 2}, int64[3] s = {1, 1, 6}> { y = MaxUnpool<kernel_shape = [2], strides = [2]>(x, i) z = MaxUnpool<kernel_shape = [2], strides = [2]>(x, i, s) }`, "float[1,1,4] 0 7 8 0; float[1,1,6] 0 7 8 0 0 0"},
		{"norms of windows", 18, `(float[A,B,C] y, float[A,B,C] z) <float[1,1,3] x = {3, -4, 0}> { y = LpPool<kernel_shape = [2]>(x) z = LpPool<kernel_shape = [3], p = 1>(x) }`, "float[1,1,2] 5 4; float[1,1,1] 7"},
		{"of opset 1, whose order is a float", 1, `(float[A,B,C,D] y) <float[1,1,1,2] x = {3, -4}> { y = GlobalLpPool<p = 1.0>(x) }`, "float[1,1,1,1] 7"},
		{"global", 1, `(float[A,B,C,D] y, float[A,B,C,D] z) <` + nine + `> { y = GlobalAveragePool(x) z = GlobalMaxPool(x) }`, "float[1,1,1,1] 5; float[1,1,1,1] 9"},
		{"regions", 1, `(float[A,B,C,D] y) <` + nine + `, float[1,5] r = {0, 0, 0, 2, 1}> { y = MaxRoiPool<pooled_shape = [1, 2]>(x, r) }`, "float[1,1,1,2] 5 6"},
	})
	checkOps(t, Options{As: numfmt.FP16, Accumulate: Target}, []opCase{
		{"low sums", 11, `(float[A,B,C] y, float[A,B,C] z) <float[1,1,2] x = {60000, 60000}> { y = AveragePool<kernel_shape = [2]>(x) z = GlobalAveragePool(x) }`, "float[1,1,1] +Inf; float[1,1,1] +Inf"},
	})
}
