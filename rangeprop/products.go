package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// products are the sums of products of bounds with a constant matrix that an analysis made. Those of
// bounds that are nearly the same or all of them so many times as large, or of the matrix in another
// format, follow from them, and the matrix need not be read again.
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
	m.made++
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
	scale, off, reach, ok := p.near(lo, hi)
	if !ok {
		return nil
	}
	return p.sums.widened(scale, off+unit*(1+off), least*reach*scale*(1+off))
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

// near finds how many times those of the products bounds are, how far they lie from that by their
// magnitude, and the sum of the magnitudes. A norm whose root is rounded to 16 bits has a bound
// hundreds of times that of the norm in FP32, in all of its elements alike.
func (p *products) near(lo, hi []float64) (scale, off, reach float64, ok bool) {
	if len(lo) != len(p.mid) {
		return 0, 0, 0, false
	}
	sum := 0.0
	for i := range lo {
		reach += math.Abs(p.mid[i]) + p.rad[i]
		sum += max(-lo[i], hi[i])
	}
	for _, scale := range []float64{1, sum / reach} {
		if off, ok := p.distance(lo, hi, scale); ok {
			return scale, off, reach, true
		}
	}
	return 0, 0, 0, false
}

// distance returns how far bounds lie from so many times those of the products, by their magnitude.
func (p *products) distance(lo, hi []float64, scale float64) (off float64, ok bool) {
	if !(scale > 0) || math.IsInf(scale, 1) {
		return 0, false
	}
	for i := range lo {
		size := scale * (math.Abs(p.mid[i]) + p.rad[i])
		d := math.Max(math.Abs(lo[i]-scale*(p.mid[i]-p.rad[i])), math.Abs(hi[i]-scale*(p.mid[i]+p.rad[i])))
		if !(d <= nearly*size) {
			return 0, false
		}
		if d > 0 {
			off = math.Max(off, d/size)
		}
	}
	return off, true
}

// widened returns sums of so many times the terms that lie further out by a share of their magnitudes
// and a constant. The digits that the bounds lost on the way to middle and radius are below the
// rounding that val allows for.
func (d *dots) widened(scale, share, by float64) *dots {
	w := &dots{lo: slices.Clone(d.lo), hi: slices.Clone(d.hi), total: slices.Clone(d.total)}
	for j := range d.total {
		total := scale * d.total[j]
		e := share*total + by
		w.lo[j], w.hi[j], w.total[j] = scale*d.lo[j]-e, scale*d.hi[j]+e, total+e
	}
	return w
}
