package onnxtxt

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/amplint/amplint/graph"
)

// encode returns the bytes of the ModelProto.
func (m *modelAST) encode() []byte {
	var out message
	if m.has["ir_version"] {
		out.int(modelIR, m.irVersion)
	}
	for _, f := range []struct {
		key   string
		num   protowire.Number
		value string
	}{
		{"producer_name", modelProducer, m.producer}, {"producer_version", modelProducerVer, m.producerVer},
		{"domain", modelDomain, m.domain}, {"doc_string", modelDoc, m.doc},
	} {
		if m.has[f.key] {
			out.str(f.num, f.value)
		}
	}
	if m.has["model_version"] {
		out.int(modelVersion, m.version)
	}
	out.bytes(modelGraph, m.graph.encode())
	out.opsets(modelOpsets, m.opsets)
	out.entries(modelMeta, m.meta)
	for _, f := range m.functions {
		out.bytes(modelFunctions, f.encode())
	}
	return out
}

func (m *message) opsets(num protowire.Number, list []graph.Opset) {
	for _, o := range list {
		var b message
		b.str(entryKey, o.Domain)
		b.int(entryValue, o.Version)
		m.bytes(num, b)
	}
}

func (m *message) entries(num protowire.Number, list []graph.Entry) {
	for _, e := range list {
		var b message
		b.str(entryKey, e.Key)
		b.str(entryValue, e.Value)
		m.bytes(num, b)
	}
}

func (m *message) infos(num protowire.Number, list []infoAST) {
	for _, vi := range list {
		var b message
		b.str(infoName, vi.name)
		if vi.typed {
			b.bytes(infoType, vi.typ.encode())
		}
		m.bytes(num, b)
	}
}

func (f *functionAST) encode() message {
	var out message
	out.str(funcName, f.name)
	for _, vi := range f.inputs {
		out.str(funcInput, vi.name)
	}
	for _, vi := range f.outputs {
		out.str(funcOutput, vi.name)
	}
	for _, name := range f.attrs {
		out.str(funcAttr, name)
	}
	for _, n := range f.body.nodes {
		out.bytes(funcNode, n.encode())
	}
	out.strIf(funcDoc, f.doc)
	out.opsets(funcOpsets, f.opsets)
	out.strIf(funcDomain, f.domain)
	for _, a := range f.defaults {
		out.bytes(funcDefaults, a.encode())
	}
	out.infos(funcInfo, f.body.infos)
	out.strIf(funcOverload, f.overload)
	return out
}

func (g *graphAST) encode() message {
	var out message
	for _, n := range g.nodes {
		out.bytes(graphNode, n.encode())
	}
	out.str(graphName, g.name)
	for _, t := range g.inits {
		out.bytes(graphInit, t.encode())
	}
	out.infos(graphInput, g.inputs)
	out.infos(graphOutput, g.outputs)
	out.infos(graphInfo, g.infos)
	for _, s := range g.sparse {
		out.bytes(graphSparse, s.encode())
	}
	return out
}

func (n *nodeAST) encode() message {
	var out message
	for _, id := range n.inputs {
		out.str(nodeInput, id.name)
	}
	for _, id := range n.outputs {
		out.str(nodeOutput, id.name)
	}
	if n.named {
		out.str(nodeName, n.name)
	}
	out.str(nodeOp, n.op)
	for _, a := range n.attrs {
		out.bytes(nodeAttr, a.encode())
	}
	out.strIf(nodeDomain, n.domain)
	out.strIf(nodeOverload, n.overload)
	return out
}
