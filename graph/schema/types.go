package schema

// Kind says what a type holds elements in.
type Kind uint8

// The kinds of the standard's type constraints. The zero Kind is no type.
const (
	NoKind           Kind = iota
	Tensor                // tensor(E)
	Sequence              // seq(tensor(E))
	OptionalTensor        // optional(tensor(E))
	OptionalSequence      // optional(seq(tensor(E)))
	SparseTensor          // sparse_tensor(E)
	Map                   // map(K, E)
	SequenceOfMaps        // seq(map(K, E))
)

// The element types, with the numbers of TensorProto.DataType.
const (
	Float          int32 = 1
	Uint8          int32 = 2
	Int8           int32 = 3
	Uint16         int32 = 4
	Int16          int32 = 5
	Int32          int32 = 6
	Int64          int32 = 7
	String         int32 = 8
	Bool           int32 = 9
	Float16        int32 = 10
	Double         int32 = 11
	Uint32         int32 = 12
	Uint64         int32 = 13
	Complex64      int32 = 14
	Complex128     int32 = 15
	BFloat16       int32 = 16
	Float8E4M3FN   int32 = 17
	Float8E4M3FNUZ int32 = 18
	Float8E5M2     int32 = 19
	Float8E5M2FNUZ int32 = 20
	Uint4          int32 = 21
	Int4           int32 = 22
	Float4E2M1     int32 = 23
	Float8E8M0     int32 = 24
	Uint2          int32 = 25
	Int2           int32 = 26
	Float6E2M3     int32 = 27
	Float6E3M2     int32 = 28
)

// Type is a type without its shape: a kind, the element's number and, for maps, the key's. Types compare
// with ==; the zero Type is an unknown or missing one.
type Type struct {
	Kind Kind
	Elem int32
	Key  int32
}

// TensorOf returns the type of a tensor of elem.
func TensorOf(elem int32) Type { return Type{Kind: Tensor, Elem: elem} }

// elements holds the standard's name and the file's code of each element type, by number.
var elements = [...]struct{ name, code string }{
	Float: {"float", "f"}, Uint8: {"uint8", "u8"}, Int8: {"int8", "i8"}, Uint16: {"uint16", "u16"},
	Int16: {"int16", "i16"}, Int32: {"int32", "i32"}, Int64: {"int64", "i64"}, String: {"string", "str"},
	Bool: {"bool", "bool"}, Float16: {"float16", "h"}, Double: {"double", "d"}, Uint32: {"uint32", "u32"},
	Uint64: {"uint64", "u64"}, Complex64: {"complex64", "c64"}, Complex128: {"complex128", "c128"},
	BFloat16: {"bfloat16", "b"}, Float8E4M3FN: {"float8e4m3fn", "e4m3fn"},
	Float8E4M3FNUZ: {"float8e4m3fnuz", "e4m3fnuz"}, Float8E5M2: {"float8e5m2", "e5m2"},
	Float8E5M2FNUZ: {"float8e5m2fnuz", "e5m2fnuz"}, Uint4: {"uint4", "u4"}, Int4: {"int4", "i4"},
	Float4E2M1: {"float4e2m1", "e2m1"}, Float8E8M0: {"float8e8m0", "e8m0"}, Uint2: {"uint2", "u2"},
	Int2: {"int2", "i2"}, Float6E2M3: {"float6e2m3", "e2m3"}, Float6E3M2: {"float6e3m2", "e3m2"},
}

// ElemName returns the standard's name of an element type ("float16"), or "undefined".
func ElemName(elem int32) string {
	if elem <= 0 || int(elem) >= len(elements) {
		return "undefined"
	}
	return elements[elem].name
}

// elemOf returns the number of an element's code, 0 for none.
func elemOf(code string) int32 {
	for elem := range elements {
		if elem > 0 && elements[elem].code == code {
			return int32(elem)
		}
	}
	return 0
}

// String returns the standard's spelling, such as seq(tensor(float)).
func (t Type) String() string {
	elem := ElemName(t.Elem)
	switch t.Kind {
	case Tensor:
		return "tensor(" + elem + ")"
	case Sequence:
		return "seq(tensor(" + elem + "))"
	case OptionalTensor:
		return "optional(tensor(" + elem + "))"
	case OptionalSequence:
		return "optional(seq(tensor(" + elem + ")))"
	case SparseTensor:
		return "sparse_tensor(" + elem + ")"
	case Map:
		return "map(" + ElemName(t.Key) + ", " + elem + ")"
	case SequenceOfMaps:
		return "seq(map(" + ElemName(t.Key) + ", " + elem + "))"
	}
	return "undefined"
}
