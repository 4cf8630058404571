package graph

import (
	"encoding/binary"
	"math"
)

// Turned returns the tensor of floats that turn makes of the elements of t, chunk by chunk as they are read: from the
// element of that number on it is given some in turn, and changes them in place. Nothing of it is held.
func (t *Tensor) Turned(turn func(from int64, chunk []float32)) *Tensor {
	return &Tensor{Name: t.Name, Elem: Float, Dims: t.Dims, base: t, turn: turn}
}

// turned streams the elements of a tensor that is made from another.
func (t *Tensor) turned(visit func([]float32) error) error {
	at := int64(0)
	return t.base.Floats(func(chunk []float32) error {
		t.turn(at, chunk)
		at += int64(len(chunk))
		return visit(chunk)
	})
}

// turnedRaw is turned for the bytes that hold them.
func (t *Tensor) turnedRaw(visit func([]byte) error) error {
	var buf []byte
	return t.turned(func(chunk []float32) error {
		buf = buf[:0]
		for _, x := range chunk {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		return visitBytes(buf, visit)
	})
}
