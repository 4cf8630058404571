package numfmt

import "math"

// formatCount bounds the constants of Format.
const formatCount = E5M2FNUZ + 1

// spec is what the methods of a Format look up.
type spec struct {
	layout
	minExp                                 int // exponent of the least normal value
	max, overflowAt                        float64
	minNormal, minSubnormal, zeroAt        float64
	unit, exactInt                         float64
	overflow                               float64 // what a magnitude from overflowAt on becomes: +Inf or NaN
	signBit, maxCode, overflowCode, infEnd uint32  // codes above infEnd, sign aside, are NaN
	nanCode                                uint32

	// For the formats narrower than float32, which convert on float32 bits:
	shift        int     // mantissa bits that float32 has more
	rebias       uint32  // the difference of the exponent biases, at the place of the exponent
	scale        float32 // the same as a factor
	minNormal32  uint32  // float32 bits of minNormal
	overflowAt32 uint32  // float32 bits of the least float32 from overflowAt on
	magic        float32 // adding it rounds a subnormal magnitude to a multiple of minSubnormal
}

// layout is what tells the formats apart.
type layout struct {
	name       string
	bits, mant int // width, and explicit mantissa bits
	bias, emax int
	lost       int // mantissas of the highest binade given to NaN and Inf
	inf        bool
	unsigned0  bool // the FNUZ kinds: one zero, and the code of -0 is the only NaN
}

// specs is indexed by Format. FP64 keeps no codes: they do not fit in 32 bits.
var specs = [formatCount]spec{
	Invalid:  {layout: layout{name: "invalid"}, overflow: math.NaN()},
	FP64:     limits(layout{name: "fp64", bits: 64, mant: 52, bias: 1023, emax: 1023, inf: true}),
	FP32:     codes(limits(layout{name: "fp32", bits: 32, mant: 23, bias: 127, emax: 127, inf: true})),
	FP16:     narrow(codes(limits(layout{name: "fp16", bits: 16, mant: 10, bias: 15, emax: 15, inf: true}))),
	BF16:     narrow(codes(limits(layout{name: "bf16", bits: 16, mant: 7, bias: 127, emax: 127, inf: true}))),
	E4M3FN:   narrow(codes(limits(layout{name: "fp8e4m3fn", bits: 8, mant: 3, bias: 7, emax: 8, lost: 1}))),
	E4M3FNUZ: narrow(codes(limits(layout{name: "fp8e4m3fnuz", bits: 8, mant: 3, bias: 8, emax: 7, unsigned0: true}))),
	E5M2:     narrow(codes(limits(layout{name: "fp8e5m2", bits: 8, mant: 2, bias: 15, emax: 15, inf: true}))),
	E5M2FNUZ: narrow(codes(limits(layout{name: "fp8e5m2fnuz", bits: 8, mant: 2, bias: 16, emax: 15, unsigned0: true}))),
}

// spec returns the entry of f; a value that is no Format counts as Invalid.
func (f Format) spec() *spec {
	if f >= formatCount {
		f = Invalid
	}
	return &specs[f]
}

// limits derives the numbers of a format from its layout. Where float64 is too narrow for
// those of FP64, its own rounding gives the right answer: +Inf and 0.
func limits(l layout) spec {
	s := spec{layout: l, minExp: 1 - l.bias, overflow: math.NaN()}
	top := math.Ldexp(1, l.emax-l.mant) // spacing in the highest binade
	s.max = math.Ldexp(1, l.emax) + (math.Ldexp(1, l.mant)-1-float64(l.lost))*top
	s.overflowAt = s.max + top/2
	if l.lost == 1 { // the highest mantissa is even: it wins the tie
		s.overflowAt = math.Nextafter(s.overflowAt, math.Inf(1))
	}
	s.minNormal = math.Ldexp(1, s.minExp)
	s.minSubnormal = math.Ldexp(1, s.minExp-l.mant)
	s.zeroAt = math.Ldexp(1, s.minExp-l.mant-1)
	s.unit = math.Ldexp(1, -l.mant-1)
	s.exactInt = math.Ldexp(1, l.mant+1)
	if l.inf {
		s.overflow = math.Inf(1)
	}
	return s
}

// codes adds the bit patterns of a format of at most 32 bits.
func codes(s spec) spec {
	s.signBit = 1 << (s.bits - 1)
	s.maxCode = uint32(s.emax+s.bias)<<s.mant | (1<<s.mant - 1 - uint32(s.lost))
	s.infEnd = s.maxCode
	switch {
	case s.inf:
		s.infEnd = s.maxCode + 1
		s.overflowCode = s.infEnd
		s.nanCode = s.infEnd | 1<<(s.mant-1)
	case s.unsigned0:
		s.nanCode, s.overflowCode = s.signBit, s.signBit
	default:
		s.nanCode, s.overflowCode = s.maxCode+1, s.maxCode+1
	}
	return s
}

// narrow adds what the conversions from and to float32 use.
func narrow(s spec) spec {
	s.shift = 23 - s.mant
	s.rebias = uint32(127-s.bias) << s.mant
	s.scale = float32(math.Ldexp(1, 127-s.bias))
	s.minNormal32 = math.Float32bits(float32(s.minNormal))
	s.overflowAt32 = math.Float32bits(ceil32(s.overflowAt))
	s.magic = float32(math.Ldexp(1, s.minExp+s.shift))
	return s
}

// ceil32 returns the least float32 that is not below x.
func ceil32(x float64) float32 {
	r := float32(x)
	if float64(r) < x {
		return math.Nextafter32(r, float32(math.Inf(1)))
	}
	return r
}
