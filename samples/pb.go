package samples

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amplint/amplint/graph"
)

// loadFolder reads a folder of input_i.pb files, one for each input in the order of the model.
// A file that names another input belongs to that one.
func loadFolder(path string, inputs []*graph.Value) (*Sample, error) {
	s := &Sample{Name: path, Inputs: map[string]*Value{}}
	for i, in := range inputs {
		file := filepath.Join(path, "input_"+strconv.Itoa(i)+".pb")
		b, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		v, name, err := decode(b, in.Type, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		if named(inputs, name) == nil {
			name = in.Name
		}
		s.Inputs[name] = v
	}
	return s, nil
}

func named(inputs []*graph.Value, name string) *graph.Value {
	for _, in := range inputs {
		if in.Name == name {
			return in
		}
	}
	return nil
}

// maxNesting bounds sequences of sequences and the like.
const maxNesting = 16

// decode reads the message that a value of the type is stored as, and its name.
func decode(b []byte, t graph.Type, depth int) (*Value, string, error) {
	if depth > maxNesting {
		return nil, "", fmt.Errorf("values are nested more than %d deep", maxNesting)
	}
	switch t.Kind {
	case graph.KindSequence:
		return decodeContainer(b, t, depth)
	case graph.KindOptional:
		if t.Of != nil && t.Of.Kind == graph.KindSequence && holdsTensors(b) {
			return decode(b, *t.Of, depth+1)
		}
		v, name, err := decodeContainer(b, t, depth)
		if err != nil && t.Of != nil { // what it holds is often stored without the container
			if v, name, inner := decode(b, *t.Of, depth+1); inner == nil {
				return v, name, nil
			}
		}
		return v, name, err
	case graph.KindTensor, graph.KindUnknown:
		x, err := graph.DecodeTensor(b)
		if err != nil {
			return nil, "", err
		}
		return &Value{Kind: graph.KindTensor, Tensor: &Array{Elem: x.Elem, Dims: x.Dims, tensor: x}}, x.Name, nil
	}
	return nil, "", fmt.Errorf("values of type %s are not supported", t)
}

// Fields of SequenceProto and OptionalProto: 3 holds tensors, 5 sequences, 6 maps, 7 optionals in both.
const (
	containerName     = 1
	containerElem     = 2
	containerTensor   = 3
	containerSequence = 5
	containerMap      = 6
	containerOptional = 7
)

// holdsTensors tells whether a container says that its elements are tensors. One that should be an
// optional of a sequence is then that sequence itself, stored without its container.
func holdsTensors(b []byte) bool {
	const tensors = 1
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		if num == containerElem && typ == protowire.VarintType {
			kind, _ := protowire.ConsumeVarint(b[n:])
			return kind == tensors
		}
		k := protowire.ConsumeFieldValue(num, typ, b[n:])
		if k < 0 {
			return false
		}
		b = b[n+k:]
	}
	return false
}

func decodeContainer(b []byte, t graph.Type, depth int) (*Value, string, error) {
	v, name := &Value{Kind: t.Kind}, ""
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, "", fmt.Errorf("not a %s: %w", t, protowire.ParseError(n))
		}
		k := protowire.ConsumeFieldValue(num, typ, b[n:])
		if k < 0 {
			return nil, "", fmt.Errorf("not a %s: %w", t, protowire.ParseError(k))
		}
		if typ == protowire.BytesType {
			field, _ := protowire.ConsumeBytes(b[n:])
			if num == containerName {
				name = string(field)
			} else if err := v.add(num, field, t, depth); err != nil {
				return nil, "", err
			}
		}
		b = b[n+k:]
	}
	if t.Kind == graph.KindOptional && len(v.Items) > 0 {
		v = v.Items[0]
	}
	return v, name, nil
}

// add appends one element of a container.
func (v *Value) add(num protowire.Number, b []byte, t graph.Type, depth int) error {
	of := graph.Type{}
	if t.Of != nil {
		of = *t.Of
	}
	switch num {
	case containerTensor:
		of.Kind = graph.KindTensor
	case containerSequence:
		of.Kind = graph.KindSequence
	case containerOptional:
		of.Kind = graph.KindOptional
	default:
		return fmt.Errorf("a %s holds a value of a kind that is not supported", t)
	}
	item, _, err := decode(b, of, depth+1)
	if err == nil {
		v.Items = append(v.Items, item)
	}
	return err
}
