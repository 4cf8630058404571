package numfmt

import (
	"encoding/binary"
	"math"
	"testing"
)

func TestCodesRoundTrip(t *testing.T) {
	for _, f := range narrowFormats {
		s := f.spec()
		for code := uint32(0); code < 1<<s.bits; code++ {
			v := f.Decode(code)
			if math.IsNaN(v) {
				if got := f.Encode(v); got&^s.signBit != s.nanCode&^s.signBit || !math.IsNaN(f.Decode(got)) {
					t.Fatalf("%v: NaN encodes as %#x", f, got)
				}
				continue
			}
			if got := f.Encode(v); got != code {
				t.Fatalf("%v: code %#x is %g, which encodes as %#x", f, code, v, got)
			}
			if got := f.EncodeSat(v); got != code && !math.IsInf(v, 0) {
				t.Fatalf("%v: code %#x is %g, which encodes saturated as %#x", f, code, v, got)
			}
			if !same(f.Round(v), v) {
				t.Fatalf("%v: %g of code %#x is no fixed point of Round", f, v, code)
			}
		}
	}
}

// TestDecodeByDefinition computes sign · significand · 2^exponent for every code.
func TestDecodeByDefinition(t *testing.T) {
	for _, f := range narrowFormats {
		l := f.spec().layout
		for code := uint32(0); code < 1<<l.bits; code++ {
			sign := 1 - 2*float64(code>>(l.bits-1))
			e := int(code >> l.mant & (1<<(l.bits-1-l.mant) - 1))
			m := float64(code&(1<<l.mant-1)) * math.Ldexp(1, -l.mant)
			want := sign * math.Ldexp(1+m, e-l.bias)
			if e == 0 {
				want = sign * math.Ldexp(m, 1-l.bias)
			}
			if got := f.Decode(code); math.Abs(want) <= f.Max() && !same(got, want) && !(l.unsigned0 && code == 0x80) {
				t.Fatalf("%v: code %#x is %g, want %g", f, code, got, want)
			}
		}
	}
}

func TestSpecialCodes(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	tests := []struct {
		f         Format
		x         float64
		code, sat uint32
	}{
		{FP16, inf, 0x7c00, 0x7bff}, {FP16, nan, 0x7e00, 0x7e00}, {FP16, -65520, 0xfc00, 0xfbff}, {FP16, math.Copysign(0, -1), 0x8000, 0x8000},
		{BF16, -inf, 0xff80, 0xff7f}, {BF16, nan, 0x7fc0, 0x7fc0}, {BF16, 1, 0x3f80, 0x3f80}, {FP32, 1, 0x3f800000, 0x3f800000}, {FP32, inf, 0x7f800000, 0x7f7fffff},
		{E4M3FN, inf, 0x7f, 0x7e}, {E4M3FN, -inf, 0xff, 0xfe}, {E4M3FN, nan, 0x7f, 0x7f}, {E4M3FN, 464, 0x7e, 0x7e}, {E4M3FN, -1e9, 0xff, 0xfe}, {E4M3FN, -p2(-10), 0x80, 0x80},
		{E5M2, inf, 0x7c, 0x7b}, {E5M2, nan, 0x7e, 0x7e}, {E5M2, -61440, 0xfc, 0xfb}, {E5M2, 1, 0x3c, 0x3c},
		{E4M3FNUZ, inf, 0x80, 0x7f}, {E4M3FNUZ, -inf, 0x80, 0xff}, {E4M3FNUZ, nan, 0x80, 0x80}, {E4M3FNUZ, -p2(-11), 0, 0}, {E4M3FNUZ, 1, 0x40, 0x40}, {E4M3FNUZ, -248, 0x80, 0xff},
		{E5M2FNUZ, -inf, 0x80, 0xff}, {E5M2FNUZ, nan, 0x80, 0x80}, {E5M2FNUZ, 57344, 0x7f, 0x7f}, {E5M2FNUZ, -1, 0xc0, 0xc0},
	}
	for _, tt := range tests {
		if got, sat := tt.f.Encode(tt.x), tt.f.EncodeSat(tt.x); got != tt.code || sat != tt.sat {
			t.Errorf("%v: %g encodes as %#x, saturated %#x; want %#x, %#x", tt.f, tt.x, got, sat, tt.code, tt.sat)
		}
	}
	for code := uint32(0x7d); code < 0x80; code++ {
		if !math.IsNaN(E5M2.Decode(code)) || !math.IsNaN(E5M2.Decode(code|0x80)) {
			t.Errorf("fp8e5m2: code %#x is a number", code)
		}
	}
}

func TestAppendEncoded(t *testing.T) {
	xs := someBits(50_000)
	for _, f := range all {
		for _, saturate := range []bool{false, true} {
			raw := f.AppendEncoded([]byte{1, 2, 3}, xs, saturate)
			if len(raw) != 3+len(xs)*f.Bits()/8 || raw[0] != 1 || raw[2] != 3 {
				t.Fatalf("%v: %d bytes, starting % x", f, len(raw), raw[:3])
			}
			got := make([]float32, len(xs)+1)
			if n := f.DecodeFloats(got, raw[3:]); n != len(xs) {
				t.Fatalf("%v: %d elements decoded, want %d", f, n, len(xs))
			}
			for i, x := range xs {
				want := f.Round(float64(x))
				if saturate {
					want = f.RoundSat(float64(x))
				}
				if !same(float64(got[i]), float64(float32(want))) {
					t.Fatalf("%v: %g comes back as %g, want %g (saturate %v)", f, x, got[i], want, saturate)
				}
			}
		}
	}
}

// TestAppendMatchesEncode compares the bits, those of NaN and of zero too.
func TestAppendMatchesEncode(t *testing.T) {
	xs := append(someBits(20_000), 0, float32(math.Copysign(0, -1)), float32(math.NaN()))
	for _, f := range narrowFormats {
		raw, sat := f.AppendEncoded(nil, xs, false), f.AppendEncoded(nil, xs, true)
		for i, x := range xs {
			if got, want := element(f, raw, i), f.Encode(float64(x)); got != want {
				t.Fatalf("%v: %g is written as %#x, want %#x", f, x, got, want)
			}
			if got, want := element(f, sat, i), f.EncodeSat(float64(x)); got != want {
				t.Fatalf("%v: %g is written saturated as %#x, want %#x", f, x, got, want)
			}
		}
	}
}

func element(f Format, raw []byte, i int) uint32 {
	if f.Bits() == 8 {
		return uint32(raw[i])
	}
	return uint32(binary.LittleEndian.Uint16(raw[2*i:]))
}

func TestDecodeFloatsBounds(t *testing.T) {
	for _, f := range all {
		raw := f.AppendEncoded(nil, []float32{1, 2, 3}, false)
		dst := make([]float32, 5)
		if n := f.DecodeFloats(dst, raw[:len(raw)-1]); f.Bits() > 8 && n != 2 {
			t.Errorf("%v: %d elements of a cut tensor, want 2", f, n)
		}
		if n := f.DecodeFloats(dst[:1], raw); n != 1 || dst[0] != 1 || dst[3] != 0 {
			t.Errorf("%v: %d elements, %v", f, n, dst)
		}
	}
	var wide [8]byte
	binary.LittleEndian.PutUint64(wide[:], math.Float64bits(1e300))
	got := []float32{0}
	if FP64.DecodeFloats(got, wide[:]); !math.IsInf(float64(got[0]), 1) {
		t.Errorf("1e300 decodes as %v", got[0])
	}
}
