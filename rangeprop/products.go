package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// products are the sums of products of bounds with a constant matrix that an analysis made. Those of
// bounds that are nearly the same, or of the matrix in another format, follow from them, and the
// matrix need not be read again.
type products struct {
	mid, rad []float64 // of the bounds
	sums     *dots
}

// factor is a constant matrix as it stands in a product.
type factor struct {
	t    *graph.Tensor
	flip bool
}

// nearly is how far, by their magnitude, bounds may lie from those that sums were made of: a few
// roundings to bfloat16. What is further away deserves sums of its own, which are tighter.
const nearly = 1.0 / 128

// keepProducts keeps the sums of a product of bounds, where those have a middle.
func (m *Memo) keepProducts(f factor, lo, hi []float64, d *dots) {
	mid, rad, finite := middles(lo, hi)
	if !finite || d.least != nil {
		return
	}
	m.products[f] = &products{mid, rad, &dots{lo: slices.Clone(d.lo), hi: slices.Clone(d.hi), total: slices.Clone(d.total)}}
}

// product returns sums of products of bounds with a matrix by those that are known of it, or of the
// one that it was converted from; nil where there are none or the bounds are others.
func (m *Memo) product(f factor, lo, hi []float64) *dots {
	var unit, least float64
	p := m.products[f]
	if o := f.t.Origin(); p == nil && o != nil {
		var ok bool
		if unit, least, ok = m.rounding(f.t); !ok {
			return nil
		}
		p = m.products[factor{o, f.flip}]
	}
	if p == nil {
		return nil
	}
	off, reach, ok := p.distance(lo, hi)
	if !ok {
		return nil
	}
	return p.sums.widened(off+unit*(1+off), least*reach*(1+off))
}

// rounding returns how far the elements of a converted tensor are from those of its origin, by their
// magnitude and absolutely. ok is false where some became infinite or were cut.
func (m *Memo) rounding(t *graph.Tensor) (unit, least float64, ok bool) {
	f, ok := t.Elem.Format()
	v := m.constant(t.Origin())
	if !ok || v == nil || v.nan || v.special() || v.Hull().MaxAbs() > f.Max() {
		return 0, 0, false
	}
	return f.Unit(), f.MinSubnormal() / 2, true
}

// distance returns how far bounds lie from those of the products by their magnitude, and the sum of
// the magnitudes.
func (p *products) distance(lo, hi []float64) (off, reach float64, ok bool) {
	if len(lo) != len(p.mid) {
		return 0, 0, false
	}
	for i := range lo {
		size := math.Abs(p.mid[i]) + p.rad[i]
		d := math.Max(math.Abs(lo[i]-(p.mid[i]-p.rad[i])), math.Abs(hi[i]-(p.mid[i]+p.rad[i])))
		if !(d <= nearly*size) {
			return 0, 0, false
		}
		if reach += size; d > 0 {
			off = math.Max(off, d/size)
		}
	}
	return off, reach, true
}

// widened returns sums that lie further out by a share of their terms' magnitudes and a constant. The
// digits that the bounds lost on the way to middle and radius are below the rounding that val allows for.
func (d *dots) widened(share, by float64) *dots {
	w := &dots{lo: slices.Clone(d.lo), hi: slices.Clone(d.hi), total: slices.Clone(d.total)}
	for j, total := range d.total {
		e := share*total + by
		w.lo[j], w.hi[j], w.total[j] = d.lo[j]-e, d.hi[j]+e, total+e
	}
	return w
}
