package refeval

import (
	"context"
	"testing"
)

func TestArithmeticOps(t *testing.T) {
	const pairs = `float[8] a = {5.3, -5.3, 5.3, -5.3, 0.0, 6.0, -6.0, 7.5}, float[8] b = {2.0, 2.0, -2.0, -2.0, -3.0, 3.0, 3.0, -0.5}`
	checkOps(t, Options{}, []opCase{
		{"remainders with the sign of the divisor", 13, `(float[N] y, double[N] z) <` + pairs + `> { y = Mod(a, b) c = Cast<to = 11>(a) d = Cast<to = 11>(b) z = Mod(c, d) }`, "float[8] 1.3 0.7 -0.7 -1.3 0 0 0 0; double[8] 1.3 0.7 -0.7 -1.3 0 0 0 0"},
		{"remainders with the sign of the dividend", 13, `(float[N] y, float16[N] z) <` + pairs + `> { y = Mod<fmod = 1>(a, b) c = Cast<to = 10>(a) d = Cast<to = 10>(b) z = Mod<fmod = 1>(c, d) }`, "float[8] 1.3 -1.3 1.3 -1.3 0 0 0 0; float16[8] 1.3008 -1.3008 1.3008 -1.3008 0 0 0 0"},
		{"remainders of integers", 13, `(int32[N] y, int8[N] z, uint8[N] w) <int32[6] a = {5, -5, 5, -5, 0, -2147483648}, int32[6] b = {2, 2, -2, -2, -3, -1}, int8[3] c = {-128, -128, 127}, int8[3] d = {-1, 3, -100}, uint8[2] e = {250, 3}, uint8[2] f = {7, 200}> { y = Mod(a, b) z = Mod(c, d) w = Mod(e, f) }`, "int32[6] 1 1 -1 -1 0 0; int8[3] 0 1 -73; uint8[2] 5 3"},
		{"spelt integers", 13, `(int64[N] a, uint8[N] b, uint64[N] c, int8[N] d, bool[N] e) <string[4] s = {"3", " -7", "12", "3.7"}, string[1] u = {"18446744073709551615"}, string[2] v = {"200", "-129"}, string[2] w = {"-7", "0"}> { a = Cast<to = 7>(s) b = Cast<to = 2>(s) c = Cast<to = 13>(u) d = Cast<to = 3>(v) e = Cast<to = 9>(w) }`, "int64[4] 3 -7 12 3; uint8[4] 3 249 12 3; uint64[1] 1.8447e+19; int8[2] -56 127; bool[2] 1 0"},
		{"spelt numbers", 13, `(float[N] a, double[N] b, float16[N] c) <string[4] s = {"1.5", "-INF", "NaN", "1e3"}> { a = Cast<to = 1>(s) b = Cast<to = 11>(s) c = Cast<to = 10>(s) }`, "float[4] 1.5 -Inf NaN 1000; double[4] 1.5 -Inf NaN 1000; float16[4] 1.5 -Inf NaN 1000"},
		{"no number", 13, `(int64[N] a) <string[1] s = {"three"}> { a = Cast<to = 7>(s) }`, `error: the string "three" is no number`},
		{"a type by its name", 1, `(float16[N] y) <float[2] x = {0.1, 70000}> { y = Cast<to = "FLOAT16">(x) }`, "float16[2] 0.099976 +Inf"},
		{"few elements", 13, `(float[A,B] y, float[A,B] z) { y = Constant<sparse_value = sparse_tensor(float[2,3]) v = float[2] {5, 7} int64[2] {1, 5}>() z = Constant<sparse_value = sparse_tensor(float[2,3]) v = float[2] {5, 7} int64[2,2] {0, 2, 1, 0}>() }`, "float[2,3] 0 5 0 0 0 7; float[2,3] 0 0 5 7 0 0"},
	})
}

// TestOldScan: in opset 8 a Scan runs for each member of a batch, on as many steps as its sequence is long.
func TestOldScan(t *testing.T) {
	text := func(lens, way string) string {
		return `(float[A,B] f, float[A,B,C] y, float[A,B,C] z) <int64[2] lens = {2, 3}, float[2,2] s = {0, 100, 200, 300}, float[2,3,2] x = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>
		{ f, y, z = Scan<num_scan_inputs = 1, directions = [` + way + `], body = b (float[2] a, float[2] e) => (float[2] o, float[2] p, float[2] q) { o = Add(a, e) p = Identity(o) q = Mul(e, e) }>(` + lens + `, s, x) }`
	}
	checkOps(t, Options{}, []opCase{
		{"two lengths", 8, text("lens", "0"), "float[2,2] 4 106 227 330; float[2,3,2] 1 102 4 106 0 0 207 308 216 318 227 330; float[2,3,2] 1 4 9 16 0 0 49 64 81 100 121 144"},
		{"two lengths, backwards", 8, text("lens", "1"), "float[2,2] 4 106 227 330; float[2,3,2] 3 104 4 106 0 0 211 312 220 322 227 330; float[2,3,2] 9 16 1 4 0 0 121 144 81 100 49 64"},
		{"to the end, backwards", 8, text("", "1"), "float[2,2] 9 112 227 330; float[2,3,2] 5 106 8 110 9 112 211 312 220 322 227 330; float[2,3,2] 25 36 9 16 1 4 121 144 81 100 49 64"},
	})
}

// TestOldLabels: the first LabelEncoder numbers its classes.
func TestOldLabels(t *testing.T) {
	m := parse(t, `<ir_version: 3, opset_import: ["" : 7, "ai.onnx.ml" : 1]>
m (string[3] x, int64[3] k) => (int64[N] y, string[N] z) { y = ai.onnx.ml.LabelEncoder<classes_strings = ["b", "a"], default_int64 = 9>(x) z = ai.onnx.ml.LabelEncoder<classes_strings = ["b", "a"]>(k) }`)
	r, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	words := &Tensor{Elem: 8, Dims: []int{3}, S: []string{"a", "b", "c"}}
	out, err := r.Run(context.Background(), map[string]*Value{"x": TensorValue(words), "k": TensorValue(IntTensor([]int{3}, 1, 2, -1))})
	if err != nil {
		t.Fatal(err)
	}
	if got := show(out["y"].Tensor) + "; " + show(out["z"].Tensor); got != "int64[3] 1 0 9; string[3] a _Unused _Unused" {
		t.Error(got)
	}
}
