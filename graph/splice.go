package graph

import (
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// message re-emits one protobuf message. Its original fields are walked again and compared with
// the objects they were decoded to: what is equal is copied as it stands, unknown fields and
// fields in an unusual form included; what differs is replaced in its place. The file itself is
// the record of what was there, so that no edit can be lost for want of a "changed" mark.
type message struct {
	e      *encoder
	at     Span // zero: a new message, its fields in the order of the calls
	whole  bool // the message is the whole source, at offset 0
	fields []original
	edits  []*edit
}

// original is a field of the source, its bytes from start to stop.
type original struct {
	field
	stop  int64
	index int // in the message
}

// edit replaces fields of one number: each by its slot, and rest follows the last, or the message
// where there is none.
type edit struct {
	num   protowire.Number
	old   []original
	slots []rope // parallel to old
	rest  rope
}

// child is one element of a repeated message field: unchanged bytes of the source, or new ones.
type child struct {
	at   Span
	body rope
	same bool // body is what the source has at the span
}

func (w *message) fresh() bool { return w.at.Off == 0 && !w.whole }

// of returns the fields of a number that have one of the wire types: what has another is an unknown
// field to every reader of protobuf.
func (w *message) of(num protowire.Number, types ...protowire.Type) []original {
	var list []original
	for _, f := range w.fields {
		if f.num == num && slices.Contains(types, f.typ) {
			list = append(list, f)
		}
	}
	return list
}

// messages returns the fields of a number that hold bytes: strings and messages.
func (w *message) messages(num protowire.Number) []original { return w.of(num, protowire.BytesType) }

// replace puts r in the place of the old fields of a number.
func (w *message) replace(num protowire.Number, old []original, r rope) {
	ed := &edit{num: num, old: old, slots: make([]rope, len(old))}
	if len(old) > 0 {
		ed.slots[0] = r
	} else {
		ed.rest = r
	}
	w.edits = append(w.edits, ed)
}

// drop removes all fields of the numbers.
func (w *message) drop(nums ...protowire.Number) {
	for _, num := range nums {
		old := w.of(num, protowire.BytesType, protowire.VarintType, protowire.Fixed32Type, protowire.Fixed64Type)
		if len(old) > 0 {
			w.replace(num, old, rope{})
		}
	}
}

// lit puts literal bytes, whole fields, in the place of the old fields of a number.
func (w *message) lit(num protowire.Number, old []original, b []byte) {
	var r rope
	r.bytes(b)
	w.replace(num, old, r)
}

// str sets a string; an empty one counts as absent.
func (w *message) str(num protowire.Number, s string) {
	have, old := "", w.messages(num)
	for _, f := range old {
		have = w.e.str(f)
	}
	switch {
	case have == s:
	case s == "":
		w.replace(num, old, rope{})
	default:
		w.lit(num, old, appendString(nil, num, s))
	}
}

// strs sets a list of strings.
func (w *message) strs(num protowire.Number, list []string) {
	var have []string
	old := w.messages(num)
	for _, f := range old {
		have = append(have, w.e.str(f))
	}
	if slices.Equal(have, list) {
		return
	}
	var b []byte
	for _, s := range list {
		b = appendString(b, num, s)
	}
	w.lit(num, old, b)
}

func appendString(b []byte, num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

// number sets a varint. Zero counts as absent, unless the message is new and always is set.
func (w *message) number(num protowire.Number, v int64, always bool) {
	var have int64
	old := w.of(num, protowire.VarintType)
	for _, f := range old {
		have = int64(f.val)
	}
	if have != v || always && w.fresh() {
		w.lit(num, old, appendVarint(nil, num, uint64(v)))
	}
}

func appendVarint(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

// float sets a float as number sets an integer. It compares bits: NaN is equal to itself, and -0
// is not 0.
func (w *message) float(num protowire.Number, v float32, always bool) {
	var have uint32
	old := w.of(num, protowire.Fixed32Type)
	for _, f := range old {
		have = uint32(f.val)
	}
	if bits := math.Float32bits(v); have != bits || always && w.fresh() {
		w.lit(num, old, appendFloat(nil, num, bits))
	}
}

func appendFloat(b []byte, num protowire.Number, bits uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), bits)
}

// ints sets a list of integers.
func (w *message) ints(num protowire.Number, list []int64) {
	var have []int64
	old := w.of(num, protowire.VarintType, protowire.BytesType)
	for _, f := range old {
		have = check(w.e, func() ([]int64, error) { return w.e.d.ints(f.field, have) })
	}
	if slices.Equal(have, list) {
		return
	}
	var b []byte
	for _, v := range list {
		b = appendVarint(b, num, uint64(v))
	}
	w.lit(num, old, b)
}

// floats sets a list of floats.
func (w *message) floats(num protowire.Number, list []float32) {
	var have []float32
	old := w.of(num, protowire.Fixed32Type, protowire.BytesType)
	for _, f := range old {
		have = check(w.e, func() ([]float32, error) { return w.e.d.floats(f.field, have) })
	}
	if slices.EqualFunc(have, list, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
		return
	}
	var b []byte
	for _, v := range list {
		b = appendFloat(b, num, math.Float32bits(v))
	}
	w.lit(num, old, b)
}

// one sets a singular message.
func (w *message) one(num protowire.Number, c child) { w.children(num, []child{c}) }

// done returns the message's bytes; same tells that they are those of the source.
func (w *message) done() (body rope, same bool) {
	if !w.fresh() && len(w.edits) == 0 {
		body.span(w.e.src, w.at)
		return body, true
	}
	type slot struct {
		edit *edit
		i    int
	}
	slots := map[int]slot{}
	for _, ed := range w.edits {
		for i, f := range ed.old {
			slots[f.index] = slot{ed, i}
		}
	}
	for i, f := range w.fields {
		s, ok := slots[i]
		if !ok {
			body.span(w.e.src, Span{f.start, f.stop - f.start})
			continue
		}
		body.rope(s.edit.slots[s.i])
		if s.i == len(s.edit.old)-1 {
			body.rope(s.edit.rest)
		}
	}
	for _, ed := range w.edits {
		if len(ed.old) == 0 {
			body.rope(ed.rest)
		}
	}
	return body, false
}
