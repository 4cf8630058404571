package graph

import (
	"os"
	"path/filepath"
	"sync/atomic"
)

// Draft is external data that are written while the tensors they are converted from are read for another
// reason, before it is known whether the model will be saved: reading large weights costs more than all that is
// made of them. A save keeps what turns out to stand where it belongs, and writes the rest.
type Draft struct {
	root  *os.Root
	files map[string]*draftFile
}

// draftFile is a temporary file that becomes a file of external data.
type draftFile struct {
	w      *os.File
	temp   string
	pieces map[*Tensor]*draftPiece // by what they are converted from
	later  *later
}

// draftPiece is the place of a converted tensor in a file.
type draftPiece struct {
	file  *draftFile
	t     *Tensor
	at    int64
	state atomic.Int32
}

// The states of a piece. It is written once: what was written in part is left to the save.
const (
	draftEmpty = iota
	draftBegun
	draftWhole
	draftBroken
)

// leastDraft is the size from which a file is worth the temporary one.
const leastDraft = 1 << 20

// Draft begins to write the external data of a model that is likely to be saved in this form, or in one that
// differs in a few tensors. The tensors of which it holds converted ones write themselves when they are read by
// [Tensor.Sections] or [Tensor.FloatsCounted]. It returns nil where there is nothing to write ahead, or no way to:
// then the save tells. A draft is to be discarded, saved or not.
func (m *Model) Draft(path string, opt SaveOptions) *Draft {
	if m.refuses(path, opt) != nil || isStream(path) {
		return nil
	}
	p, _, err := m.layOut(path, opt)
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil
	}
	d := &Draft{root: root, files: map[string]*draftFile{}}
	for _, f := range p.files {
		if filepath.Dir(f.name) == "." && f.rope.n >= leastDraft {
			d.begin(f)
		}
	}
	return d
}

// begin makes the temporary file of one to be saved, where it holds converted tensors.
func (d *Draft) begin(f saveFile) {
	x := &draftFile{pieces: map[*Tensor]*draftPiece{}}
	at := int64(0)
	for _, p := range f.rope.parts {
		if p.t != nil && p.t.reaches() && p.t.Origin() != nil && p.t.from.from == nil {
			x.pieces[p.t.from] = &draftPiece{file: x, t: p.t, at: at}
		}
		at += p.len()
	}
	if len(x.pieces) == 0 {
		return
	}
	var err error
	if x.w, x.temp, err = createTemp(d.root, f.name); err != nil {
		return
	}
	reserve(x.w, f.rope.n)
	x.later = newLater(x.write)
	for t, p := range x.pieces {
		t.stats.draft.Store(p)
	}
	d.files[f.name] = x
}

// Discard ends the draft and removes what no save has taken. It may be called on nil.
func (d *Draft) Discard() {
	if d == nil {
		return
	}
	for _, f := range d.files {
		f.end(true)
		f.w.Close()
		d.root.Remove(f.temp)
	}
	d.files = nil
	d.root.Close()
}

// end lets no tensor write any more, and drops what was not written yet or writes it.
func (f *draftFile) end(drop bool) {
	for t, p := range f.pieces {
		t.stats.draft.CompareAndSwap(p, nil)
	}
	f.later.end(drop)
}

// take hands over the temporary file of one that is saved, which is then the save's to close and remove, and
// tells which of its parts it holds. ok is false where it holds none.
func (d *Draft) take(f saveFile) (w *os.File, temp string, written func(p part, at int64) bool, ok bool) {
	if d == nil || d.files[f.name] == nil {
		return nil, "", nil, false
	}
	x := d.files[f.name]
	x.end(false)
	at, n := int64(0), 0
	for _, p := range f.rope.parts {
		if x.holds(p, at) {
			n++
		}
		at += p.len()
	}
	if n == 0 || x.w.Truncate(f.rope.n) != nil {
		return nil, "", nil, false
	}
	delete(d.files, f.name)
	return x.w, x.temp, x.holds, true
}

// holds tells whether the bytes of a part that begins at a byte of the file were written.
func (f *draftFile) holds(p part, at int64) bool {
	if p.t == nil || p.t.Origin() == nil {
		return false
	}
	x := f.pieces[p.t.from]
	return x != nil && x.at == at && x.t.Elem == p.t.Elem && x.t.saturate == p.t.saturate && x.state.Load() == draftWhole
}

// drafting returns the place that a tensor is to be written to while it is read, nil for none.
func (t *Tensor) drafting() *draftPiece {
	p := t.stats.draft.Load()
	if p == nil || !p.state.CompareAndSwap(draftEmpty, draftBegun) {
		return nil
	}
	return p
}

// reads tells that so many goroutines begin to read what is written here, or end where it is negative. It may be
// called on nil.
func (p *draftPiece) reads(n int) {
	if p != nil {
		p.file.later.read(n)
	}
}

// done tells that all elements were taken, or not. It may be called on nil.
func (p *draftPiece) done(all bool) {
	if p == nil {
		return
	}
	if !all {
		p.state.Store(draftBroken)
	}
	p.state.CompareAndSwap(draftBegun, draftWhole)
}
