package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// visitBytes streams bytes that are in memory without copying them.
func visitBytes(b []byte, visit func([]byte) error) error {
	for len(b) > 0 {
		n := min(len(b), chunkBytes)
		if err := visit(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// spans streams n bytes at off through one buffer. pread rather than a mapping: mapped pages count
// as memory of the process, and a file cut off while it is read would end the process.
func spans(r io.ReaderAt, off, n int64, visit func([]byte) error) error {
	buf := make([]byte, min(n, chunkBytes))
	for n > 0 {
		b := buf[:min(n, chunkBytes)]
		if err := readFull(r, b, off, n); err != nil {
			return readError{err}
		}
		if err := visit(b); err != nil {
			return err
		}
		off, n = off+int64(len(b)), n-int64(len(b))
	}
	return nil
}

// readFull sets b to the bytes at off, of want that are expected there.
func readFull(r io.ReaderAt, b []byte, off, want int64) error {
	k, err := r.ReadAt(b, off)
	if k < len(b) && (err == nil || errors.Is(err, io.EOF)) {
		return fmt.Errorf("cut off: it ends at byte %d, %d more were expected", off+int64(k), want-int64(k))
	}
	if k < len(b) {
		return err
	}
	return nil
}

// readError tells a failure to read from an error of the visitor.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// inFile streams raw_data.
func (t *Tensor) inFile(want int64, visit func([]byte) error) error {
	if t.raw.Len != want {
		return t.wrap(fmt.Errorf("%s%v takes %d bytes, raw_data has %d", t.Elem, t.Dims, want, t.raw.Len))
	}
	return t.readErr(t.src.stream(t.raw, visit))
}

// stream visits the bytes of a span.
func (s *Source) stream(at Span, visit func([]byte) error) error {
	if s.mem != nil && at.end() <= s.size {
		return visitBytes(s.mem[at.Off:at.end()], visit)
	}
	return spans(s, at.Off, at.Len, visit)
}

// readErr wraps errors of reading and leaves those of a visitor alone.
func (t *Tensor) readErr(err error) error {
	var r readError
	if errors.As(err, &r) {
		return t.wrap(r.error)
	}
	return err
}

// listField returns the typed field that holds elements of the type, and the bytes that one entry
// of it takes in raw_data. Entries of int32_data hold bit patterns of the 16 and 8-bit floats, and
// a byte of packed elements for types below 8 bits.
func (e ElemType) listField() (num int32, width int) {
	switch e {
	case Float, Complex64:
		return tensorFloatData, 4
	case Double, Complex128:
		return tensorDoubleData, 8
	case Int64:
		return tensorInt64Data, 8
	case Uint32:
		return tensorUint64Data, 4
	case Uint64:
		return tensorUint64Data, 8
	case String:
		return tensorStringData, 0
	}
	return tensorInt32Data, max(1, e.Bits()/8)
}

// packed6 makes a visitor of elements of 6 bits, which int32_data holds one by one, from one of
// packed ones. Chunks that it gets hold groups of four elements, but for the last.
func packed6(visit func([]byte) error) func([]byte) error {
	var out []byte
	return func(codes []byte) error {
		out = out[:0]
		bits, n := uint32(0), 0
		for _, c := range codes {
			bits |= uint32(c&63) << n
			for n += 6; n >= 8; n -= 8 {
				out = append(out, byte(bits))
				bits >>= 8
			}
		}
		if n > 0 {
			out = append(out, byte(bits))
		}
		return visit(out)
	}
}

// typed streams the elements of float_data, int32_data and so on.
func (t *Tensor) typed(want int64, visit func([]byte) error) error {
	if t.Elem.Bits() == 6 {
		want, visit = t.Len(), packed6(visit)
	}
	num, width := t.Elem.listField()
	w := listWriter{visit: visit, width: width, isBool: t.Elem == Bool, left: want,
		buf: make([]byte, 0, min(want, chunkBytes))}
	for _, l := range t.lists {
		if l.num != num {
			continue
		}
		if err := w.list(t.src, l); err != nil {
			return t.readErr(err)
		}
	}
	if w.left > 0 {
		return t.wrap(fmt.Errorf("%s%v takes %d bytes of elements, %d are missing", t.Elem, t.Dims, want, w.left))
	}
	return w.flush()
}

// listWriter turns entries of typed fields into raw_data.
type listWriter struct {
	visit  func([]byte) error
	width  int
	isBool bool
	left   int64 // bytes still wanted
	buf    []byte
}

func (w *listWriter) list(src *Source, l list) error {
	c := newCursor(src)
	c.off, c.end = l.at.Off, l.at.end()
	if l.packed {
		return w.packed(c, l.num)
	}
	for {
		f, ok, err := c.next()
		if err != nil {
			return readError{err}
		}
		if !ok {
			return nil
		}
		if err := w.put(f.val); err != nil {
			return err
		}
	}
}

// packed walks a packed list window by window.
func (w *listWriter) packed(c *cursor, num int32) error {
	const longest = 10 // bytes of a varint
	for c.off < c.end {
		b, err := c.peek(longest)
		if err != nil {
			return readError{err}
		}
		last := c.off+int64(len(b)) >= c.end
		for len(b) >= longest || last && len(b) > 0 {
			v, n := consume(b, num)
			if n < 0 {
				return readError{c.errorf("field %d is cut off", num)}
			}
			if err := w.put(v); err != nil {
				return err
			}
			b, c.off = b[n:], c.off+int64(n)
		}
	}
	return nil
}

func consume(b []byte, num int32) (uint64, int) {
	switch num {
	case tensorFloatData:
		v, n := protowire.ConsumeFixed32(b)
		return uint64(v), n
	case tensorDoubleData:
		return protowire.ConsumeFixed64(b)
	}
	return protowire.ConsumeVarint(b)
}

func (w *listWriter) put(v uint64) error {
	if w.left -= int64(w.width); w.left < 0 {
		return readError{errors.New("it has more elements than its shape")}
	}
	if w.isBool && v != 0 {
		v = 1
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	w.buf = append(w.buf, b[:w.width]...)
	if len(w.buf) >= chunkBytes {
		return w.flush()
	}
	return nil
}

func (w *listWriter) flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	err := w.visit(w.buf)
	w.buf = w.buf[:0]
	return err
}

// stringData reads the entries of string_data.
func (t *Tensor) stringData() ([]string, error) {
	var list []string
	c := newCursor(t.src)
	for _, l := range t.lists {
		if l.num != tensorStringData {
			continue
		}
		err := c.each(l.at, func(f field) error {
			s, err := c.str(f)
			list = append(list, s)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
