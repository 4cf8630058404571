package graph

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/amplint/amplint/numfmt"
)

// sectionChunk is the longest chunk of [Tensor.Sections]: with what is made of it, it stays in the
// second cache of a processor.
const sectionChunk = 32 << 10

// Sections says how the elements of a tensor are looked at in sections, by several goroutines.
type Sections struct {
	Size   int64         // elements of a section; the last may have fewer
	Width  int64         // chunks hold whole rows of so many elements, where one fits into a chunk
	Target numfmt.Format // counted on the way, as [Tensor.FloatsCounted] does
	// Begin returns what takes the elements of a section from its first on, chunk by chunk. A chunk is
	// valid until it returns. Sections are begun in order, and at any time no more than a few.
	Begin func(section int) (visit func(from int64, chunk []float32))
	// End is told that a section is done; it is called for one section after the other, in order.
	End func(section int)
}

// Sections streams the elements as [Tensor.Floats] does, section by section. What a caller makes of
// each of them, and adds up in order, does not depend on the number of processors.
func (t *Tensor) Sections(s Sections) error {
	w := &sectionWork{Sections: s, t: t, n: t.Len(), done: map[int]bool{}}
	if f, ok := t.counted(s.Target); ok && t.tally() == nil {
		w.tally = numfmt.NewTally(f)
	}
	if s.Width > 0 && s.Width <= sectionChunk {
		w.chunk = sectionChunk / s.Width * s.Width
	} else {
		w.chunk = sectionChunk
	}
	w.draft = t.drafting()
	err := w.run()
	w.draft.done(err == nil)
	if err != nil {
		return err
	}
	if w.tally != nil {
		t.stats.tally.Store(w.tally)
	}
	return nil
}

// sectionWork is a call of Sections.
type sectionWork struct {
	Sections
	t        *Tensor
	n, chunk int64
	draft    *draftPiece // nil for none
	next     atomic.Int64
	failed   firstError

	mu    sync.Mutex
	tally *numfmt.Tally // of all sections that are done, nil if nothing is counted
	done  map[int]bool  // those whose end was not told yet
	told  int           // how many were
}

func (w *sectionWork) run() error {
	if !w.t.reachesFloats() {
		return w.stream()
	}
	var all sync.WaitGroup
	n := min(runtime.GOMAXPROCS(0), maxWriters, int((w.n+w.Size-1)/w.Size))
	w.draft.reads(n)
	for range n {
		all.Go(func() {
			defer w.draft.reads(-1)
			x := &sectionReader{&reader{}, make([]float32, min(w.chunk, w.n)), pen{p: w.draft}}
			for w.failed.none() {
				i := w.next.Add(1) - 1
				if i*w.Size >= w.n {
					break
				}
				w.failed.set(w.section(x, i))
			}
			w.failed.set(x.done())
		})
	}
	all.Wait()
	return w.failed.err
}

// sectionReader is what one goroutine has: its file, the elements that it has read, and what writes them.
type sectionReader struct {
	*reader
	x   []float32
	out pen
}

// section reads one section.
func (w *sectionWork) section(r *sectionReader, i int64) error {
	visit, y := w.begin(int(i))
	for at, end := i*w.Size, min((i+1)*w.Size, w.n); at < end; {
		x := r.x[:min(w.chunk, end-at)]
		if err := r.floats(w.t, at, x); err != nil {
			return err
		}
		r.out.encode(at, x, y)
		visit(at, x)
		r.out.write()
		at += int64(len(x))
	}
	r.out.flush()
	w.end(int(i), y)
	return nil
}

// begin returns what takes the elements of a section, and where they are counted, nil for nowhere.
func (w *sectionWork) begin(i int) (func(int64, []float32), *numfmt.Tally) {
	visit := w.Begin(i)
	if w.tally == nil {
		return visit, nil
	}
	return visit, numfmt.NewTally(w.tally.Format())
}

// end tells of the sections that are done as far as all before them are.
func (w *sectionWork) end(i int, y *numfmt.Tally) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if y != nil {
		w.tally.Merge(y)
	}
	for w.done[i] = true; w.done[w.told]; w.told++ {
		delete(w.done, w.told)
		w.End(w.told)
	}
}

// stream reads all sections one after the other, where elements cannot be read from anywhere.
func (w *sectionWork) stream() error {
	var visit func(int64, []float32)
	var y *numfmt.Tally
	out := pen{p: w.draft}
	at := int64(0)
	return w.t.Floats(func(x []float32) error {
		for len(x) > 0 {
			if at%w.Size == 0 {
				visit, y = w.begin(int(at / w.Size))
			}
			n := min(int64(len(x)), w.Size-at%w.Size)
			out.encode(at, x[:n], y)
			out.write()
			visit(at, x[:n])
			if at, x = at+n, x[n:]; at%w.Size == 0 || at == w.n {
				out.flush()
				w.end(int((at-1)/w.Size), y)
			}
		}
		return nil
	})
}

// reachesFloats tells whether a reader can give the elements as float32.
func (t *Tensor) reachesFloats() bool {
	if _, ok := t.rounds(); ok {
		return t.from.reachesFloats()
	}
	_, ok := t.Elem.Format()
	return ok && t.reaches()
}
