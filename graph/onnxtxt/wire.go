package onnxtxt

import "google.golang.org/protobuf/encoding/protowire"

// message is a protobuf message under construction. Fields without a value are left out by the
// callers, as the reference's own encoder does.
type message []byte

func (m *message) bytes(num protowire.Number, b []byte) {
	*m = protowire.AppendTag(*m, num, protowire.BytesType)
	*m = protowire.AppendBytes(*m, b)
}

func (m *message) str(num protowire.Number, s string) {
	*m = protowire.AppendTag(*m, num, protowire.BytesType)
	*m = protowire.AppendString(*m, s)
}

// strIf writes a string that is not empty.
func (m *message) strIf(num protowire.Number, s string) {
	if s != "" {
		m.str(num, s)
	}
}

func (m *message) int(num protowire.Number, v int64) {
	*m = protowire.AppendTag(*m, num, protowire.VarintType)
	*m = protowire.AppendVarint(*m, uint64(v))
}

func (m *message) fixed32(num protowire.Number, v uint32) {
	*m = protowire.AppendTag(*m, num, protowire.Fixed32Type)
	*m = protowire.AppendFixed32(*m, v)
}

// Field numbers of the ONNX standard, by message. They never change.
const (
	modelIR, modelProducer, modelProducerVer, modelDomain, modelVersion, modelDoc = 1, 2, 3, 4, 5, 6
	modelGraph, modelOpsets, modelMeta, modelFunctions                            = 7, 8, 14, 25

	graphNode, graphName, graphInit, graphInput, graphOutput, graphInfo, graphSparse = 1, 2, 5, 11, 12, 13, 15

	nodeInput, nodeOutput, nodeName, nodeOp, nodeAttr, nodeDomain, nodeOverload = 1, 2, 3, 4, 5, 7, 8

	attrName, attrF, attrI, attrS, attrT, attrG, attrFloats, attrInts, attrStrings       = 1, 2, 3, 4, 5, 6, 7, 8, 9
	attrTensors, attrGraphs, attrTP, attrTPs, attrType, attrRef, attrSparse, attrSparses = 10, 11, 14, 15, 20, 21, 22, 23

	tensorDims, tensorType, tensorStrings, tensorName, tensorRaw, tensorExternal, tensorLocation = 1, 2, 6, 8, 9, 13, 14

	sparseValues, sparseIndices, sparseDims = 1, 2, 3

	infoName, infoType = 1, 2

	typeTensor, typeSeq, typeMap, typeOpaque, typeSparse, typeOptional = 1, 4, 5, 7, 8, 9
	typeElem, typeShape, shapeDim, dimValue, dimParam                  = 1, 2, 1, 1, 2 // a map's key and value are 1 and 2 too
	opaqueDomain, opaqueName                                           = 1, 2

	funcName, funcInput, funcOutput, funcAttr, funcNode, funcDoc, funcOpsets = 1, 4, 5, 6, 7, 8, 9
	funcDomain, funcDefaults, funcInfo, funcOverload                         = 10, 11, 12, 13

	entryKey, entryValue = 1, 2 // an opset's domain and version too
)
