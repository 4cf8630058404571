package graph

import (
	"encoding/binary"
	"fmt"
	"io"
	"unsafe"
)

// reader reads elements from anywhere in a tensor, where [Tensor.Raw] streams all of them. It keeps
// the file of the last tensor open; several goroutines need one each.
type reader struct {
	t     *Tensor
	r     io.ReaderAt
	off   int64
	close func() error
	buf   []float32 // of encode
	bytes []byte    // of floats
}

// reaches tells whether a reader can read the tensor: elements in typed fields have no place of their
// own, those of a double are converted by themselves, and what
// is made from another tensor is nowhere.
func (t *Tensor) reaches() bool {
	if t.base != nil {
		return false
	}
	if t.from != nil {
		_, ok := t.Elem.Format()
		_, known := t.from.Elem.Format()
		return ok && known && t.from.Elem != Double && t.from.reaches()
	}
	return t.Elem != String && (t.External != nil || t.raw.Off != 0 || len(t.lists) == 0)
}

// done closes what is open.
func (r *reader) done() error {
	if r.close == nil {
		return nil
	}
	err := r.close()
	r.t, r.r, r.close = nil, nil, nil
	return err
}

// open finds the elements of a tensor that was not converted.
func (r *reader) open(t *Tensor) (err error) {
	if r.t == t {
		return nil
	}
	if err := r.done(); err != nil {
		return err
	}
	want := t.RawLen()
	switch {
	case t.External != nil:
		var p Place
		if p, err = t.placed(want); err != nil {
			return err
		}
		f, err := t.openExternal(p, want)
		if err != nil {
			return t.wrap(err)
		}
		r.r, r.off, r.close = f, p.Offset, f.Close
	case t.raw.Off != 0:
		if t.raw.Len != want {
			return t.wrap(fmt.Errorf("%s%v takes %d bytes, raw_data has %d", t.Elem, t.Dims, want, t.raw.Len))
		}
		r.r, r.off = t.src, t.raw.Off
	case int64(len(t.mem)) != want:
		return t.wrap(fmt.Errorf("%s%v takes %d bytes, it has %d", t.Elem, t.Dims, want, len(t.mem)))
	default:
		r.r, r.off = bytesSource(t.mem), 0
	}
	r.t = t
	return nil
}

// raw sets b to the bytes of raw_data from off on.
func (r *reader) raw(t *Tensor, off int64, b []byte) error {
	if t.from != nil {
		return r.converted(t, off, b)
	}
	if err := r.open(t); err != nil {
		return err
	}
	if err := readFull(r.r, b, r.off+off, t.RawLen()-off); err != nil {
		return t.wrap(err)
	}
	return nil
}

// converted is raw for a tensor that was converted. Only the file's layout decides where bytes are
// asked for, so that they may begin or end inside of an element.
func (r *reader) converted(t *Tensor, off int64, b []byte) error {
	size := int64(t.Elem.Bits() / 8)
	if head := off % size; head != 0 || int64(len(b)) < size {
		var one [8]byte
		n := min(size-head, int64(len(b)))
		if err := r.encode(t, off/size, one[:size]); err != nil || n == 0 {
			return err
		}
		copy(b[:n], one[head:])
		if off, b = off+n, b[n:]; len(b) == 0 {
			return nil
		}
		return r.converted(t, off, b)
	}
	whole := int64(len(b)) / size * size
	if err := r.encode(t, off/size, b[:whole]); err != nil || whole == int64(len(b)) {
		return err
	}
	return r.converted(t, off+whole, b[whole:])
}

// encode sets b to whole elements of a converted tensor from one on.
func (r *reader) encode(t *Tensor, at int64, b []byte) error {
	f, _ := t.Elem.Format()
	n := len(b) * 8 / f.Bits()
	if cap(r.buf) < n {
		r.buf = make([]float32, n)
	}
	x := r.buf[:n]
	if err := r.floats(t.from, at, x); err != nil {
		return err
	}
	t.scaled.scale(at, x)
	f.AppendEncoded(b[:0], x, t.saturate)
	return nil
}

// floats sets x to the elements of a float tensor from one on.
func (r *reader) floats(t *Tensor, at int64, x []float32) error {
	if f, ok := t.rounds(); ok {
		err := r.floats(t.from, at, x)
		t.round(f, x)
		return err
	}
	if t.Elem == Float && len(x) > 0 { // not by way of a buffer: this is what weights are
		raw := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x))
		err := r.raw(t, 4*at, raw)
		if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
			t.Elem.floats(x, raw)
		}
		return err
	}
	size := int64(t.Elem.Bits() / 8)
	if n := len(x) * int(size); cap(r.bytes) < n {
		r.bytes = make([]byte, n)
	}
	raw := r.bytes[:len(x)*int(size)]
	err := r.raw(t, at*size, raw)
	t.Elem.floats(x, raw)
	return err
}
