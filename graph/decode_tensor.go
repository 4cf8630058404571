package graph

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

func (d *decoder) tensor(f field) (*Tensor, error) {
	t := &Tensor{at: f.at, src: d.src, model: d.m}
	location := int64(0)
	err := d.message(f, func(f field) (err error) {
		switch f.num {
		case tensorDims:
			t.Dims, err = d.ints(f, t.Dims)
		case tensorDataType:
			err = set(&t.Elem, f, d.elem)
		case tensorName:
			err = d.setStr(&t.Name, f)
		case tensorDoc:
			err = d.setStr(&t.Doc, f)
		case tensorRawData:
			if f.typ == protowire.BytesType {
				t.raw = f.at
			}
		case tensorExternal:
			t.External, err = d.entry(f, t.External)
		case tensorLocation:
			err = d.setInt(&location, f)
		case tensorFloatData, tensorInt32Data, tensorInt64Data, tensorDoubleData, tensorUint64Data, tensorStringData:
			t.addList(f, d.off)
		case tensorSegment:
			err = d.errorf("segmented tensors are not supported by the standard's own tools either")
		}
		return err
	})
	if location != 1 {
		t.External = nil
	}
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return t, nil
}

// addList notes a run of a typed field. Elements written one by one (not packed) extend the run,
// so a list costs the same however it is written.
func (t *Tensor) addList(f field, stop int64) {
	switch {
	case f.typ != listType(f.num) && (f.typ != protowire.BytesType || f.num == tensorStringData):
		return // an unknown field
	case f.typ == protowire.BytesType && f.num != tensorStringData:
		t.lists = append(t.lists, list{int32(f.num), true, f.at})
		return
	}
	if k := len(t.lists) - 1; k >= 0 && !t.lists[k].packed && t.lists[k].num == int32(f.num) && t.lists[k].at.end() == f.start {
		t.lists[k].at.Len = stop - t.lists[k].at.Off
		return
	}
	t.lists = append(t.lists, list{int32(f.num), false, Span{f.start, stop - f.start}})
}

// listType is the wire type of one entry of a typed field that is not packed.
func listType(num protowire.Number) protowire.Type {
	switch num {
	case tensorFloatData:
		return protowire.Fixed32Type
	case tensorDoubleData:
		return protowire.Fixed64Type
	case tensorStringData:
		return protowire.BytesType
	}
	return protowire.VarintType
}

// check refuses a header that lies about its elements, before anything is allocated for them.
func (t *Tensor) check() error {
	n, err := elements(t.Dims)
	if err != nil {
		return err
	}
	if t.External != nil || t.Elem == String || t.Elem.Bits() == 0 || t.mem != nil {
		return nil
	}
	want := rawLen(t.Elem, n)
	if t.raw.Off != 0 {
		if t.raw.Len != want {
			return fmt.Errorf("%s%v takes %d bytes, raw_data has %d", t.Elem, t.Dims, want, t.raw.Len)
		}
		return nil
	}
	var have int64
	for _, l := range t.lists {
		have += l.at.Len
	}
	if n > 0 && have < n/int64(max(1, 8/t.Elem.Bits())) { // at least a byte an element
		return fmt.Errorf("%s%v has %d bytes of elements", t.Elem, t.Dims, have)
	}
	return nil
}

func (d *decoder) sparse(f field) (*SparseInit, error) {
	s := &SparseInit{at: f.at}
	err := d.message(f, func(f field) (err error) {
		switch f.num {
		case sparseValues:
			s.Values, err = one(d, f, s.Values, d.tensor)
		case sparseIndices:
			s.Indices, err = one(d, f, s.Indices, d.tensor)
		case sparseDims:
			s.Dims, err = d.ints(f, s.Dims)
		}
		return err
	})
	if err == nil {
		_, err = elements(s.Dims)
	}
	if err == nil && (s.Values == nil || s.Indices == nil) {
		err = d.errorf("a sparse tensor without values or indices")
	}
	return s, err
}

// ints appends the numbers of a repeated integer field, packed or not.
func (d *decoder) ints(f field, list []int64) ([]int64, error) {
	if f.typ == protowire.VarintType {
		return append(list, int64(f.val)), nil
	}
	b, err := d.bytes(f)
	if err != nil {
		return list, err
	}
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return list, d.errorf("field %d is cut off", f.num)
		}
		list, b = append(list, int64(v)), b[n:]
	}
	return list, nil
}

func (d *decoder) floats(f field, list []float32) ([]float32, error) {
	if f.typ == protowire.Fixed32Type {
		return append(list, math.Float32frombits(uint32(f.val))), nil
	}
	b, err := d.bytes(f)
	if err != nil {
		return list, err
	}
	for len(b) > 0 {
		v, n := protowire.ConsumeFixed32(b)
		if n < 0 {
			return list, d.errorf("field %d is cut off", f.num)
		}
		list, b = append(list, math.Float32frombits(v)), b[n:]
	}
	return list, nil
}

func (d *decoder) attribute(f field, list []*Attr) ([]*Attr, error) {
	a := &Attr{at: f.at}
	err := d.message(f, func(f field) error { return d.attrField(a, f) })
	if err != nil {
		return list, fmt.Errorf("attribute %q: %w", a.Name, err)
	}
	if a.Type == AttrUndefined && a.Ref == "" {
		a.Type = a.guess()
	}
	return append(list, a), nil
}

func (d *decoder) attrField(a *Attr, f field) (err error) {
	switch f.num {
	case attrName:
		err = d.setStr(&a.Name, f)
	case attrDoc:
		err = d.setStr(&a.Doc, f)
	case attrRefName:
		err = d.setStr(&a.Ref, f)
	case attrType:
		err = set(&a.Type, f, func(f field) (AttrType, error) { v, err := d.varint(f); return AttrType(v), err })
	case attrFloat:
		if f.typ != protowire.Fixed32Type {
			return wrongType{d.errorf("f has wire type %d", f.typ)}
		}
		a.F = math.Float32frombits(uint32(f.val))
	case attrInt:
		err = d.setInt(&a.I, f)
	case attrString:
		err = d.setStr(&a.S, f)
	case attrFloats:
		a.Floats, err = d.floats(f, a.Floats)
	case attrInts:
		a.Ints, err = d.ints(f, a.Ints)
	case attrStrings:
		a.Strings, err = d.strs(f, a.Strings)
	default:
		err = d.attrObject(a, f)
	}
	return err
}

// one decodes a message that may stand once.
func one[T any](d *decoder, f field, old *T, decode func(field) (*T, error)) (*T, error) {
	if err := d.single(f, old != nil); err != nil {
		return old, err
	}
	return decode(f)
}

func (d *decoder) subgraph(f field) (*Graph, error) { return d.graph(f, SubGraph) }

func (d *decoder) attrObject(a *Attr, f field) (err error) {
	switch f.num {
	case attrTensor:
		a.Tensor, err = one(d, f, a.Tensor, d.tensor)
	case attrTensors:
		var t *Tensor
		t, err = d.tensor(f)
		if err == nil {
			a.Tensors = append(a.Tensors, t)
		}
	case attrGraph:
		a.Graph, err = one(d, f, a.Graph, d.subgraph)
	case attrGraphs:
		var g *Graph
		g, err = d.subgraph(f)
		if err == nil {
			a.Graphs = append(a.Graphs, g)
		}
	case attrSparse:
		a.Sparse, err = one(d, f, a.Sparse, d.sparse)
	case attrTypeProto, attrTypeProtos:
		var t Type
		t, err = d.typ(f)
		if err == nil {
			a.Types = append(a.Types, t)
		}
	}
	return err
}

// guess tells the type of an attribute of IR versions below 2, which had no type field.
func (a *Attr) guess() AttrType {
	switch {
	case a.Tensor != nil:
		return AttrTensor
	case a.Graph != nil:
		return AttrGraph
	case a.Floats != nil:
		return AttrFloats
	case a.Ints != nil:
		return AttrInts
	case a.Strings != nil:
		return AttrStrings
	case a.S != "":
		return AttrString
	case a.F != 0:
		return AttrFloat
	}
	return AttrInt
}
