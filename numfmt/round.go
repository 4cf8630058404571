package numfmt

import "math"

// Round returns x rounded to the format. Overflow gives ±Inf, or NaN where the format has
// no infinity; NaN stays NaN; a FNUZ format has no negative zero. So do ml_dtypes and the
// ONNX reference; onnxruntime 1.32 differs without saturation: in E4M3FN it makes 448 of 480
// to 496, in E5M2 NaN of 61440 to 65536.
func (f Format) Round(x float64) float64 {
	if f == FP32 { // what every bound is rounded to: processors have an instruction for it
		return float64(float32(x))
	}
	s := f.spec()
	return s.round(x, s.overflow)
}

// RoundAll rounds every element as [Format.Round] does.
func (f Format) RoundAll(x []float64) {
	if f == FP32 {
		for i, v := range x {
			x[i] = float64(float32(v))
		}
		return
	}
	s := f.spec()
	over := s.overflow
	for i, v := range x {
		x[i] = s.round(v, over)
	}
}

// RoundSat is Round with ±Max in place of overflow, infinities included: what ONNX's Cast
// does for float8 with saturate = 1. NaN stays NaN.
func (f Format) RoundSat(x float64) float64 {
	s := f.spec()
	return s.round(x, s.max)
}

// round rounds x and gives overflow the value over. Adding a power of two that is 2^52
// spacings of the format lets the float64 addition do the rounding.
func (s *spec) round(x, over float64) float64 {
	a := math.Abs(x)
	if !(a < s.overflowAt) {
		if math.IsNaN(x) || s.bits == 0 {
			return math.NaN()
		}
		return math.Copysign(over, x)
	}
	if s.mant < 52 {
		magic := math.Float64frombits(uint64(s.exponent(a)-s.mant+52+1023) << 52)
		a = (a + magic) - magic
	}
	if s.unsigned0 && a == 0 {
		return 0
	}
	return math.Copysign(a, x)
}

// exponent returns the binary exponent of the magnitude a, at least that of minNormal.
func (s *spec) exponent(a float64) int {
	return max(int(math.Float64bits(a)>>52)-1023, s.minExp)
}

// Ulp returns the spacing of the format's values in the binade of x: MinSubnormal at and
// near 0, the spacing of a format without upper bound past Max, NaN for Inf and NaN.
func (f Format) Ulp(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) || f.Bits() == 0 {
		return math.NaN()
	}
	s := f.spec()
	return math.Ldexp(1, s.exponent(math.Abs(x))-s.mant)
}

// RoundFloats sets dst[i] to src[i] rounded as by Round, for the shorter of both lengths.
// dst may be src.
func (f Format) RoundFloats(dst, src []float32) {
	n := min(len(dst), len(src))
	dst, src = dst[:n], src[:n]
	switch f {
	case FP64, FP32:
		copy(dst, src)
	case FP16:
		roundFP16(dst, src)
	case BF16:
		roundBF16(dst, src)
	default:
		roundNarrow(f.spec(), dst, src)
	}
}

func roundFP16(dst, src []float32) {
	n := roundHalves(dst, src)
	roundFP16Slowly(dst[n:], src[n:])
}

// roundFP16Slowly cuts 24 bits to 11 by Veltkamp's split, which rounds to nearest even wherever
// the result is normal: 1.5 times the speed of the integer form. The conversion keeps the
// product from being fused with the difference.
func roundFP16Slowly(dst, src []float32) {
	s := &specs[FP16]
	low, span := s.minNormal32, s.overflowAt32-s.minNormal32
	for i, x := range src {
		if math.Float32bits(x)&0x7fffffff-low >= span {
			dst[i] = s.round32(x)
			continue
		}
		t := float32(x * (1<<13 + 1))
		dst[i] = t - float32(t-x)
	}
}

// roundBF16 adds half a spacing, less one if the result would be odd, and cuts: the carry
// runs into the exponent as it should, up to Inf.
func roundBF16(dst, src []float32) {
	for i, x := range src {
		b := math.Float32bits(x)
		if b&0x7fffffff > 0x7f800000 {
			dst[i] = x
			continue
		}
		dst[i] = math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
	}
}

// roundNarrow repeats the normal case of round32, with its constants in registers.
func roundNarrow(s *spec, dst, src []float32) {
	low, span, shift := s.minNormal32, s.overflowAt32-s.minNormal32, s.shift&31
	half, mask := uint32(1)<<shift>>1-1, ^(uint32(1)<<shift - 1)
	for i, x := range src {
		b := math.Float32bits(x)
		if b&0x7fffffff-low >= span {
			dst[i] = s.round32(x)
			continue
		}
		dst[i] = math.Float32frombits((b + half + b>>shift&1) & mask)
	}
}

// round32 is round for a format narrower than float32.
func (s *spec) round32(x float32) float32 {
	b := math.Float32bits(x)
	a := b & 0x7fffffff
	switch {
	case a >= s.overflowAt32:
		return s.outside32(b)
	case a >= s.minNormal32:
		shift := s.shift & 31
		a = (a + uint32(1)<<shift>>1 - 1 + a>>shift&1) >> shift << shift
	default:
		a = math.Float32bits((math.Float32frombits(a) + s.magic) - s.magic)
	}
	if a == 0 && s.unsigned0 {
		return 0
	}
	return math.Float32frombits(b&0x80000000 | a)
}

// outside32 rounds the float32 with bits b, which is NaN or overflows.
func (s *spec) outside32(b uint32) float32 {
	if b&0x7fffffff > 0x7f800000 || !s.inf {
		return float32(math.NaN())
	}
	return math.Float32frombits(b&0x80000000 | 0x7f800000)
}

// FlushFloats sets every element below MinNormal in magnitude to zero, of the same sign
// where the format has two: what hardware does that flushes the format's subnormals.
func (f Format) FlushFloats(x []float32) {
	s := f.spec()
	keep := uint32(0x80000000)
	if s.unsigned0 {
		keep = 0
	}
	low := math.Float32bits(ceil32(s.minNormal))
	for i, v := range x {
		b := math.Float32bits(v)
		if b&0x7fffffff < low {
			x[i] = math.Float32frombits(b & keep)
		}
	}
}
