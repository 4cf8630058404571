package graph

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/amplint/amplint/numfmt"
)

// Converted returns the tensor in another float type. Its elements are converted when they are
// read or written, block by block; their number of bytes is known at once. With saturate, values
// past the type's largest become the largest, else infinity (or NaN where it has none). Both
// types must be among those of [ElemType.Format]. The tensor has the same name and shape.
func (t *Tensor) Converted(e ElemType, saturate bool) *Tensor {
	c := &Tensor{Name: t.Name, Elem: e, Dims: t.Dims, Doc: t.Doc, External: t.External, at: t.at, src: t.src,
		model: t.model, from: t, saturate: saturate}
	return c
}

// Scaled is Converted for elements that are divided by the scale of their channel first. What is past the type's
// largest number becomes that.
func (t *Tensor) Scaled(e ElemType, by Channels, scales []float32) *Tensor {
	return t.scaledBy(e, true, &scaling{by.Divide, scales})
}

// Unscaled is Converted for elements that are multiplied with the scale of their channel.
func (t *Tensor) Unscaled(e ElemType, by Channels, scales []float32) *Tensor {
	return t.scaledBy(e, false, &scaling{by.Multiply, scales})
}

func (t *Tensor) scaledBy(e ElemType, saturate bool, s *scaling) *Tensor {
	c := t.Converted(e, saturate)
	c.scaled = s
	return c
}

// scaling makes other numbers of elements before they are converted.
type scaling struct {
	how    func(scales []float32, at int64, x []float32)
	scales []float32
}

// scale does it to elements from one on; it may be called on nil.
func (s *scaling) scale(at int64, x []float32) {
	if s != nil {
		s.how(s.scales, at, x)
	}
}

// Origin returns the tensor that this one was converted from, nil where it was read or made as it
// is, or holds other numbers. What the conversion lost is still there.
func (t *Tensor) Origin() *Tensor {
	if t.scaled != nil {
		return nil
	}
	return t.from
}

// Saturates tells whether the conversion from Origin turned what is past the type's largest number
// into the largest.
func (t *Tensor) Saturates() bool { return t.saturate }

// rounds tells whether the elements are those of the tensor it was made from, rounded to a format:
// then they need not be written in its bits to be read again.
func (t *Tensor) rounds() (f numfmt.Format, ok bool) {
	if t.from == nil || t.from.Elem == Double || t.scaled != nil {
		return f, false
	}
	if _, ok = t.from.Elem.Format(); !ok {
		return f, false
	}
	f, ok = t.Elem.Format()
	return f, ok && f.Bits() < 64 && (f.HasInf() || !t.saturate)
}

// round does what the conversion does to numbers.
func (t *Tensor) round(f numfmt.Format, x []float32) {
	f.RoundFloats(x, x)
	if !t.saturate {
		return
	}
	top := float32(f.Max())
	for i, v := range x {
		if math.IsInf(float64(v), 0) {
			x[i] = float32(math.Copysign(float64(top), float64(v)))
		}
	}
}

// convert streams the elements of the tensor it was made from in its own type.
func (t *Tensor) convert(visit func([]byte) error) error {
	f, ok := t.Elem.Format()
	if _, known := t.from.Elem.Format(); !ok || !known {
		return t.wrap(fmt.Errorf("no conversion from %s to %s", t.from.Elem, t.Elem))
	}
	if t.from.Elem == Double && t.Elem != Double && t.scaled == nil {
		return t.convertDouble(f, visit)
	}
	var buf []byte
	at := int64(0)
	return t.from.Floats(func(chunk []float32) error {
		t.scaled.scale(at, chunk)
		at += int64(len(chunk))
		buf = f.AppendEncoded(buf[:0], chunk, t.saturate)
		return visitBytes(buf, visit)
	})
}

// convertDouble rounds once: by way of float32 it would be twice.
func (t *Tensor) convertDouble(f numfmt.Format, visit func([]byte) error) error {
	encode, size := f.Encode, f.Bits()/8
	if t.saturate {
		encode = f.EncodeSat
	}
	var buf []byte
	return t.from.blocks(func(raw []byte, n int) error {
		buf = buf[:0]
		for i := range n {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], encode(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))))
			buf = append(buf, b[:size]...)
		}
		return visitBytes(buf, visit)
	})
}
