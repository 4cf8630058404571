package graph

import (
	"sync"
	"sync/atomic"

	"github.com/amplint/amplint/numfmt"
)

// stats is what is computed once of a tensor's elements.
type stats struct {
	once  sync.Once
	hist  *numfmt.Histogram
	err   error
	tally atomic.Pointer[numfmt.Tally]
	draft atomic.Pointer[draftPiece]
}

// Histogram returns the histogram of a numeric or bool tensor's elements. It is computed once, in
// constant memory, and may be asked for by several goroutines; it must not be changed.
func (t *Tensor) Histogram() (*numfmt.Histogram, error) {
	t.stats.once.Do(func() {
		h := new(numfmt.Histogram)
		if t.stats.err = t.count(h); t.stats.err == nil {
			t.stats.hist = h
		}
	})
	return t.stats.hist, t.stats.err
}

// FloatsCounted streams the elements as [Tensor.Floats] does and counts on the way what the format
// does to them, or that they are held in already: so they are read once for both.
func (t *Tensor) FloatsCounted(target numfmt.Format, visit func(chunk []float32)) error {
	var y *numfmt.Tally
	if f, ok := t.counted(target); ok && t.tally() == nil {
		y = numfmt.NewTally(f)
	}
	w, at := pen{p: t.drafting()}, int64(0)
	err := t.Floats(func(x []float32) error {
		w.encode(at, x, y)
		w.write()
		at += int64(len(x))
		visit(x)
		return nil
	})
	w.flush()
	w.p.done(err == nil)
	if err == nil && y != nil {
		t.stats.tally.Store(y)
	}
	return err
}

// count adds the elements to a histogram.
func (t *Tensor) count(h *numfmt.Histogram) error {
	if _, ok := t.rounds(); ok {
		c := numfmt.NewCounter()
		err := t.Floats(func(chunk []float32) error { c.Add(chunk); return nil })
		h.Merge(c.Histogram())
		return err
	}
	if f, ok := t.Elem.Format(); ok {
		return t.Raw(func(chunk []byte) error { h.AddRaw(f, chunk); return nil })
	}
	return t.blocks(func(raw []byte, n int) error {
		for i := range n {
			h.Add(t.Elem.number(raw, i))
		}
		return nil
	})
}
