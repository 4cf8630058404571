package graph

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// Source is the file (or memory) that a model was read from.
type Source struct {
	r    io.ReaderAt
	mem  []byte // the whole source where it is in memory
	size int64
}

// Span is a range of bytes of a [Source]. A zero offset means "nowhere": the object was made in
// memory (no child message can lie at offset 0, a tag stands before it).
type Span struct{ Off, Len int64 }

func (s Span) end() int64 { return s.Off + s.Len }

// bytesSource wraps bytes that are in memory already.
func bytesSource(b []byte) *Source { return &Source{mem: b, size: int64(len(b))} }

// ReadAt reads len(p) bytes at off.
func (s *Source) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > s.size {
		return 0, io.EOF
	}
	if s.mem != nil {
		n := copy(p, s.mem[off:])
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	}
	if s.r == nil {
		return 0, io.EOF
	}
	return s.r.ReadAt(p, off)
}

// window is how much a cursor reads ahead. Larger windows lose: a tensor's bytes are jumped over,
// and what was read of them is waste. Smaller ones cost a system call for every few nodes.
const window = 16 << 10

// cursor walks protobuf fields of a source without holding more than a window of it.
type cursor struct {
	src  *Source
	win  []byte
	base int64 // offset of win[0]
	off  int64
	end  int64 // end of the message being walked

	groups int // that the cursor is in
}

func newCursor(s *Source) *cursor {
	c := &cursor{src: s, end: s.size}
	if s.mem != nil {
		c.win = s.mem
	}
	return c
}

// field is one field of a message: its number, wire type and where it lies.
type field struct {
	num   protowire.Number
	typ   protowire.Type
	start int64  // of the tag
	val   uint64 // value of varint and fixed fields
	at    Span   // payload of length-delimited fields
}

// peek returns at least n bytes at the cursor, fewer only at the end of the message.
func (c *cursor) peek(n int64) ([]byte, error) {
	n = min(n, c.end-c.off)
	lo := c.off - c.base
	if lo < 0 || lo+n > int64(len(c.win)) {
		if err := c.fill(n); err != nil {
			return nil, err
		}
		lo = c.off - c.base
	}
	return c.win[lo:min(int64(len(c.win)), lo+c.end-c.off)], nil
}

func (c *cursor) fill(n int64) error {
	size := min(max(n, window), c.src.size-c.off)
	if size < n {
		return c.errorf("the file ends here")
	}
	if int64(cap(c.win)) < size || c.src.mem != nil {
		c.win = make([]byte, size)
	}
	c.win, c.base = c.win[:size], c.off
	if k, err := c.src.ReadAt(c.win, c.off); err != nil && (err != io.EOF || int64(k) < size) {
		return fmt.Errorf("reading %d bytes at offset %d: %w", size, c.off, err)
	}
	return nil
}

// next reads one field's tag and its value; length-delimited payloads are located, not read. The
// cursor stands behind the field afterwards. ok is false at the end of the message.
func (c *cursor) next() (f field, ok bool, err error) {
	if c.off >= c.end {
		return f, false, nil
	}
	b, err := c.peek(24)
	if err != nil {
		return f, false, err
	}
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return f, false, c.errorf("broken field tag")
	}
	f = field{num: num, typ: typ, start: c.off}
	k, err := c.value(&f, b[n:], int64(n))
	if err != nil {
		return f, false, err
	}
	c.off += int64(n) + k
	return f, true, nil
}

// value decodes what follows a tag of n bytes and returns its length.
func (c *cursor) value(f *field, b []byte, n int64) (int64, error) {
	k := 0
	switch f.typ {
	case protowire.VarintType:
		f.val, k = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		var v uint32
		v, k = protowire.ConsumeFixed32(b)
		f.val = uint64(v)
	case protowire.Fixed64Type:
		f.val, k = protowire.ConsumeFixed64(b)
	case protowire.BytesType:
		var l uint64
		if l, k = protowire.ConsumeVarint(b); k >= 0 {
			f.at = Span{c.off + n + int64(k), int64(l)}
			if l > uint64(c.end-f.at.Off) {
				return 0, c.errorf("field %d claims %d bytes, %d are left", f.num, l, c.end-f.at.Off)
			}
			return int64(k) + int64(l), nil
		}
	case protowire.StartGroupType:
		return c.group(f, n)
	case protowire.EndGroupType:
		return 0, nil
	default:
		return 0, c.errorf("field %d has wire type %d", f.num, f.typ)
	}
	if k < 0 {
		return 0, c.errorf("field %d is cut off", f.num)
	}
	return int64(k), nil
}

// group walks over a group, an old kind of message that ends with a tag of its own. The standard has
// none, so it can only be an unknown field.
func (c *cursor) group(f *field, n int64) (int64, error) {
	if c.groups++; c.groups > maxDepth {
		return 0, c.errorf("groups nested more than %d deep", maxDepth)
	}
	start := c.off
	c.off += n
	defer func() { c.off, c.groups = start, c.groups-1 }()
	for {
		inner, ok, err := c.next()
		switch {
		case err != nil:
			return 0, err
		case !ok:
			return 0, c.errorf("group %d does not end", f.num)
		case inner.typ == protowire.EndGroupType && inner.num == f.num:
			return c.off - start - n, nil
		case inner.typ == protowire.EndGroupType:
			return 0, c.errorf("group %d ends as %d", f.num, inner.num)
		}
	}
}

// maxMessage bounds what is ever read at once apart from tensor data: names, doc strings, small
// lists. The standard's own files stay far below it.
const maxMessage = 1 << 28

// bytes returns the payload of a length-delimited field; it is valid until the next call.
func (c *cursor) bytes(f field) ([]byte, error) {
	if f.typ != protowire.BytesType {
		return nil, wrongType{c.errorf("field %d has wire type %d, not a length", f.num, f.typ)}
	}
	if f.at.Len > maxMessage {
		return nil, c.errorf("field %d of %d bytes is too long", f.num, f.at.Len)
	}
	save := *c
	c.off, c.end = f.at.Off, f.at.end()
	b, err := c.peek(f.at.Len)
	c.off, c.end = save.off, save.end
	return b[:min(int64(len(b)), f.at.Len)], err
}

func (c *cursor) str(f field) (string, error) {
	b, err := c.bytes(f)
	return string(b), err
}

// wrongType marks a field whose wire type is not that of the standard. Such a field is unknown, as it is to every
// protobuf library: it is skipped, and copied when the model is saved.
type wrongType struct{ error }

// each walks the fields of the message at the span and leaves the cursor where it was.
func (c *cursor) each(at Span, visit func(field) error) error {
	off, end := c.off, c.end
	c.off, c.end = at.Off, at.end()
	defer func() { c.off, c.end = off, end }()
	for {
		f, ok, err := c.next()
		if err != nil || !ok {
			return err
		}
		if f.typ == protowire.EndGroupType {
			return c.errorf("group %d ends without a beginning", f.num)
		}
		here := c.off
		if err := visit(f); err != nil && !errors.As(err, new(wrongType)) {
			return err
		}
		c.off = here
	}
}

// message walks the fields of a sub-message.
func (c *cursor) message(f field, visit func(field) error) error {
	if f.typ != protowire.BytesType {
		return wrongType{c.errorf("field %d has wire type %d, not a message", f.num, f.typ)}
	}
	return c.each(f.at, visit)
}

func (c *cursor) errorf(format string, args ...any) error {
	return fmt.Errorf("at byte %d: "+format, append([]any{c.off}, args...)...)
}

// varint checks that a field carries a number.
func (c *cursor) varint(f field) (int64, error) {
	if f.typ != protowire.VarintType {
		return 0, wrongType{c.errorf("field %d has wire type %d, not a number", f.num, f.typ)}
	}
	return int64(f.val), nil
}

// set decodes a field into a place, which keeps what it has where the field has a wrong wire type.
func set[T any](to *T, f field, decode func(field) (T, error)) error {
	v, err := decode(f)
	if err == nil {
		*to = v
	}
	return err
}

func (c *cursor) setStr(to *string, f field) error { return set(to, f, c.str) }

func (c *cursor) setInt(to *int64, f field) error { return set(to, f, c.varint) }
