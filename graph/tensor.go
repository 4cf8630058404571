package graph

import (
	"fmt"
	"math"
)

// Tensor is a tensor's header and the place of its elements. The elements are read when asked
// for: from the model's file, from an external file, or from memory.
type Tensor struct {
	Name     string
	Elem     ElemType
	Dims     []int64
	Doc      string
	External []Entry // external_data; nil where the elements are in the model's own file

	at       Span
	src      *Source
	model    *Model // for the folder of external data
	raw      Span   // raw_data in src
	lists    []list // typed fields in src
	mem      []byte // elements as raw_data holds them, for tensors made in memory
	strings  []string
	from     *Tensor // the tensor this one converts, see Converted
	saturate bool    // of the conversion
	base     *Tensor // the tensor this one is made from, see Turned
	turn     func(from int64, chunk []float32)
	scaled   *scaling
	stats    stats
}

// list is a run of a typed field: float_data, int32_data and so on.
type list struct {
	num    int32
	packed bool
	at     Span
}

// SparseInit is a sparse initializer or attribute: its values and their indices.
type SparseInit struct {
	Values, Indices *Tensor
	Dims            []int64

	at Span
}

// NewTensor makes a tensor in memory. raw holds the elements in little-endian order, packed for
// types below 8 bits.
func NewTensor(name string, e ElemType, dims []int64, raw []byte) *Tensor {
	return &Tensor{Name: name, Elem: e, Dims: dims, mem: raw}
}

// NewStrings makes a tensor of strings in memory.
func NewStrings(name string, dims []int64, s []string) *Tensor {
	return &Tensor{Name: name, Elem: String, Dims: dims, strings: s, mem: []byte{}}
}

// Len returns the number of elements; an invalid shape counts as none.
func (t *Tensor) Len() int64 {
	n, err := elements(t.Dims)
	if err != nil {
		return 0
	}
	return n
}

// RawLen returns the number of bytes the elements take in raw_data, 0 for strings.
func (t *Tensor) RawLen() int64 { return rawLen(t.Elem, t.Len()) }

func rawLen(e ElemType, n int64) int64 {
	if bits := int64(e.Bits()); bits < 8 {
		return (n*bits + 7) / 8
	}
	return n * int64(e.Bits()/8)
}

// elements multiplies dimensions and refuses negative ones and products past int64 bits.
func elements(dims []int64) (int64, error) {
	n := int64(1)
	zero := false
	for _, d := range dims {
		if d < 0 {
			return 0, fmt.Errorf("negative dimension %d", d)
		}
		if zero = zero || d == 0; d == 0 {
			continue
		}
		if n > math.MaxInt64/16/d {
			return 0, fmt.Errorf("dimensions %v are too large", dims)
		}
		n *= d
	}
	if zero {
		return 0, nil
	}
	return n, nil
}

// Type returns the tensor's type.
func (t *Tensor) Type() Type { return TensorOf(t.Elem, ShapeOf(t.Dims...)) }
