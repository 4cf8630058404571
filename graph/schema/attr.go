package schema

// AttrType is the type of an attribute, with the numbers of AttributeProto.AttributeType.
type AttrType int32

// The types of attributes. The zero AttrType is no type.
const (
	AttrFloat         AttrType = 1
	AttrInt           AttrType = 2
	AttrString        AttrType = 3
	AttrTensor        AttrType = 4
	AttrGraph         AttrType = 5
	AttrFloats        AttrType = 6
	AttrInts          AttrType = 7
	AttrStrings       AttrType = 8
	AttrTensors       AttrType = 9
	AttrGraphs        AttrType = 10
	AttrSparseTensor  AttrType = 11
	AttrSparseTensors AttrType = 12
	AttrTypeProto     AttrType = 13
	AttrTypeProtos    AttrType = 14
)

// attrCodes holds the files' letters in the order of the numbers.
const attrCodes = "?fistgFISTGpPyY"

// Attr is an attribute of an operator. HasDefault tells a default of 0 or "" from none; then the field of
// Default that its type names is set.
type Attr struct {
	Name       string
	Type       AttrType
	Required   bool
	HasDefault bool
	Default    Value
}

// Value is the default of an attribute: one field is set, by the attribute's type.
type Value struct {
	Int     int64
	Float   float32
	Str     string
	Ints    []int64
	Floats  []float32
	Strings []string
}
