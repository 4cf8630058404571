package refeval

import (
	"math/cmplx"
	"testing"
)

func TestSignalOps(t *testing.T) {
	checkOps(t, Options{}, []opCase{
		{"transform", 17, `(float[A,B,C] y) <float[1,4,1] x = {1, 2, 3, 4}> { y = DFT(x) }`, "float[1,4,2] 10 0 -2 2 -2 0 -2 -2"},
		{"half of it, and back", 20, `(float[A,B,C] z) <float[1,3,1] x = {1, 2, 6}, int64 n = {3}> { y = DFT<onesided = 1>(x) z = DFT<onesided = 1, inverse = 1>(y, n) }`, "float[1,3,1] 1 2 6"},
		{"padded, along another axis", 20, `(float[A,B,C] y) <float[1,2,1] x = {1, 2}, int64 n = {4}, int64 a = {1}> { y = DFT(x, n, a) }`, "float[1,4,2] 3 0 1 -2 -1 0 1 2"},
		{"the axis of the parts", 20, `(float[A,B,C] y) <float[1,2,1] x = {1, 2}, int64 a = {-1}> { y = DFT(x, , a) }`, "error: axis 2 holds the real and imaginary parts"},
		{"stretches", 17, `(float[A,B,C,D] y) <float[1,4,1] x = {1, 2, 3, 4}, int64 s = {2}, float[2] w = {1, 0.5}> { y = STFT(x, s, w) }`, "float[1,2,2,2] 2 0 0 0 5 0 1 0"},
		{"windows", 17, `(float[N] y, double[N] z, float[N] w) <int64 n = {4}, int64 m = {3}, float h = {100}> { y = HannWindow(n) z = HammingWindow<periodic = 0, output_datatype = 11>(m) b = BlackmanWindow(n) c = Mul(b, h) w = Round(c) }`, "float[4] 0 0.5 1 0.5; double[3] 0.086957 1 0.086957; float[4] 0 34 100 34"},
		{"bands", 17, `(float[A,B] y) <int64 b = {2}, int64 n = {8}, int64 r = {16}, float lo = {0}, float hi = {8}> { y = MelWeightMatrix(b, n, r, lo, hi) }`, "float[5,2] 0 0 1 0 0 1 0 0 0 0"},
	})
}

// TestFourier holds transforms of all kinds of lengths against the sum that defines them.
func TestFourier(t *testing.T) {
	for n := 1; n < 40; n++ {
		x := make([]complex128, n)
		for i := range x {
			x[i] = complex(float64(i*i%7), float64(i%3))
		}
		y := append([]complex128{}, x...)
		fourier(y, false)
		for k := range y {
			var want complex128
			for i, v := range x {
				want += v * angle(2*i*k%(2*n), n)
			}
			if cmplx.Abs(y[k]-want) > 1e-11*float64(n) {
				t.Fatalf("%d points: %v at %d, want %v", n, y[k], k, want)
			}
		}
		fourier(y, true)
		for k := range y {
			if cmplx.Abs(y[k]-x[k]) > 1e-12*float64(n) {
				t.Fatalf("%d points and back: %v at %d, want %v", n, y[k], k, x[k])
			}
		}
	}
}
