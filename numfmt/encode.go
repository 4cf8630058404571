package numfmt

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"
)

// Encode returns the bits of x rounded as by Round, in the low Bits() of the result. NaN
// gives the quiet NaN of the format, with x's sign where NaN has one. FP64 does not fit
// and is given as FP32; AppendEncoded writes it whole.
func (f Format) Encode(x float64) uint32 {
	if f == FP32 || f == FP64 {
		return math.Float32bits(float32(x))
	}
	return f.spec().code(x, f.Round(x))
}

// EncodeSat returns the bits of x rounded as by RoundSat.
func (f Format) EncodeSat(x float64) uint32 {
	if f == FP32 || f == FP64 {
		return math.Float32bits(float32(FP32.RoundSat(x)))
	}
	return f.spec().code(x, f.RoundSat(x))
}

// code returns the bits of r, which is x rounded to the narrow format s. A float32 holds
// every value of such a format, so nothing is rounded twice.
func (s *spec) code(x, r float64) uint32 {
	if s.bits == 0 {
		return 0
	}
	if math.IsNaN(r) {
		r = math.Copysign(r, x)
	}
	return s.encode32(float32(r), s.overflowCode)
}

// encode32 returns the bits of x rounded to a format narrower than float32, with the code
// over for the magnitude of an overflow.
func (s *spec) encode32(x float32, over uint32) uint32 {
	b := math.Float32bits(x)
	a := b & 0x7fffffff
	var c uint32
	switch {
	case a > 0x7f800000:
		c = s.nanCode
	case a >= s.overflowAt32:
		c = over
	case a >= s.minNormal32:
		shift := s.shift & 31
		c = (a+uint32(1)<<shift>>1-1+a>>shift&1)>>shift - s.rebias
	default:
		c = math.Float32bits(math.Float32frombits(a)+s.magic) - math.Float32bits(s.magic)
	}
	if s.unsigned0 && (c == 0 || c == s.signBit) {
		return c
	}
	return c | b>>31*s.signBit
}

// Decode returns the value of the low Bits() of bits. For FP64 they are those of a FP32.
func (f Format) Decode(bits uint32) float64 {
	switch f {
	case FP64, FP32:
		return float64(math.Float32frombits(bits))
	}
	s := f.spec()
	if s.bits == 0 {
		return math.NaN()
	}
	return float64(s.decode32(bits))
}

// decode32 returns the value of a code of a format narrower than float32. The bits are put
// in place as if the bias were float32's; one exact product corrects it, for subnormals
// too.
func (s *spec) decode32(code uint32) float32 {
	sign := code & s.signBit
	a := code & (s.signBit - 1)
	if a > s.maxCode || s.unsigned0 && a == 0 {
		return s.special32(sign, a)
	}
	m := math.Float32frombits(a<<s.shift) * s.scale
	return math.Float32frombits(sign<<(32-s.bits) | math.Float32bits(m))
}

// special32 returns the value of a code that is no finite number, or of a FNUZ zero.
func (s *spec) special32(sign, a uint32) float32 {
	switch {
	case a == 0 && sign == 0:
		return 0
	case a == 0 || a > s.infEnd:
		return float32(math.NaN())
	}
	return math.Float32frombits(sign<<(32-s.bits) | 0x7f800000)
}

// AppendEncoded appends the elements of src as ONNX stores them, little-endian, rounded as
// by RoundSat if saturate is set and as by Round if not. It appends nothing for Invalid.
func (f Format) AppendEncoded(dst []byte, src []float32, saturate bool) []byte {
	s := f.spec()
	at, size := len(dst), s.bits/8
	dst = slices.Grow(dst, len(src)*size)[:at+len(src)*size]
	out := dst[at:]
	over := s.overflowCode
	if saturate {
		over = s.maxCode
	}
	switch f.Bits() {
	case 64:
		putFP64(out, src, saturate)
	case 32:
		putFP32(out, src, saturate)
	case 16:
		s.put16(out, src, over)
	case 8:
		s.put8(out, src, over)
	}
	return dst
}

func (s *spec) put16(out []byte, src []float32, over uint32) {
	n := s.narrowHalves(out, src, over)
	s.put16Slowly(out[2*n:], src[n:], over)
}

// put16Slowly repeats the normal case of encode32, with its constants in registers.
func (s *spec) put16Slowly(out []byte, src []float32, over uint32) {
	low, span, shift, rebias := s.minNormal32, s.overflowAt32-s.minNormal32, s.shift&31, s.rebias
	half := uint32(1)<<shift>>1 - 1
	for i, x := range src {
		b := math.Float32bits(x)
		a := b &^ signBit32
		var c uint32
		if a-low < span {
			c = (a+half+a>>shift&1)>>shift - rebias | b>>31<<15
		} else {
			c = s.encode32(x, over)
		}
		binary.LittleEndian.PutUint16(out[2*i:], uint16(c))
	}
}

// put8 is put16 for the formats of one byte.
func (s *spec) put8(out []byte, src []float32, over uint32) {
	low, span, shift, rebias := s.minNormal32, s.overflowAt32-s.minNormal32, s.shift&31, s.rebias
	half := uint32(1)<<shift>>1 - 1
	out = out[:len(src)]
	for i, x := range src {
		b := math.Float32bits(x)
		a := b &^ signBit32
		if a-low < span {
			out[i] = byte((a+half+a>>shift&1)>>shift - rebias | b>>31<<7)
		} else {
			out[i] = byte(s.encode32(x, over))
		}
	}
}

func putFP64(out []byte, src []float32, saturate bool) {
	for i, x := range src {
		v := float64(x)
		if saturate && math.IsInf(v, 0) {
			v = FP64.RoundSat(v)
		}
		binary.LittleEndian.PutUint64(out[8*i:], math.Float64bits(v))
	}
}

func putFP32(out []byte, src []float32, saturate bool) {
	for i, x := range src {
		if saturate && math.IsInf(float64(x), 0) {
			x = float32(FP32.RoundSat(float64(x)))
		}
		binary.LittleEndian.PutUint32(out[4*i:], math.Float32bits(x))
	}
}

// DecodeFloats sets dst to the little-endian elements of raw and returns how many it set:
// as many as dst has room for and raw holds whole. FP64 is rounded to float32.
func (f Format) DecodeFloats(dst []float32, raw []byte) int {
	s := f.spec()
	if s.bits == 0 {
		return 0
	}
	n := min(len(dst), len(raw)/(s.bits/8))
	dst = dst[:n]
	switch s.bits {
	case 64:
		for i := range dst {
			dst[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
		}
	case 32:
		get32(dst, raw)
	case 16:
		s.get16(dst, raw)
	case 8:
		s.get8(dst, raw)
	}
	return n
}

// get32 copies the bytes where the processor orders them as ONNX does: element by element it takes as
// long as all else that is done with a weight.
func get32(dst []float32, raw []byte) {
	if len(dst) > 0 && binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&dst[0])), 4*len(dst)), raw)
		return
	}
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
}

func (s *spec) get16(dst []float32, raw []byte) {
	n := s.widenHalves(dst, raw)
	s.get16Slowly(dst[n:], raw[2*n:])
}

// get16Slowly repeats the finite case of decode32, with its constants in registers.
func (s *spec) get16Slowly(dst []float32, raw []byte) {
	last, shift, scale := s.maxCode, s.shift&31, s.scale
	for i := range dst {
		c := uint32(binary.LittleEndian.Uint16(raw[2*i:]))
		if c&0x7fff > last {
			dst[i] = s.decode32(c)
			continue
		}
		dst[i] = math.Float32frombits(c>>15<<31|c&0x7fff<<shift) * scale
	}
}

// get8 is get16 by a table, for one byte.
func (s *spec) get8(dst []float32, raw []byte) {
	if len(dst) < 256 {
		for i := range dst {
			dst[i] = s.decode32(uint32(raw[i]))
		}
		return
	}
	var table [256]float32
	for c := range table {
		table[c] = s.decode32(uint32(c))
	}
	for i, c := range raw[:len(dst)] {
		dst[i] = table[c]
	}
}
