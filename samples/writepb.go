package samples

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amplint/amplint/graph"
)

// Encode returns the TensorProto, SequenceProto, MapProto or OptionalProto that a value of a
// declared type is stored as. [Decode] reads it back.
func Encode(n Named) ([]byte, error) {
	return encode(n.Value, n.Type, n.Name, 0)
}

// Fields of TensorProto and MapProto.
const (
	tensorDims    = 1
	tensorType    = 2
	tensorStrings = 6
	tensorName    = 8
	tensorRaw     = 9
	mapKeyType    = 2
	mapKeys       = 3
	mapStringKeys = 4
	mapValues     = 5
)

func encode(v *Value, t graph.Type, name string, depth int) ([]byte, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("values are nested more than %d deep", maxNesting)
	}
	if t.Kind == graph.KindOptional {
		return encodeOptional(v, t, name, depth)
	}
	switch v.Kind {
	case graph.KindTensor:
		return encodeTensor(v.Tensor, name)
	case graph.KindSequence:
		return encodeSequence(v, t, name, depth)
	case graph.KindMap:
		return encodeMap(v, name, depth)
	}
	return nil, fmt.Errorf("an empty optional where the model declares %s", t)
}

func appendBytes(b []byte, num protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), body)
}

func appendInt(b []byte, num protowire.Number, x int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(x))
}

func encodeTensor(a *Array, name string) ([]byte, error) {
	t, err := a.Tensor()
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, d := range t.Dims {
		b = appendInt(b, tensorDims, d)
	}
	b = appendInt(b, tensorType, int64(t.Elem))
	if name != "" {
		b = appendBytes(b, tensorName, []byte(name))
	}
	if t.Elem != graph.String {
		raw, err := t.Bytes()
		return appendBytes(b, tensorRaw, raw), err
	}
	list, err := t.Strings()
	for _, s := range list {
		b = appendBytes(b, tensorStrings, []byte(s))
	}
	return b, err
}

// elemOf returns how SequenceProto and OptionalProto number the kind of their elements, and the
// field that those stand in.
func elemOf(k graph.Kind) (kind int64, field protowire.Number, err error) {
	switch k {
	case graph.KindTensor:
		return 1, containerTensor, nil
	case graph.KindSequence:
		return 3, containerSequence, nil
	case graph.KindMap:
		return 4, containerMap, nil
	case graph.KindOptional:
		return 5, containerOptional, nil
	}
	return 0, 0, fmt.Errorf("a container of a kind that is not supported")
}

// encodeSequence takes the kind of the items from the type where there are none.
func encodeSequence(v *Value, t graph.Type, name string, depth int) ([]byte, error) {
	of := graph.Type{Kind: graph.KindTensor}
	if t.Kind == graph.KindSequence && t.Of != nil {
		of = *t.Of
	}
	if len(v.Items) > 0 && of.Kind != graph.KindOptional {
		of.Kind = v.Items[0].Kind
	}
	kind, field, err := elemOf(of.Kind)
	if err != nil {
		return nil, err
	}
	b := appendInt(appendBytes(nil, containerName, []byte(name)), containerElem, kind)
	for _, item := range v.Items {
		body, err := encode(item, of, "", depth+1)
		if err != nil {
			return nil, err
		}
		b = appendBytes(b, field, body)
	}
	return b, nil
}

func encodeOptional(v *Value, t graph.Type, name string, depth int) ([]byte, error) {
	b := appendBytes(nil, containerName, []byte(name))
	if v.Kind == graph.KindOptional {
		return appendInt(b, containerElem, 0), nil
	}
	of := graph.Type{Kind: v.Kind}
	if t.Of != nil {
		of = *t.Of
	}
	kind, field, err := elemOf(v.Kind)
	if err != nil {
		return nil, err
	}
	body, err := encode(v, of, "", depth+1)
	return appendBytes(appendInt(b, containerElem, kind), field, body), err
}

func encodeMap(v *Value, name string, depth int) ([]byte, error) {
	keys, err := v.Keys.Tensor()
	if err != nil {
		return nil, err
	}
	b := appendInt(appendBytes(nil, containerName, []byte(name)), mapKeyType, int64(keys.Elem))
	if keys.Elem == graph.String {
		list, err := keys.Strings()
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			b = appendBytes(b, mapStringKeys, []byte(s))
		}
	} else {
		list, err := keys.Int64s()
		if err != nil {
			return nil, err
		}
		for _, k := range list {
			b = appendInt(b, mapKeys, k)
		}
	}
	values, err := encodeSequence(&Value{Kind: graph.KindSequence, Items: v.Items}, graph.Type{}, "", depth+1)
	return appendBytes(b, mapValues, values), err
}
