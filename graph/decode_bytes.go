package graph

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// DecodeTensor reads a TensorProto, as data files hold one each. The tensor keeps b. External data
// is refused: bytes alone have no folder it could lie in.
func DecodeTensor(b []byte) (*Tensor, error) {
	s := bytesSource(b)
	d := &decoder{cursor: newCursor(s), m: &Model{src: s}}
	t, err := d.tensor(field{typ: protowire.BytesType, at: Span{0, s.size}})
	if err == nil && t.External != nil {
		return nil, fmt.Errorf("tensor %q: its elements are in another file", t.Name)
	}
	return t, err
}
