package graph

import (
	"sync"

	"github.com/amplint/amplint/numfmt"
)

// stats is what is computed once of a tensor's elements.
type stats struct {
	once sync.Once
	hist *numfmt.Histogram
	err  error
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

// count adds the elements to a histogram.
func (t *Tensor) count(h *numfmt.Histogram) error {
	if _, ok := t.rounds(); ok {
		return t.countRounded(h)
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

// countRounded adds the elements of a conversion, many at a time: a histogram sums up after each call.
func (t *Tensor) countRounded(h *numfmt.Histogram) error {
	const many = 16 * chunkFloats
	buf := make([]float32, 0, min(many, t.Len()))
	err := t.Floats(func(chunk []float32) error {
		if len(buf)+len(chunk) > many {
			h.AddFloats(buf)
			buf = buf[:0]
		}
		buf = append(buf, chunk...)
		return nil
	})
	h.AddFloats(buf)
	return err
}
