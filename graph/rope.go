package graph

import (
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// rope is a sequence of bytes that exist in pieces: literal bytes, ranges of a source, and the
// elements of tensors. Its length is known before a byte of it is read.
type rope struct {
	parts []part
	n     int64
}

// part is one piece: lit, or a span of src, or the elements of t.
type part struct {
	lit []byte
	src *Source
	at  Span
	t   *Tensor
}

// len returns how many bytes the part stands for.
func (p part) len() int64 {
	switch {
	case p.lit != nil:
		return int64(len(p.lit))
	case p.src != nil:
		return p.at.Len
	}
	return p.t.RawLen()
}

// bytes appends literal bytes. Small pieces are joined, for there is one around every edit.
func (r *rope) bytes(b []byte) {
	if len(b) == 0 {
		return
	}
	r.n += int64(len(b))
	if k := len(r.parts) - 1; k >= 0 && r.parts[k].lit != nil {
		r.parts[k].lit = append(r.parts[k].lit, b...)
		return
	}
	r.parts = append(r.parts, part{lit: append([]byte{}, b...)})
}

// span appends a range of a source; neighbours become one range.
func (r *rope) span(src *Source, at Span) {
	if at.Len == 0 {
		return
	}
	r.n += at.Len
	if k := len(r.parts) - 1; k >= 0 && r.parts[k].src == src && r.parts[k].at.end() == at.Off {
		r.parts[k].at.Len += at.Len
		return
	}
	r.parts = append(r.parts, part{src: src, at: at})
}

// tensor appends the elements of a tensor.
func (r *rope) tensor(t *Tensor) {
	r.n += t.RawLen()
	r.parts = append(r.parts, part{t: t})
}

func (r *rope) rope(o rope) {
	for _, p := range o.parts {
		switch {
		case p.lit != nil:
			r.bytes(p.lit)
		case p.src != nil:
			r.span(p.src, p.at)
		default:
			r.tensor(p.t)
		}
	}
}

// wrapped returns the rope as a length-delimited field.
func (r rope) wrapped(num protowire.Number) rope {
	var w rope
	w.bytes(protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.BytesType), uint64(r.n)))
	w.rope(r)
	return w
}

// writeTo streams the rope.
func (r rope) writeTo(w io.Writer) (int64, error) {
	var n int64
	write := func(b []byte) error {
		k, err := w.Write(b)
		n += int64(k)
		return err
	}
	for _, p := range r.parts {
		var err error
		switch {
		case p.lit != nil:
			err = write(p.lit)
		case p.src != nil:
			err = p.src.stream(p.at, write)
		default:
			err = p.t.Raw(write)
		}
		if err != nil {
			return n, err
		}
	}
	if n != r.n {
		return n, fmt.Errorf("wrote %d bytes where %d were announced", n, r.n)
	}
	return n, nil
}
