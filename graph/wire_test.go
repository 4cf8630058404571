package graph

import (
	"bytes"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// The helpers below write single fields, so that a test can build any file, broken ones too.

func vint(num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
}

func blob[T string | []byte](num protowire.Number, b T) []byte {
	return append(protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.BytesType), uint64(len(b))), b...)
}

func sub(num protowire.Number, fields ...[]byte) []byte {
	return blob(num, bytes.Join(fields, nil))
}

func fix32(num protowire.Number, v float32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, num, protowire.Fixed32Type), math.Float32bits(v))
}

// packed writes a packed list of varints.
func packed(num protowire.Number, v ...uint64) []byte {
	var b []byte
	for _, x := range v {
		b = protowire.AppendVarint(b, x)
	}
	return blob(num, b)
}

// tensorBytes is a TensorProto.
func tensorBytes(name string, e ElemType, dims []uint64, rest ...[]byte) []byte {
	return bytes.Join(append([][]byte{packed(tensorDims, dims...), vint(tensorDataType, uint64(e)), blob(tensorName, name)}, rest...), nil)
}

// modelBytes is a model of opset 21 with the fields of its graph.
func modelBytes(graph ...[]byte) []byte {
	return bytes.Join([][]byte{vint(modelIRVersion, 10), sub(modelOpsetImport, blob(opsetDomain, ""), vint(opsetVersion, 21)),
		sub(modelGraph, graph...)}, nil)
}

func decoded(t testing.TB, b []byte) *Model {
	t.Helper()
	m, err := Decode(b, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// initOf reads back a tensor as the only initializer of a model.
func initOf(t testing.TB, tensor []byte) *Tensor {
	t.Helper()
	return decoded(t, modelBytes(sub(graphInitializer, tensor))).Graph.inits[0].Init
}
