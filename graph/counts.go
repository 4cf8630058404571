package graph

import "github.com/amplint/amplint/numfmt"

// Counts are what rules ask about a tensor's elements. What becomes of them in one format is known
// from the pass that an analysis makes over them; what is asked of others, and the exponents, take a
// pass of their own, once.
type Counts struct {
	known
	t     *Tensor
	tally *numfmt.Tally // nil where the histogram is there
}

// known is what a tally and a histogram both tell of any format.
type known interface {
	Count() int64
	Zeros() int64
	Infs() int64
	NaNs() int64
	Min() float64
	Max() float64
	MinMagnitude() float64
	MaxMagnitude() float64
}

// Counts returns the counts of a numeric or bool tensor's elements; it may be asked for by several
// goroutines.
func (t *Tensor) Counts() (*Counts, error) {
	if y := t.tally(); y != nil {
		return &Counts{y, t, y}, nil
	}
	h, err := t.Histogram()
	if err != nil {
		return nil, err
	}
	return &Counts{known: h, t: t}, nil
}

// tally returns what was counted of the tensor, or of the one it was converted from, where what the
// conversion does to numbers follows from that; else nil.
func (t *Tensor) tally() *numfmt.Tally {
	if y := t.stats.tally.Load(); y != nil {
		return y
	}
	f, ok := t.rounds()
	if !ok {
		return nil
	}
	y := t.from.tally()
	if y == nil || y.Format() != f {
		return nil
	}
	if y, ok = y.Rounded(); !ok {
		return nil
	}
	t.stats.tally.CompareAndSwap(nil, y)
	return y
}

// counted is the format that the elements are counted for where an analysis looks at them for the
// sake of a target: their own where that is narrow, as they are never held in another.
func (t *Tensor) counted(target numfmt.Format) (f numfmt.Format, ok bool) {
	f, ok = t.Elem.Format()
	if !ok || f.Bits() > 32 || target == numfmt.Invalid {
		return f, false
	}
	if f == numfmt.FP32 {
		f = target
	}
	return f, f.Bits() <= 32
}

// full returns the histogram; an empty one where the file has become unreadable since the elements
// were counted.
func (c *Counts) full() *numfmt.Histogram {
	h, err := c.t.Histogram()
	if err != nil {
		return new(numfmt.Histogram)
	}
	return h
}

// of tells whether the tally is for a format.
func (c *Counts) of(f numfmt.Format) bool { return c.tally != nil && c.tally.Format() == f }

// Overflow returns how many finite elements round past the largest of f.
func (c *Counts) Overflow(f numfmt.Format) int64 {
	switch {
	case c.of(f):
		return c.tally.Overflow()
	case c.MaxMagnitude() < f.OverflowAt():
		return 0
	}
	return c.full().Overflow(f)
}

// Underflow returns how many elements other than 0 are rounded to 0 by f.
func (c *Counts) Underflow(f numfmt.Format) int64 {
	switch {
	case c.of(f):
		return c.tally.Underflow()
	case c.MinMagnitude() > f.ZeroAt():
		return 0
	}
	return c.full().Underflow(f)
}

// Subnormal returns how many elements f rounds to a subnormal other than 0.
func (c *Counts) Subnormal(f numfmt.Format) int64 {
	switch {
	case c.of(f):
		return c.tally.Subnormal()
	case c.MinMagnitude() >= f.MinNormal():
		return 0
	}
	return c.full().Subnormal(f)
}

// Exponent returns how many elements have a magnitude from 2^e up to, but without, 2^(e+1), see
// [numfmt.Histogram.Exponent].
func (c *Counts) Exponent(e int) int64 { return c.full().Exponent(e) }
