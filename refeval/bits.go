package refeval

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// raw returns the elements as raw_data holds them: little endian, types below 8 bits packed.
func (t *Tensor) raw() []byte {
	n := t.Len()
	if bits := t.Elem.Bits(); bits < 8 {
		return t.packed(n, bits)
	}
	out := make([]byte, 0, n*t.Elem.Bits()/8)
	switch storeOf(t.Elem) {
	case storeF:
		if f, ok := t.Elem.Format(); ok {
			return f.AppendEncoded(out, t.F, false)
		}
		for _, x := range t.F {
			out = append(out, encodeE8M0(x))
		}
	case storeD:
		for _, x := range t.D {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
		}
	case storeI:
		for _, x := range t.I {
			out = appendInt(out, x, t.Elem.Bits()/8)
		}
	case storeC:
		for _, x := range t.C {
			out = appendComplex(out, x, t.Elem)
		}
	}
	return out
}

func appendInt(out []byte, x int64, width int) []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(x))
	return append(out, b[:width]...)
}

func appendComplex(out []byte, x complex128, e graph.ElemType) []byte {
	if e == graph.Complex64 {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(real(x))))
		return binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(imag(x))))
	}
	out = binary.LittleEndian.AppendUint64(out, math.Float64bits(real(x)))
	return binary.LittleEndian.AppendUint64(out, math.Float64bits(imag(x)))
}

// packed joins elements below 8 bits without gaps, the first in the lowest bits.
func (t *Tensor) packed(n, bits int) []byte {
	out := make([]byte, (n*bits+7)/8)
	for i := range n {
		var c uint
		if t.F != nil {
			c = uint(minis(t.Elem).encode(t.F[i]))
		} else {
			c = uint(t.I[i])
		}
		at := i * bits
		c = c & (1<<bits - 1) << (at % 8)
		out[at/8] |= byte(c)
		if c > 0xff {
			out[at/8+1] |= byte(c >> 8)
		}
	}
	return out
}

// setRaw sets the elements of a tensor, whose type and shape stand, from what raw returns.
func (t *Tensor) setRaw(raw []byte) error {
	n := t.Len()
	if want := (n*t.Elem.Bits() + 7) / 8; want != len(raw) {
		return fmt.Errorf("%s takes %d bytes, not %d", t, want, len(raw))
	}
	if storeOf(t.Elem) == storeC {
		t.setComplex(raw, n)
		return nil
	}
	dims := make([]int64, len(t.Dims))
	for i, d := range t.Dims {
		dims[i] = int64(d)
	}
	u, err := FromGraph(graph.NewTensor("", t.Elem, dims, raw))
	if err == nil {
		t.F, t.D, t.I = u.F, u.D, u.I
	}
	return err
}

func (t *Tensor) setComplex(raw []byte, n int) {
	t.C = make([]complex128, n)
	for i := range t.C {
		if t.Elem == graph.Complex64 {
			b := raw[8*i:]
			t.C[i] = complex(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))),
				float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))))
			continue
		}
		b := raw[16*i:]
		t.C[i] = complex(math.Float64frombits(binary.LittleEndian.Uint64(b)),
			math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
	}
}

// mini is a float type below 8 bits, without infinities and NaN: its bits of exponent and mantissa.
// The bias of the exponent is the usual one.
type mini struct{ exp, man int }

// minis returns the layout of a float type below 8 bits.
func minis(e graph.ElemType) mini {
	switch e {
	case graph.Float4E2M1:
		return mini{2, 1}
	case graph.Float6E2M3:
		return mini{2, 3}
	case graph.Float6E3M2:
		return mini{3, 2}
	}
	panic(refusal{fmt.Errorf("no rounding to %s", e)})
}

// magnitude decodes a code without its sign.
func (m mini) magnitude(code byte) float64 {
	bias := 1<<(m.exp-1) - 1
	e, f := int(code)>>m.man, float64(code&(1<<m.man-1))
	if e == 0 {
		return math.Ldexp(f, 1-bias-m.man)
	}
	return math.Ldexp(f+float64(int(1)<<m.man), e-bias-m.man)
}

// encode returns the code of x rounded to the type, ties to even; what is larger is the largest.
// NaN, which the type has not, gives -0, as the standard's reference does.
func (m mini) encode(x float32) byte {
	sign := byte(1) << (m.exp + m.man)
	if x != x {
		return sign
	}
	a, code := math.Abs(float64(x)), byte(0)
	for ; code < sign-1; code++ {
		mid := (m.magnitude(code) + m.magnitude(code+1)) / 2
		if a < mid || a == mid && code%2 == 0 {
			break
		}
	}
	if math.Signbit(float64(x)) {
		code |= sign
	}
	return code
}

// round rounds x to the type.
func (m mini) round(x float64) float64 {
	c, sign := m.encode(float32(x)), byte(1)<<(m.exp+m.man)
	y := m.magnitude(c &^ sign)
	if c&sign != 0 {
		return -y
	}
	return y
}

// encodeE8M0 returns the code of a power of two.
func encodeE8M0(x float32) byte {
	if x != x || x <= 0 || math.IsInf(float64(x), 0) {
		return 0xff
	}
	_, e := math.Frexp(float64(x))
	return byte(min(max(e-1+127, 0), 254))
}

// roundE8M0 rounds the magnitude of x to a power of two by the rounding mode of Cast: up, down or
// nearest. What is too large is NaN, or the largest under saturation; 0 is the least.
func roundE8M0(x float64, mode string, saturate bool) float64 {
	const least, most = -127, 127
	if math.IsNaN(x) || math.IsInf(x, 0) && !saturate {
		return math.NaN()
	}
	if math.IsInf(x, 0) {
		return math.Ldexp(1, most)
	}
	a := math.Abs(x)
	if a == 0 {
		return math.Ldexp(1, least)
	}
	m, e := math.Frexp(a) // a = m 2^e, m in [1/2, 1)
	e--
	if mode == "up" && m > 0.5 || mode == "nearest" && m >= 0.75 {
		e++
	}
	if e > most && !saturate {
		return math.NaN()
	}
	return math.Ldexp(1, min(max(e, least), most))
}

// roundTo rounds one number to a type that holds real numbers in F.
func roundTo(x float64, e graph.ElemType, saturate bool) float64 {
	switch e {
	case graph.Float4E2M1, graph.Float6E2M3, graph.Float6E3M2:
		return minis(e).round(x)
	case graph.Float8E8M0:
		return roundE8M0(x, "up", saturate)
	}
	f, ok := e.Format()
	switch {
	case !ok:
		refuse("no rounding to %s", e)
	case saturate && f.Bits() == 8:
		return f.RoundSat(x)
	case f == numfmt.FP64:
		return x
	}
	return f.Round(x)
}
