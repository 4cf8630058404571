package numfmt

import (
	"math"
	"strings"
	"testing"
)

// all lists the valid formats.
var all = []Format{FP64, FP32, FP16, BF16, E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ}

// narrowFormats lists those narrower than float32.
var narrowFormats = all[2:]

func p2(e int) float64 { return math.Ldexp(1, e) }

func TestLimits(t *testing.T) {
	tests := []struct {
		f                                                Format
		bits                                             int
		max, overflowAt, minNormal, minSub, unit, intEnd float64
		inf                                              bool
	}{
		{FP64, 64, math.MaxFloat64, math.Inf(1), p2(-1022), p2(-1074), p2(-53), p2(53), true},
		{FP32, 32, math.MaxFloat32, p2(128) - p2(103), p2(-126), p2(-149), p2(-24), p2(24), true},
		{FP16, 16, 65504, 65520, p2(-14), p2(-24), p2(-11), 2048, true},
		{BF16, 16, p2(128) - p2(120), p2(128) - p2(119), p2(-126), p2(-133), p2(-8), 256, true},
		{E4M3FN, 8, 448, math.Nextafter(464, 500), p2(-6), p2(-9), p2(-4), 16, false},
		{E4M3FNUZ, 8, 240, 248, p2(-7), p2(-10), p2(-4), 16, false},
		{E5M2, 8, 57344, 61440, p2(-14), p2(-16), p2(-3), 8, true},
		{E5M2FNUZ, 8, 57344, 61440, p2(-15), p2(-17), p2(-3), 8, false},
	}
	for _, tt := range tests {
		f := tt.f
		got := []float64{float64(f.Bits()), f.Max(), f.OverflowAt(), f.MinNormal(), f.MinSubnormal(), f.ZeroAt(), f.Unit(), f.ExactInt()}
		want := []float64{float64(tt.bits), tt.max, tt.overflowAt, tt.minNormal, tt.minSub, tt.minSub / 2, tt.unit, tt.intEnd}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%v: number %d is %v, want %v", f, i, got[i], want[i])
			}
		}
		if f.HasInf() != tt.inf {
			t.Errorf("%v: HasInf is %v", f, f.HasInf())
		}
	}
}

// TestLimitsHold ties each limit to what Round does on both sides of it.
func TestLimitsHold(t *testing.T) {
	for _, f := range all[1:] {
		below := math.Nextafter(f.OverflowAt(), 0)
		if got := f.Round(below); got != f.Max() {
			t.Errorf("%v: %v rounds to %v, want Max", f, below, got)
		}
		over := f.Round(f.OverflowAt())
		if f.HasInf() && !math.IsInf(over, 1) || !f.HasInf() && !math.IsNaN(over) {
			t.Errorf("%v: OverflowAt rounds to %v", f, over)
		}
		if got := f.Round(f.ZeroAt()); got != 0 {
			t.Errorf("%v: ZeroAt rounds to %v", f, got)
		}
		if got := f.Round(math.Nextafter(f.ZeroAt(), 1)); got != f.MinSubnormal() {
			t.Errorf("%v: a magnitude above ZeroAt rounds to %v", f, got)
		}
		if got := f.Round(f.normalAt()); got != f.MinNormal() {
			t.Errorf("%v: normalAt rounds to %v", f, got)
		}
		if got := f.Round(math.Nextafter(f.normalAt(), 0)); got != f.MinNormal()-f.MinSubnormal() {
			t.Errorf("%v: a magnitude below normalAt rounds to %v", f, got)
		}
		n := f.ExactInt()
		if f.Round(n-1) != n-1 || f.Round(n) != n || f.Round(n+1) == n+1 {
			t.Errorf("%v: integers are not exact just up to %v", f, n)
		}
		if f.Round(1+f.Unit()) != 1 || f.Round(1+2*f.Unit()) == 1 {
			t.Errorf("%v: unit roundoff is not %v", f, f.Unit())
		}
	}
}

func TestParse(t *testing.T) {
	names := map[string]Format{
		"fp16": FP16, "float16": FP16, "half": FP16, "FP16": FP16, "bf16": BF16, "bfloat16": BF16,
		"fp32": FP32, "float32": FP32, "float": FP32, "fp64": FP64, "double": FP64, "float64": FP64,
		"fp8e4m3fn": E4M3FN, "float8e4m3fn": E4M3FN, "FLOAT8E4M3FN": E4M3FN, "float8_e4m3fn": E4M3FN,
		"fp8e5m2": E5M2, "fp8e4m3fnuz": E4M3FNUZ, "float8_e5m2fnuz": E5M2FNUZ,
	}
	for name, want := range names {
		if got, err := Parse(name); got != want || err != nil {
			t.Errorf("Parse(%q) = %v, %v", name, got, err)
		}
	}
	for _, f := range all {
		if got, err := Parse(f.String()); got != f || err != nil {
			t.Errorf("Parse(%q) = %v, %v", f.String(), got, err)
		}
	}
	for _, name := range []string{"", "invalid", "fp8", "int8"} {
		f, err := Parse(name)
		if f != Invalid || err == nil || !strings.Contains(err.Error(), "fp64, fp32, fp16, bf16, fp8e4m3fn, fp8e4m3fnuz, fp8e5m2, fp8e5m2fnuz") {
			t.Errorf("Parse(%q) = %v, %v", name, f, err)
		}
	}
}

func TestNoFormat(t *testing.T) {
	for _, f := range []Format{Invalid, formatCount, 255} {
		x := []float32{1, 0}
		f.FlushFloats(x)
		if f.String() != "invalid" || f.Bits() != 0 || x[0] != 1 {
			t.Errorf("format %d passes for %v", uint8(f), f)
		}
		f.RoundFloats(x, x)
		if !math.IsNaN(f.Round(1)) || !math.IsNaN(f.RoundSat(1)) || !math.IsNaN(f.Decode(0)) || !math.IsNaN(f.Ulp(1)) || x[0] == x[0] || x[1] == x[1] {
			t.Errorf("format %d rounds to a number", uint8(f))
		}
		if f.Encode(1) != 0 || len(f.AppendEncoded(nil, x, false)) != 0 || f.DecodeFloats(x, []byte{1}) != 0 {
			t.Errorf("format %d encodes something", uint8(f))
		}
		var h Histogram
		h.AddRaw(f, []byte{1, 2, 3, 4})
		if h.Count() != 0 {
			t.Errorf("format %d: raw bytes were counted", uint8(f))
		}
	}
}
