package onnxtxt

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amplint/amplint/graph"
)

// float32From rounds without losing the sign of NaN.
func float32From(v float64) float32 { return math.Float32frombits(float32Bits(v)) }

func (a *attrAST) encode() message {
	var out message
	out.str(attrName, a.name)
	if a.typ != graph.AttrUndefined {
		out.int(attrType, int64(a.typ))
	}
	if a.ref != "" {
		out.str(attrRef, a.ref)
		return out
	}
	a.numbers(&out)
	a.objects(&out)
	return out
}

// pick returns the field of the single value or that of the list.
func (a *attrAST) pick(one, many protowire.Number) protowire.Number {
	if single(a.typ) != 0 {
		return many
	}
	return one
}

func (a *attrAST) numbers(out *message) {
	for _, f := range a.f {
		out.fixed32(a.pick(attrF, attrFloats), math.Float32bits(f))
	}
	for _, i := range a.i {
		out.int(a.pick(attrI, attrInts), i)
	}
	for _, s := range a.s {
		out.str(a.pick(attrS, attrStrings), s)
	}
}

func (a *attrAST) objects(out *message) {
	for _, t := range a.tensors {
		out.bytes(a.pick(attrT, attrTensors), t.encode())
	}
	for _, g := range a.graphs {
		out.bytes(a.pick(attrG, attrGraphs), g.encode())
	}
	for _, s := range a.sparse {
		out.bytes(a.pick(attrSparse, attrSparses), s.encode())
	}
	for _, t := range a.types {
		out.bytes(a.pick(attrTP, attrTPs), t.encode())
	}
}

func (t *tensorAST) encode() message {
	var out message
	for _, d := range t.dims {
		out.int(tensorDims, d)
	}
	out.int(tensorType, int64(t.elem))
	for _, s := range t.strings {
		out.str(tensorStrings, s)
	}
	out.strIf(tensorName, t.name)
	switch {
	case t.external != nil:
		out.entries(tensorExternal, t.external)
		out.int(tensorLocation, 1)
	case t.elem != graph.String:
		out.bytes(tensorRaw, t.raw)
	}
	return out
}

func (s *sparseAST) encode() message {
	var out message
	out.bytes(sparseValues, s.values.encode())
	out.bytes(sparseIndices, s.indices.encode())
	for _, d := range s.dims {
		out.int(sparseDims, d)
	}
	return out
}

func (t typeAST) encode() message {
	var in, out message
	var num protowire.Number
	switch t.kind {
	case graph.KindTensor, graph.KindSparse:
		num = typeTensor
		if t.kind == graph.KindSparse {
			num = typeSparse
		}
		in.int(typeElem, int64(t.elem))
		if t.ranked {
			in.bytes(typeShape, encodeShape(t.shape))
		}
	case graph.KindMap:
		num = typeMap
		in.int(typeElem, int64(t.elem))
		in.bytes(typeShape, t.of.encode())
	case graph.KindOpaque:
		num = typeOpaque
		in.strIf(opaqueDomain, t.domain)
		in.strIf(opaqueName, t.name)
	case graph.KindSequence, graph.KindOptional:
		num = typeSeq
		if t.kind == graph.KindOptional {
			num = typeOptional
		}
		in.bytes(typeElem, t.of.encode())
	}
	out.bytes(num, in)
	return out
}

func encodeShape(dims []dimAST) message {
	var out message
	for _, d := range dims {
		var b message
		switch {
		case d.sym != "":
			b.str(dimParam, d.sym)
		case d.known:
			b.int(dimValue, d.n)
		}
		out.bytes(shapeDim, b)
	}
	return out
}
