package graph

import (
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestWrongWireType reads fields of a wrong wire type as every protobuf library does: as unknown ones.
func TestWrongWireType(t *testing.T) {
	number := func(b []byte, num protowire.Number) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), 5)
	}
	node := protowire.AppendString(protowire.AppendTag(nil, nodeOpType, protowire.BytesType), "Foo")
	node = number(number(node, nodeInput), nodeAttribute)
	g := protowire.AppendBytes(protowire.AppendTag(nil, graphNode, protowire.BytesType), node)
	g = number(number(number(g, graphNode), graphInput), graphInitializer)
	m := protowire.AppendBytes(protowire.AppendTag(nil, modelGraph, protowire.BytesType), g)
	m = number(number(m, modelOpsetImport), modelMetadata)
	model, err := Decode(m, "")
	if err != nil {
		t.Fatal(err)
	}
	if n := model.Graph.Nodes; len(n) != 1 || n[0].Op != "Foo" || len(n[0].Inputs) != 0 || len(n[0].Attrs) != 0 {
		t.Errorf("nodes: %+v", n)
	}
	if len(model.Opsets) != 0 || len(model.Meta) != 0 || len(model.Graph.Inputs) != 0 {
		t.Errorf("model: %+v", model)
	}
}
