package kern

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// sample holds numbers of all sizes and kinds.
func sample(n int) []float32 {
	inf := float32(math.Inf(1))
	x := []float32{0, float32(math.Copysign(0, -1)), inf, -inf, float32(math.NaN()), 1e-45, -1e-40, 88.7, 88.8, -87.4, -100, -104.5, 9, 8.99, -9, 4, 3.9, 3.4e38}
	r := rand.New(rand.NewPCG(17, 18))
	for len(x) < n {
		v := (r.Float32() - 0.5) * float32(math.Ldexp(1, r.IntN(30)-20))
		if r.IntN(8) == 0 {
			v = math.Float32frombits(r.Uint32())
		}
		x = append(x, v)
	}
	r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	return x[:n]
}

func TestFunctionsAreAccurate(t *testing.T) {
	e := New(1)
	for name, c := range map[string]struct {
		f    func(dst, x []float32)
		want func(x float64) float64
		ulps float64
		skip func(x float64) bool
	}{
		"exp":     {e.Exp, math.Exp, 1.1, func(x float64) bool { return x < -87 || x > 88.7 }},
		"sigmoid": {e.Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 2.5, func(x float64) bool { return x < -87 }},
		"tanh":    {e.Tanh, math.Tanh, 7, nil},
		"erf":     {e.Erf, math.Erf, 7, nil},
	} {
		x := sample(100000)
		y := make([]float32, len(x))
		c.f(y, x)
		worst := 0.0
		for i, v := range x {
			want := c.want(float64(v))
			if v != v && y[i] == y[i] {
				t.Errorf("%s of NaN is %v", name, y[i])
			}
			if c.skip != nil && c.skip(float64(v)) || v != v || math.Abs(want) < 0x1p-126 {
				continue
			}
			worst = max(worst, math.Abs(float64(y[i])-want)/numfmt.FP32.Ulp(want))
		}
		if !(worst <= c.ulps) {
			t.Errorf("%s is off by %.2f units in the last place", name, worst)
		}
	}
}

func TestFunctionsAtTheirEnds(t *testing.T) {
	inf := float32(math.Inf(1))
	e := New(1)
	x := []float32{inf, -inf, 90, -105, 0, float32(math.Copysign(0, -1)), 20, -20}
	for name, c := range map[string]struct {
		f    func(dst, x []float32)
		want []float32
	}{
		"exp":     {e.Exp, []float32{inf, 0, inf, 0, 1, 1, exp32(20), exp32(-20)}},
		"sigmoid": {e.Sigmoid, []float32{1, 0, 1, 0, 0.5, 0.5, 1, 1 / (1 + exp32(20))}},
		"tanh":    {e.Tanh, []float32{1, -1, 1, -1, 0, x[5], 1, -1}},
		"erf":     {e.Erf, []float32{1, -1, 1, -1, 0, x[5], 1, -1}},
	} {
		y := make([]float32, len(x))
		c.f(y, x)
		if i, ok := sameBits(y, c.want); !ok {
			t.Errorf("%s of %v is %v, want %v", name, x[i], y[i], c.want[i])
		}
	}
}

// TestElementwiseHasTheBitsOfGo compares every level with Go, at lengths around those of vectors.
func TestElementwiseHasTheBitsOfGo(t *testing.T) {
	plain := NewAt(Go, 1)
	engines(t, func(t *testing.T, e *Engine) {
		for _, n := range []int{0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 100, 257, 9001} {
			x := sample(n + 20)[:n]
			y := sample(n + 41)[41:]
			for name, f := range elementwise(y) {
				got, want := nans(n+slack), nans(n+slack)
				f(e, got[:n], x)
				f(plain, want[:n], x)
				if i, ok := sameBits(got, want); !ok {
					t.Fatalf("%s of %d numbers: element %d, of %v, is %v, want %v", name, n, i, x[i], got[i], want[i])
				}
			}
		}
	})
}

func elementwise(y []float32) map[string]func(e *Engine, dst, x []float32) {
	one := []float32{1.7}
	return map[string]func(e *Engine, dst, x []float32){
		"exp":     func(e *Engine, d, x []float32) { e.Exp(d, x) },
		"sigmoid": func(e *Engine, d, x []float32) { e.Sigmoid(d, x) },
		"tanh":    func(e *Engine, d, x []float32) { e.Tanh(d, x) },
		"erf":     func(e *Engine, d, x []float32) { e.Erf(d, x) },
		"add":     func(e *Engine, d, x []float32) { e.Add(d, x, y[:len(d)]) },
		"sub":     func(e *Engine, d, x []float32) { e.Sub(d, x, y[:len(d)]) },
		"mul":     func(e *Engine, d, x []float32) { e.Mul(d, x, y[:len(d)]) },
		"div":     func(e *Engine, d, x []float32) { e.Div(d, x, y[:len(d)]) },
		"scaled":  func(e *Engine, d, x []float32) { e.Mul(d, x, one) },
		"inverse": func(e *Engine, d, x []float32) { e.Div(d, one, x) },
		"plus":    func(e *Engine, d, x []float32) { e.Add(d, one, x) },
		"less":    func(e *Engine, d, x []float32) { e.Sub(d, x, one) },
		"by":      func(e *Engine, d, x []float32) { e.Div(d, x, one) },
		"affine":  func(e *Engine, d, x []float32) { e.LayerNorm(d, x, 1, len(x), &Norm{Scale: y, Bias: x}) },
		"relu":    func(e *Engine, d, x []float32) { e.Clip(d, x, 0, float32(math.Inf(1))) },
		"clip":    func(e *Engine, d, x []float32) { e.Clip(d, x, -1, 3) },
		"fp16":    func(e *Engine, d, x []float32) { copy(d, x); e.Round(numfmt.FP16, d, false) },
		"fp16ftz": func(e *Engine, d, x []float32) { copy(d, x); e.Round(numfmt.FP16, d, true) },
		"bf16":    func(e *Engine, d, x []float32) { copy(d, x); e.Round(numfmt.BF16, d, false) },
		"bf16ftz": func(e *Engine, d, x []float32) { copy(d, x); e.Round(numfmt.BF16, d, true) },
		"softmax": func(e *Engine, d, x []float32) { e.Softmax(d, x, 1, len(x)) },
		"norm":    func(e *Engine, d, x []float32) { e.LayerNorm(d, x, 1, len(x), &Norm{Epsilon: 1e-5}) },
	}
}

func TestReluKeepsNaNAndNegativeZero(t *testing.T) {
	engines(t, func(t *testing.T, e *Engine) {
		x := make([]float32, 64)
		x[3], x[5], x[7] = float32(math.NaN()), float32(math.Copysign(0, -1)), -2
		e.Clip(x, x, 0, float32(math.Inf(1)))
		if x[3] == x[3] || !math.Signbit(float64(x[5])) || x[7] != 0 {
			t.Errorf("got %v, %v, %v", x[3], x[5], x[7])
		}
	})
}

// TestRowsHaveTheBitsOfGo compares the kernels of rows, on numbers for which order matters.
func TestRowsHaveTheBitsOfGo(t *testing.T) {
	plain := NewAt(Go, 1)
	engines(t, func(t *testing.T, e *Engine) {
		r := rand.New(rand.NewPCG(19, 20))
		for _, n := range []int{1, 5, 31, 32, 33, 128, 384, 1000} {
			const rows = 7
			x := randoms(r, rows*n)
			p := &Norm{Scale: randoms(r, n), Bias: randoms(r, n), Epsilon: 1e-5, Mean: make([]float32, rows), Inv: make([]float32, rows)}
			q := &Norm{Scale: p.Scale, Epsilon: 1e-5, RMS: true}
			got, want := nans(3*rows*n+slack), nans(3*rows*n+slack)
			for _, c := range []struct {
				e *Engine
				y []float32
			}{{e, got}, {plain, want}} {
				c.e.Softmax(c.y, x, rows, n)
				c.e.LayerNorm(c.y[rows*n:], x, rows, n, p)
				c.e.LayerNorm(c.y[2*rows*n:], x, rows, n, q)
			}
			if i, ok := sameBits(got, want); !ok {
				t.Fatalf("width %d: element %d is %v, want %v", n, i, got[i], want[i])
			}
			var s float64
			for _, v := range got[:n] {
				s += float64(v)
			}
			if math.Abs(s-1) > 1e-6 {
				t.Errorf("a softmax of %d numbers sums to %v", n, s)
			}
		}
	})
}

func TestSoftmaxOfInfinities(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, x := range [][]float32{{-inf, -inf}, {inf, 0}, {float32(math.NaN()), 0}} {
		y := make([]float32, 2)
		New(1).Softmax(y, x, 1, 2)
		if y[0] == y[0] {
			t.Errorf("the first of %v is %v, want NaN", x, y[0])
		}
	}
}

func TestStats(t *testing.T) {
	engines(t, func(t *testing.T, e *Engine) {
		for _, n := range []int{0, 1, 33, 1000, 5000} {
			x := sample(n + 20)[:n]
			for _, f := range []numfmt.Format{numfmt.Invalid, numfmt.FP16, numfmt.FP32} {
				if got, want := e.Stats(f, x), statsByDefinition(f, x); got != want {
					t.Errorf("%d numbers, %s: %+v, want %+v", n, f, got, want)
				}
			}
		}
	})
}

func statsByDefinition(f numfmt.Format, x []float32) Stats {
	inf := float32(math.Inf(1))
	s := Stats{Min: inf, Max: -inf, Least: inf}
	for _, v := range x {
		a := math.Abs(float64(v))
		switch {
		case v != v:
			s.NaN++
			continue
		case math.IsInf(a, 1):
			s.Inf++
			continue
		case a == 0:
			s.Zero++
		case f != numfmt.Invalid && a < f.MinNormal():
			s.Subnormal++
		}
		s.Min, s.Max = min(s.Min, v+0), max(s.Max, v+0)
		if a != 0 {
			s.Least = min(s.Least, float32(a))
		}
	}
	return s
}
