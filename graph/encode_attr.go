package graph

import "google.golang.org/protobuf/encoding/protowire"

func (e *encoder) attrChild(a *Attr) child {
	w := e.open(a.at)
	own := a.Ref == "" // else the value comes from the call
	w.str(attrName, a.Name)
	w.float(attrFloat, a.F, own && a.Type == AttrFloat)
	w.number(attrInt, a.I, own && a.Type == AttrInt)
	w.str(attrString, a.S)
	if w.fresh() && own && a.Type == AttrString && a.S == "" {
		w.lit(attrString, nil, appendString(nil, attrString, ""))
	}
	w.children(attrTensor, childrenOf(some(a.Tensor), e.ownTensor))
	w.children(attrGraph, childrenOf(some(a.Graph), e.graphChild))
	w.floats(attrFloats, a.Floats)
	w.ints(attrInts, a.Ints)
	w.strs(attrStrings, a.Strings)
	w.children(attrTensors, childrenOf(a.Tensors, e.ownTensor))
	w.children(attrGraphs, childrenOf(a.Graphs, e.graphChild))
	w.str(attrDoc, a.Doc)
	e.attrTypes(w, a)
	if len(w.of(attrType, protowire.VarintType)) > 0 || w.fresh() || a.Type != a.guess() { // IR versions below 2 had no such field
		w.number(attrType, int64(a.Type), false)
	}
	w.str(attrRefName, a.Ref)
	w.children(attrSparse, childrenOf(some(a.Sparse), e.sparseChild))
	body, same := w.done()
	return child{a.at, body, same}
}

// some is a list of the object, empty for nil.
func some[T any](p *T) []*T {
	if p == nil {
		return nil
	}
	return []*T{p}
}

func (e *encoder) graphChild(g *Graph) child {
	body, same := e.graph(g)
	return child{g.at, body, same}
}

// attrTypes sets the types of an attribute, which are in one of two fields.
func (e *encoder) attrTypes(w *message, a *Attr) {
	var have []Type
	for _, f := range w.fields { // in the order that they were decoded
		if (f.num == attrTypeProto || f.num == attrTypeProtos) && f.typ == protowire.BytesType {
			have = append(have, e.typeOf(f))
		}
	}
	if equalTypes(have, a.Types) {
		return
	}
	w.drop(attrTypeProto, attrTypeProtos)
	num := protowire.Number(attrTypeProtos)
	if a.Type == AttrTypeProto {
		num = attrTypeProto
	}
	var r rope
	for _, t := range a.Types {
		r.rope(e.typ(t, Span{}).wrapped(num))
	}
	w.replace(num, nil, r)
}

func (e *encoder) sparseChild(s *SparseInit) child {
	w := e.open(s.at)
	w.children(sparseValues, childrenOf(some(s.Values), e.ownTensor))
	w.children(sparseIndices, childrenOf(some(s.Indices), e.ownTensor))
	w.ints(sparseDims, s.Dims)
	body, same := w.done()
	return child{s.at, body, same}
}
