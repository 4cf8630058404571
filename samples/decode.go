package samples

import "github.com/amplint/amplint/graph"

// Decode reads a TensorProto, SequenceProto or OptionalProto, whichever a value of the type is
// stored as, and the name it bears.
func Decode(b []byte, t graph.Type) (*Value, string, error) { return decode(b, t, 0) }
