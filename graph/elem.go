package graph

import (
	"encoding/binary"
	"math"

	"github.com/amplint/amplint/numfmt"
)

// Format returns the number format of a float type that package numfmt knows; ok is false for the
// others: those of 4 and 6 bits, and [Float8E8M0].
func (e ElemType) Format() (f numfmt.Format, ok bool) {
	switch e {
	case Float:
		return numfmt.FP32, true
	case Double:
		return numfmt.FP64, true
	case Float16:
		return numfmt.FP16, true
	case BFloat16:
		return numfmt.BF16, true
	case Float8E4M3FN:
		return numfmt.E4M3FN, true
	case Float8E4M3FNUZ:
		return numfmt.E4M3FNUZ, true
	case Float8E5M2:
		return numfmt.E5M2, true
	case Float8E5M2FNUZ:
		return numfmt.E5M2FNUZ, true
	}
	return numfmt.Invalid, false
}

// ElemOf returns the element type that stores a format, Undefined for an invalid one.
func ElemOf(f numfmt.Format) ElemType {
	for e := Float; int(e) < len(elemNames); e++ {
		if g, ok := e.Format(); ok && g == f {
			return e
		}
	}
	return Undefined
}

// floats decodes as many elements as dst has room for.
func (e ElemType) floats(dst []float32, raw []byte) {
	if f, ok := e.Format(); ok {
		f.DecodeFloats(dst, raw)
		return
	}
	for i := range dst {
		dst[i] = float32(e.number(raw, i))
	}
}

// float64s is floats without rounding double.
func (e ElemType) float64s(dst []float64, raw []byte) {
	if e == Double {
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
		}
		return
	}
	if f, ok := e.Format(); ok {
		widen(f, dst, raw)
		return
	}
	for i := range dst {
		dst[i] = e.number(raw, i)
	}
}

// widen decodes through a small block of float32, which holds every format but FP64 exactly.
func widen(f numfmt.Format, dst []float64, raw []byte) {
	var buf [512]float32
	for len(dst) > 0 {
		n := f.DecodeFloats(buf[:min(len(dst), len(buf))], raw)
		for i, v := range buf[:n] {
			dst[i] = float64(v)
		}
		dst, raw = dst[n:], raw[n*f.Bits()/8:]
	}
}

func (e ElemType) int64s(dst []int64, raw []byte) {
	for i := range dst {
		dst[i] = e.integer(raw, i)
	}
}

// mini decodes a float of a sign, exp exponent bits and mant mantissa bits that has no infinities.
func mini(code uint8, exp, mant int) float64 {
	e, m := int(code>>mant)&(1<<exp-1), int(code)&(1<<mant-1)
	bias := 1<<(exp-1) - 1
	if e > 0 {
		m |= 1 << mant
	}
	v := math.Ldexp(float64(m), max(e, 1)-bias-mant)
	if code>>(exp+mant)&1 != 0 {
		return -v
	}
	return v
}

// number decodes element i of a type that numfmt does not know.
func (e ElemType) number(raw []byte, i int) float64 {
	switch e {
	case Float4E2M1:
		return mini(narrow(raw, i, 4), 2, 1)
	case Float6E2M3:
		return mini(narrow(raw, i, 6), 2, 3)
	case Float6E3M2:
		return mini(narrow(raw, i, 6), 3, 2)
	case Float8E8M0: // a power of two without sign or zero
		if raw[i] == 0xff {
			return math.NaN()
		}
		return math.Ldexp(1, int(raw[i])-127)
	case Uint64:
		return float64(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return float64(e.integer(raw, i))
}

// integer decodes element i of an integer or bool type.
func (e ElemType) integer(raw []byte, i int) int64 {
	switch e {
	case Uint8, Bool:
		return int64(raw[i])
	case Int8:
		return int64(int8(raw[i]))
	case Uint16:
		return int64(binary.LittleEndian.Uint16(raw[2*i:]))
	case Int16:
		return int64(int16(binary.LittleEndian.Uint16(raw[2*i:])))
	case Uint32:
		return int64(binary.LittleEndian.Uint32(raw[4*i:]))
	case Int32:
		return int64(int32(binary.LittleEndian.Uint32(raw[4*i:])))
	case Int64, Uint64:
		return int64(binary.LittleEndian.Uint64(raw[8*i:]))
	case Uint4, Uint2:
		return int64(narrow(raw, i, e.Bits()))
	case Int4:
		return int64(int8(narrow(raw, i, 4)<<4) >> 4)
	case Int2:
		return int64(int8(narrow(raw, i, 2)<<6) >> 6)
	}
	return 0
}

// narrow returns element i of a type below 8 bits; the first element is in the lowest bits.
func narrow(raw []byte, i, bits int) uint8 {
	at, shift := i*bits/8, i*bits%8
	v := uint16(raw[at])
	if shift+bits > 8 { // only elements of 6 bits cross bytes
		v |= uint16(raw[at+1]) << 8
	}
	return uint8(v>>shift) & (1<<bits - 1)
}
