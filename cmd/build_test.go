package cmd

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amplint/amplint/graph"
)

// pb builds a message field by field; the numbers are those of onnx.proto.
type pb []byte

func (p pb) num(field protowire.Number, v int64) pb {
	return protowire.AppendVarint(protowire.AppendTag(p, field, protowire.VarintType), uint64(v))
}

func (p pb) str(field protowire.Number, s string) pb { return p.msg(field, pb(s)) }

func (p pb) msg(field protowire.Number, m pb) pb {
	return protowire.AppendBytes(protowire.AppendTag(p, field, protowire.BytesType), m)
}

// value is a ValueInfoProto of a float tensor.
func value(name string, elem graph.ElemType, dims ...int64) pb {
	shape := pb{}
	for _, d := range dims {
		shape = shape.msg(1, pb{}.num(1, d))
	}
	tensor := pb{}.num(1, int64(elem)).msg(2, shape)
	return pb{}.str(1, name).msg(2, pb{}.msg(1, tensor))
}

func node(name, op string, out string, in ...string) pb {
	p := pb{}
	for _, s := range in {
		p = p.str(1, s)
	}
	return p.str(2, out).str(3, name).str(4, op)
}

// file is a ModelProto of opset 17 around a graph.
func file(graph pb) []byte {
	return pb{}.num(1, 8).str(2, "builder").str(3, "1.0").msg(7, graph).msg(8, pb{}.num(2, 17))
}

// models are the models of the scripts.
func models() map[string][]byte {
	square := pb{}.str(2, "g").msg(11, value("x", graph.Float, 2, 3)).msg(12, value("y", graph.Float, 2, 3)).
		msg(1, node("sq", "Mul", "s", "x", "x")).msg(1, node("root", "Sqrt", "y", "s"))
	cycle := pb{}.str(2, "g").msg(12, value("y", graph.Float)).
		msg(1, node("a", "Neg", "y", "z")).msg(1, node("b", "Neg", "z", "y"))
	return map[string][]byte{"square": file(square), "cycle": file(cycle)}
}
