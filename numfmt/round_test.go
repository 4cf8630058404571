package numfmt

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowRound rounds a float32 with integers alone, from the layout of a format alone: the
// value is m·2^e; the quotient of m by the spacing is rounded by its remainder.
func slowRound(f Format, x float32) float64 {
	l := f.spec().layout
	b := math.Float32bits(x)
	m, e := uint64(b&0x7fffff), int(b>>23&255)
	if e == 255 {
		return slowSpecial(l, float64(x))
	}
	if e == 0 {
		e = 1
	} else {
		m |= 1 << 23
	}
	e -= 127 + 23
	exp := max(e+bits.Len64(m)-1, 1-l.bias)
	shift := exp - l.mant - e // bits of m below the spacing
	q := m
	switch {
	case m == 0 || shift <= 0:
		shift = 0
	case shift > 40:
		q = 0
	default:
		q = m >> shift
		rest, half := m&(1<<shift-1), uint64(1)<<(shift-1)
		if rest > half || rest == half && q&1 == 1 {
			q++
		}
	}
	r := math.Ldexp(float64(q), e+shift)
	if r > math.Ldexp(2-math.Ldexp(float64(1+l.lost), -l.mant), l.emax) {
		return slowSpecial(l, math.Inf(1-2*int(b>>31)))
	}
	if b>>31 == 1 && !(l.unsigned0 && r == 0) {
		return -r
	}
	return r
}

func slowSpecial(l layout, x float64) float64 {
	if l.inf {
		return x
	}
	return math.NaN()
}

// same tells equal values, with the sign of zero, any NaN being as good as another.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// someBits returns random float32 bits, a good part of them near the thresholds.
func someBits(n int) []float32 {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]float32, n)
	for i := range out {
		b := r.Uint32()
		switch i % 4 {
		case 1: // few significant bits: ties
			b &^= 1<<(12+i%10) - 1
		case 2: // about a threshold
			t := thresholds[r.IntN(len(thresholds))]
			b = math.Float32bits(float32(t)) + uint32(r.IntN(5)) - 2 ^ b&signBit32
		case 3: // exponents that the 8-bit and 16-bit formats share
			b = b&0x807fffff | uint32(95+r.IntN(50))<<23
		}
		out[i] = math.Float32frombits(b)
	}
	return out
}

func TestRoundAgainstIntegers(t *testing.T) {
	xs := someBits(300_000)
	got := make([]float32, len(xs))
	for _, f := range all {
		f.RoundFloats(got, xs)
		for i, x := range xs {
			want := slowRound(f, x)
			if r := f.Round(float64(x)); !same(r, want) {
				t.Fatalf("%v.Round(%g) = %g, want %g", f, x, r, want)
			}
			if !same(float64(got[i]), want) {
				t.Fatalf("%v.RoundFloats(%g) = %g, want %g", f, x, got[i], want)
			}
		}
	}
}

// TestRoundFP16Stride takes every 1009th float32 through the split.
func TestRoundFP16Stride(t *testing.T) {
	for b := uint64(0); b < 1<<32; b += 1009 {
		x := []float32{math.Float32frombits(uint32(b))}
		want := FP16.Round(float64(x[0]))
		if FP16.RoundFloats(x, x); !same(float64(x[0]), want) {
			t.Fatalf("bits %#x round to %g, want %g", b, x[0], want)
		}
	}
}

func TestRoundFloat64(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		if got := FP64.Round(x); !same(got, x) {
			t.Fatalf("fp64 rounds %g to %g", x, got)
		}
		if got, want := FP32.Round(x), float64(float32(x)); !same(got, want) {
			t.Fatalf("fp32 rounds %g to %g, want %g", x, got, want)
		}
	})
}

func TestRoundProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(all[1:]).Draw(t, "format")
		x := math.Ldexp(rapid.Float64Range(-2, 2).Draw(t, "x"), rapid.IntRange(f.spec().minExp-30, f.spec().emax+2).Draw(t, "exponent"))
		r, sat := f.Round(x), f.RoundSat(x)
		switch {
		case math.Abs(x) >= f.OverflowAt():
			if math.Abs(sat) != f.Max() || math.Signbit(sat) != math.Signbit(x) || math.Abs(r) <= f.Max() {
				t.Fatalf("%v: %g rounds to %g, saturates to %g", f, x, r, sat)
			}
			return
		case !same(r, sat):
			t.Fatalf("%v: %g rounds to %g, saturates to %g", f, x, r, sat)
		case math.Abs(r-x) > f.Ulp(x)/2:
			t.Fatalf("%v: %g rounds to %g, further than half a spacing", f, x, r)
		case !same(f.Round(r), r) || !same(f.Decode(f.Encode(r)), r):
			t.Fatalf("%v: %g is no fixed point", f, r)
		case r != 0 && !same(f.Round(-x), -r):
			t.Fatalf("%v: %g and its negative round apart", f, x)
		}
		if y := x + math.Abs(x)*rapid.Float64Range(0, 1).Draw(t, "step"); f.RoundSat(y) < sat {
			t.Fatalf("%v: rounding %g and %g changes their order", f, x, y)
		}
	})
}

func TestRoundSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, f := range all {
		if got := f.RoundSat(-inf); got != -f.Max() {
			t.Errorf("%v: -Inf saturates to %v", f, got)
		}
		if !math.IsNaN(f.Round(nan)) || !math.IsNaN(f.RoundSat(nan)) {
			t.Errorf("%v: NaN is lost", f)
		}
		if got := f.Round(-inf); f.HasInf() && got != -inf || !f.HasInf() && !math.IsNaN(got) {
			t.Errorf("%v: -Inf rounds to %v", f, got)
		}
		negative0 := f.Round(math.Copysign(0, -1))
		if got, want := math.Signbit(negative0), f != E4M3FNUZ && f != E5M2FNUZ; got != want || negative0 != 0 {
			t.Errorf("%v: -0 rounds to %v, sign %v", f, negative0, got)
		}
	}
}

// TestRoundAll: elements are rounded one by one.
func TestRoundAll(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	x := []float64{0, math.Copysign(0, -1), 1, -65520, 3e38, 3.5e38, -1e300, 1e-46, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()}
	for range 1000 {
		x = append(x, math.Ldexp(random.Float64()-0.5, random.IntN(300)-150))
	}
	for _, f := range all {
		y := slices.Clone(x)
		f.RoundAll(y)
		for i, v := range x {
			if want := f.Round(v); math.Float64bits(y[i]) != math.Float64bits(want) && !(math.IsNaN(y[i]) && math.IsNaN(want)) {
				t.Errorf("%v: %g becomes %g, want %g", f, v, y[i], want)
			}
		}
	}
}

// TestKnownNumbers holds the figures that the rules and their pages quote.
func TestKnownNumbers(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		f       Format
		x, want float64
	}{
		{FP16, 65519.99, 65504}, {FP16, 65520, inf}, {FP16, 2.98e-8, 0}, {FP16, p2(-25), 0}, {FP16, 2.99e-8, p2(-24)},
		{FP16, 2049, 2048}, {FP16, -1e9, -inf}, {BF16, -math.MaxFloat32, -inf}, {BF16, 257, 256},
		{FP16, math.Exp(11.09), 65504}, {FP16, math.Exp(11.091), inf}, {FP16, math.Exp(-17.33), 0}, {FP16, math.Exp(-17.32), p2(-24)},
		{FP16, 255.96 * 255.96, 65504}, {FP16, 255.97 * 255.97, inf}, {FP16, 1.72e-4 * 1.72e-4, 0}, {FP16, 1.73e-4 * 1.73e-4, p2(-24)},
		{FP16, 1 / 1.526e-5, inf}, {FP16, 1 / 1.527e-5, 65472}, {FP16, 40.31 * 40.31 * 40.31, 65504}, {FP16, 40.32 * 40.32 * 40.32, inf},
		{FP16, 0.9999, 1}, {FP16, 1 - 1e-6, 1}, {FP16, 1 - p2(-12), 1}, {FP16, 0.9997, 1 - p2(-11)},
		{FP16, 1e-6, 17 * p2(-24)}, {FP16, 1e-7, 2 * p2(-24)}, {FP16, 1e-5, 168 * p2(-24)}, {FP16, -65504 - 16, -inf},
		{E4M3FN, 464, 448}, {E4M3FN, 448, 448}, {E4M3FN, 465, math.NaN()}, {E5M2, 61439, 57344}, {E5M2, 61440, inf},
		{E4M3FNUZ, 247.9, 240}, {E4M3FNUZ, 248, math.NaN()}, {E5M2FNUZ, 61440, math.NaN()}, {E4M3FN, p2(-10), 0}, {E4M3FNUZ, -p2(-11), 0},
	}
	for _, tt := range tests {
		if got := tt.f.Round(tt.x); !same(got, tt.want) {
			t.Errorf("%v.Round(%.9g) = %.9g, want %.9g", tt.f, tt.x, got, tt.want)
		}
	}
	for f, want := range map[Format]float64{FP16: 2048, BF16: 256, E4M3FN: 16, E5M2: 8} {
		sum := 0.0
		for next := f.Round(sum + 1); next != sum; next = f.Round(sum + 1) {
			sum = next
		}
		if sum != want {
			t.Errorf("%v: a running sum of ones stops at %v, want %v", f, sum, want)
		}
	}
}

func TestFlushFloats(t *testing.T) {
	for _, f := range all {
		xs := someBits(20_000)
		got := append([]float32(nil), xs...)
		f.FlushFloats(got)
		for i, x := range xs {
			want := float64(x)
			if math.Abs(want) < f.MinNormal() {
				want = math.Copysign(0, want)
				if f == E4M3FNUZ || f == E5M2FNUZ {
					want = 0
				}
			}
			if !same(float64(got[i]), want) {
				t.Fatalf("%v flushes %g to %g", f, x, got[i])
			}
		}
	}
}

func TestUlp(t *testing.T) {
	for _, f := range narrowFormats {
		for code := uint32(0); code < f.spec().maxCode; code++ {
			if got, want := f.Ulp(f.Decode(code)), f.Decode(code+1)-f.Decode(code); code > 0 && got != want {
				t.Fatalf("%v: spacing at code %#x is %g, want %g", f, code, got, want)
			}
		}
		if f.Ulp(0) != f.MinSubnormal() || f.Ulp(-1) != 2*f.Unit() || !math.IsNaN(f.Ulp(math.Inf(1))) {
			t.Errorf("%v: spacing at 0, -1 or Inf", f)
		}
	}
}

func TestRoundFloatsLengths(t *testing.T) {
	dst := []float32{0.1, 0.1, 0.1}
	FP16.RoundFloats(dst, []float32{2049})
	BF16.RoundFloats(dst[1:2], []float32{257, 1})
	if dst[0] != 2048 || dst[1] != 256 || dst[2] != 0.1 {
		t.Errorf("got %v", dst)
	}
}
