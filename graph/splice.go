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
	stop int64
}

// edit replaces the fields of one number: each occurrence by its slot, and rest follows the last,
// or the message where there is none.
type edit struct {
	num   protowire.Number
	slots []rope
	rest  rope
}

// child is one element of a repeated message field: unchanged bytes of the source, or new ones.
type child struct {
	at   Span
	body rope
	same bool // body is what the source has at the span
}

func (w *message) fresh() bool { return w.at.Off == 0 && !w.whole }

// of returns the fields of a number.
func (w *message) of(num protowire.Number) []original {
	var list []original
	for _, f := range w.fields {
		if f.num == num {
			list = append(list, f)
		}
	}
	return list
}

// replace puts r in the place of all fields of a number.
func (w *message) replace(num protowire.Number, r rope) {
	ed := &edit{num: num, slots: make([]rope, len(w.of(num)))}
	if len(ed.slots) > 0 {
		ed.slots[0] = r
	} else {
		ed.rest = r
	}
	w.edits = append(w.edits, ed)
}

// drop removes all fields of the numbers.
func (w *message) drop(nums ...protowire.Number) {
	for _, num := range nums {
		if len(w.of(num)) > 0 {
			w.replace(num, rope{})
		}
	}
}

// lit puts literal bytes, whole fields, in the place of all fields of a number.
func (w *message) lit(num protowire.Number, b []byte) {
	var r rope
	r.bytes(b)
	w.replace(num, r)
}

// str sets a string; an empty one counts as absent.
func (w *message) str(num protowire.Number, s string) {
	have := ""
	for _, f := range w.of(num) {
		have = w.e.str(f)
	}
	switch {
	case have == s:
	case s == "":
		w.drop(num)
	default:
		w.lit(num, appendString(nil, num, s))
	}
}

// strs sets a list of strings.
func (w *message) strs(num protowire.Number, list []string) {
	var have []string
	for _, f := range w.of(num) {
		have = append(have, w.e.str(f))
	}
	if slices.Equal(have, list) {
		return
	}
	var b []byte
	for _, s := range list {
		b = appendString(b, num, s)
	}
	w.lit(num, b)
}

func appendString(b []byte, num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}

// number sets a varint. Zero counts as absent, unless the message is new and always is set.
func (w *message) number(num protowire.Number, v int64, always bool) {
	var have int64
	for _, f := range w.of(num) {
		have = int64(f.val)
	}
	if have != v || always && w.fresh() {
		w.lit(num, appendVarint(nil, num, uint64(v)))
	}
}

func appendVarint(b []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

// float sets a float as number sets an integer. It compares bits: NaN is equal to itself, and -0
// is not 0.
func (w *message) float(num protowire.Number, v float32, always bool) {
	var have uint32
	for _, f := range w.of(num) {
		have = uint32(f.val)
	}
	if bits := math.Float32bits(v); have != bits || always && w.fresh() {
		w.lit(num, appendFloat(nil, num, bits))
	}
}

func appendFloat(b []byte, num protowire.Number, bits uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), bits)
}

// ints sets a list of integers.
func (w *message) ints(num protowire.Number, list []int64) {
	var have []int64
	for _, f := range w.of(num) {
		have = check(w.e, func() ([]int64, error) { return w.e.d.ints(f.field, have) })
	}
	if slices.Equal(have, list) {
		return
	}
	var b []byte
	for _, v := range list {
		b = appendVarint(b, num, uint64(v))
	}
	w.lit(num, b)
}

// floats sets a list of floats.
func (w *message) floats(num protowire.Number, list []float32) {
	var have []float32
	for _, f := range w.of(num) {
		have = check(w.e, func() ([]float32, error) { return w.e.d.floats(f.field, have) })
	}
	if slices.EqualFunc(have, list, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
		return
	}
	var b []byte
	for _, v := range list {
		b = appendFloat(b, num, math.Float32bits(v))
	}
	w.lit(num, b)
}

// one sets a singular message.
func (w *message) one(num protowire.Number, c child) { w.children(num, []child{c}) }

// done returns the message's bytes; same tells that they are those of the source.
func (w *message) done() (body rope, same bool) {
	if !w.fresh() && len(w.edits) == 0 {
		body.span(w.e.src, w.at)
		return body, true
	}
	next := make(map[*edit]int, len(w.edits))
	byNum := make(map[protowire.Number]*edit, len(w.edits))
	for _, ed := range w.edits {
		byNum[ed.num] = ed
	}
	for _, f := range w.fields {
		ed := byNum[f.num]
		if ed == nil {
			body.span(w.e.src, Span{f.start, f.stop - f.start})
			continue
		}
		body.rope(ed.slots[next[ed]])
		if next[ed]++; next[ed] == len(ed.slots) {
			body.rope(ed.rest)
		}
	}
	for _, ed := range w.edits {
		if len(ed.slots) == 0 {
			body.rope(ed.rest)
		}
	}
	return body, false
}
