package graph

import (
	"strconv"
	"strings"
)

// ElemType is the element type of a tensor, numbered as TensorProto.DataType.
type ElemType int32

// The element types of the standard up to IR version 14.
const (
	Undefined      ElemType = 0
	Float          ElemType = 1
	Uint8          ElemType = 2
	Int8           ElemType = 3
	Uint16         ElemType = 4
	Int16          ElemType = 5
	Int32          ElemType = 6
	Int64          ElemType = 7
	String         ElemType = 8
	Bool           ElemType = 9
	Float16        ElemType = 10
	Double         ElemType = 11
	Uint32         ElemType = 12
	Uint64         ElemType = 13
	Complex64      ElemType = 14
	Complex128     ElemType = 15
	BFloat16       ElemType = 16
	Float8E4M3FN   ElemType = 17
	Float8E4M3FNUZ ElemType = 18
	Float8E5M2     ElemType = 19
	Float8E5M2FNUZ ElemType = 20
	Uint4          ElemType = 21
	Int4           ElemType = 22
	Float4E2M1     ElemType = 23
	Float8E8M0     ElemType = 24
	Uint2          ElemType = 25
	Int2           ElemType = 26
	Float6E2M3     ElemType = 27
	Float6E3M2     ElemType = 28
)

// elemNames are the names of the ONNX textual syntax; their widths in bits (0: no fixed width).
var elemNames = [...]struct {
	name string
	bits int
}{
	{"undefined", 0}, {"float", 32}, {"uint8", 8}, {"int8", 8}, {"uint16", 16}, {"int16", 16}, {"int32", 32}, {"int64", 64},
	{"string", 0}, {"bool", 8}, {"float16", 16}, {"double", 64}, {"uint32", 32}, {"uint64", 64}, {"complex64", 64}, {"complex128", 128},
	{"bfloat16", 16}, {"float8e4m3fn", 8}, {"float8e4m3fnuz", 8}, {"float8e5m2", 8}, {"float8e5m2fnuz", 8}, {"uint4", 4}, {"int4", 4},
	{"float4e2m1", 4}, {"float8e8m0", 8}, {"uint2", 2}, {"int2", 2},
	{"float6e2m3", 6}, {"float6e3m2", 6},
}

// String returns the type's name in the ONNX textual syntax, such as "float16".
func (e ElemType) String() string {
	if e >= 0 && int(e) < len(elemNames) {
		return elemNames[e].name
	}
	return "type" + strconv.Itoa(int(e))
}

// ParseElem returns the element type of a name of the ONNX textual syntax.
func ParseElem(name string) (ElemType, bool) {
	for i, e := range elemNames {
		if e.name == name && i > 0 {
			return ElemType(i), true
		}
	}
	return Undefined, false
}

// Bits returns the width of one element in bits, 0 where it has none (strings, unknown types).
// Elements below 8 bits are packed without gaps, the first in the lowest bits.
func (e ElemType) Bits() int {
	if e >= 0 && int(e) < len(elemNames) {
		return elemNames[e].bits
	}
	return 0
}

// IsFloat tells whether values of the type are rounded real numbers, those of 4 to 8 bits included.
func (e ElemType) IsFloat() bool {
	switch e {
	case Float, Float16, Double, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float4E2M1, Float8E8M0, Float6E2M3, Float6E3M2:
		return true
	}
	return false
}

// IsInt tells whether the type is a signed or unsigned integer of any width; bool is none.
func (e ElemType) IsInt() bool {
	switch e {
	case Uint8, Int8, Uint16, Int16, Int32, Int64, Uint32, Uint64, Uint4, Int4, Uint2, Int2:
		return true
	}
	return false
}

// Dim is one dimension of a shape: a number (N >= 0), a symbol, or unknown (N < 0 and no symbol).
type Dim struct {
	Sym string
	N   int64
}

// UnknownDim is a dimension of which nothing is known.
var UnknownDim = Dim{N: -1}

// Known tells whether the dimension is a number.
func (d Dim) Known() bool { return d.Sym == "" && d.N >= 0 }

// String returns the number, the symbol or "?".
func (d Dim) String() string {
	switch {
	case d.Sym != "":
		return d.Sym
	case d.N >= 0:
		return strconv.FormatInt(d.N, 10)
	}
	return "?"
}

// Shape lists the dimensions of a tensor. A nil shape has an unknown rank; a scalar's shape is
// empty but not nil.
type Shape []Dim

// ShapeOf makes a shape of numbers.
func ShapeOf(dims ...int64) Shape {
	s := make(Shape, len(dims))
	for i, d := range dims {
		s[i] = Dim{N: d}
	}
	return s
}

// Ints returns the dimensions as numbers; ok is false where one of them, or the rank, is unknown.
func (s Shape) Ints() (dims []int64, ok bool) {
	if s == nil {
		return nil, false
	}
	dims = make([]int64, len(s))
	for i, d := range s {
		if !d.Known() {
			return nil, false
		}
		dims[i] = d.N
	}
	return dims, true
}

// String returns the shape as in "[2,seq,?]", or "[...]" for an unknown rank.
func (s Shape) String() string {
	if s == nil {
		return "[...]"
	}
	parts := make([]string, len(s))
	for i, d := range s {
		parts[i] = d.String()
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// Kind tells what a value is made of.
type Kind uint8

// The kinds of types of the standard. The zero value is a type of which nothing is known.
const (
	KindUnknown Kind = iota
	KindTensor
	KindSparse
	KindSequence
	KindOptional
	KindMap
	KindOpaque
)

// Type is the type of a value: a tensor's element type and shape, or a container of a type.
type Type struct {
	Kind  Kind
	Elem  ElemType // tensors; a map's key
	Shape Shape    // tensors
	Of    *Type    // what a sequence, optional or map holds
}

// TensorOf returns a tensor type.
func TensorOf(e ElemType, s Shape) Type { return Type{Kind: KindTensor, Elem: e, Shape: s} }

// withElem returns the type with tensors of another element type; a type of which nothing is known
// stays so.
func (t Type) withElem(e ElemType) Type {
	switch {
	case t.Of != nil && (t.Kind == KindSequence || t.Kind == KindOptional):
		of := t.Of.withElem(e)
		t.Of = &of
	case t.Kind == KindTensor || t.Kind == KindSparse:
		t.Elem = e
	}
	return t
}

// Float returns whether the value is a tensor of floating-point elements.
func (t Type) Float() bool { return t.Kind == KindTensor && t.Elem.IsFloat() }

// String returns the type as the textual syntax writes it, such as "float[2,seq]" or
// "seq(float[n])".
func (t Type) String() string {
	of := "?"
	if t.Of != nil {
		of = t.Of.String()
	}
	switch t.Kind {
	case KindTensor:
		if t.Shape != nil && len(t.Shape) == 0 {
			return t.Elem.String()
		}
		if t.Shape == nil {
			return t.Elem.String() + "[]"
		}
		return t.Elem.String() + t.Shape.String()
	case KindSparse:
		return "sparse_tensor(" + t.Elem.String() + t.Shape.String() + ")"
	case KindSequence:
		return "seq(" + of + ")"
	case KindOptional:
		return "optional(" + of + ")"
	case KindMap:
		return "map(" + t.Elem.String() + ", " + of + ")"
	case KindOpaque:
		return "opaque"
	}
	return "?"
}
