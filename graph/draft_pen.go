package graph

import "github.com/amplint/amplint/numfmt"

// penBytes is the size from which a pen writes: a file system takes a block of it in five sixths of the time of
// four of a quarter, and it stays in the second cache of a processor with what it is made of.
const penBytes = 256 << 10

// pen counts elements and writes them to a place, one after the other; several goroutines need one each. The zero
// pen writes nothing.
type pen struct {
	p    *draftPiece
	buf  []byte
	from int64 // the first element in buf
}

// encode takes the elements from one on, and counts them where y is not nil. Where others were taken that do not
// end there, they are to be flushed before.
func (w *pen) encode(from int64, x []float32, y *numfmt.Tally) {
	if len(w.buf) == 0 {
		w.from = from
	}
	writes := w.p != nil && w.p.state.Load() == draftBegun
	var f numfmt.Format
	if writes {
		f, _ = w.p.t.Elem.Format()
		if w.buf == nil {
			w.buf = w.p.buffer()
		}
	}
	switch {
	case writes && y != nil && y.Format() == f:
		w.buf = y.AddEncoded(w.buf, x, w.p.t.saturate)
		return
	case writes:
		w.buf = f.AppendEncoded(w.buf, x, w.p.t.saturate)
	}
	if y != nil {
		y.Add(x)
	}
}

// write writes what was taken where it is enough. It takes the caches of a processor: what is made of the elements
// besides comes before.
func (w *pen) write() {
	if len(w.buf) >= penBytes {
		w.flush()
	}
}

// flush writes what was taken.
func (w *pen) flush() {
	if len(w.buf) == 0 {
		return
	}
	b := draftBlock{w.p, w.buf, w.p.at + w.from*int64(w.p.t.Elem.Bits()/8)}
	w.buf = nil
	w.p.file.later.put(b)
}

// buffer returns what a pen collects elements in: a block and the chunk that fills it, or all of a smaller tensor.
func (p *draftPiece) buffer() []byte {
	return p.file.later.buffer(int(min(penBytes+4*sectionChunk, p.t.Len()*int64(p.t.Elem.Bits()/8))))
}

// draftBlock is bytes of a piece, and where in the file they belong.
type draftBlock struct {
	p   *draftPiece
	buf []byte
	at  int64
}

// write writes a block, or tells that its piece cannot be written.
func (f *draftFile) write(b draftBlock) {
	if _, err := f.w.WriteAt(b.buf, b.at); err != nil {
		b.p.state.Store(draftBroken)
	}
}
