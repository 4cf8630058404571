package graph

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

func (e *encoder) infoChild(vi *ValueInfo) child {
	w := e.open(vi.at)
	w.str(infoName, vi.Name)
	old := w.messages(infoType)
	switch {
	case len(old) == 0 && vi.Type.Kind != KindUnknown:
		w.replace(infoType, old, e.typ(vi.Type, Span{}).wrapped(infoType))
	case len(old) > 0 && !e.typeOf(old[len(old)-1]).Equal(vi.Type):
		w.replace(infoType, old, e.typ(vi.Type, old[len(old)-1].at).wrapped(infoType))
	}
	w.str(infoDoc, vi.Doc)
	w.entries(infoMetadata, vi.Meta)
	body, same := w.done()
	return child{vi.at, body, same}
}

func (e *encoder) typeOf(f original) Type {
	return check(e, func() (Type, error) { return e.d.typ(f.field) })
}

// kindFields are the fields of TypeProto, by kind.
var kindFields = [...]protowire.Number{
	KindTensor: typeTensor, KindSparse: typeSparse, KindSequence: typeSequence,
	KindOptional: typeOptional, KindMap: typeMap, KindOpaque: typeOpaque,
}

// typ encodes a type in place of the one at the span, whose denotation it keeps.
func (e *encoder) typ(t Type, at Span) rope {
	w := e.open(at)
	for kind, num := range kindFields {
		if num != 0 && Kind(kind) != t.Kind {
			w.drop(num)
		}
	}
	if t.Kind != KindUnknown {
		num := kindFields[t.Kind]
		old := w.messages(num)
		w.replace(num, old, e.typeBody(t, single(old)).wrapped(num))
	}
	body, _ := w.done()
	return body
}

// typeBody encodes what a field of TypeProto holds.
func (e *encoder) typeBody(t Type, at Span) rope {
	w := e.open(at)
	switch t.Kind {
	case KindTensor, KindSparse:
		w.number(typeElem, int64(t.Elem), true)
		e.setShape(w, t.Shape)
	case KindMap:
		w.number(typeElem, int64(t.Elem), true)
		e.setOf(w, typeShape, t.Of)
	case KindSequence, KindOptional:
		e.setOf(w, typeElem, t.Of)
	}
	body, _ := w.done()
	return body
}

func (e *encoder) setOf(w *message, num protowire.Number, of *Type) {
	if old := w.messages(num); of != nil {
		w.replace(num, old, e.typ(*of, single(old)).wrapped(num))
	}
}

// single returns where the only field of a list lies. Several are merged by readers: these are
// written anew.
func single(list []original) Span {
	if len(list) == 1 {
		return list[0].at
	}
	return Span{}
}

// setShape sets the shape of a tensor type; an unknown rank is no shape at all.
func (e *encoder) setShape(w *message, s Shape) {
	var have Shape
	old := w.messages(typeShape)
	for _, f := range old {
		have = check(e, func() (Shape, error) { return e.d.shape(f.field) })
	}
	if slices.Equal(have, s) && (have == nil) == (s == nil) {
		return
	}
	if s == nil {
		w.replace(typeShape, old, rope{})
		return
	}
	var r rope
	for _, d := range s {
		var dim rope
		switch {
		case d.Sym != "":
			dim.bytes(appendString(nil, dimParam, d.Sym))
		case d.N >= 0:
			dim.bytes(appendVarint(nil, dimValue, uint64(d.N)))
		}
		r.rope(dim.wrapped(shapeDim))
	}
	w.replace(typeShape, old, r.wrapped(typeShape))
}

// Equal tells whether two types are the same, the names of dimensions included.
func (t Type) Equal(o Type) bool {
	if t.Kind != o.Kind || t.Elem != o.Elem || (t.Of == nil) != (o.Of == nil) {
		return false
	}
	if t.Of != nil && !t.Of.Equal(*o.Of) {
		return false
	}
	return slices.Equal(t.Shape, o.Shape) && (t.Shape == nil) == (o.Shape == nil)
}

func equalTypes(a, b []Type) bool { return slices.EqualFunc(a, b, Type.Equal) }
