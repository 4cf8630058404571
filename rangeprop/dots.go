package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// dots are sums of products with constants.
type dots struct {
	lo, hi, total []float64
	least, most   []float64 // of the constants of each sum, nil where nobody asks
}

func newDots(n int, extremes bool) *dots {
	d := &dots{lo: make([]float64, n), hi: make([]float64, n), total: make([]float64, n)}
	if extremes {
		d.least, d.most = make([]float64, n), make([]float64, n)
		for i := range d.least {
			d.least[i], d.most[i] = math.Inf(1), math.Inf(-1)
		}
	}
	return d
}

// column is the hull of the constants of each sum.
func (d *dots) column() *Val {
	return &Val{dims: []int{len(d.least)}, lo: d.least, hi: d.most, basis: Constant}
}

// product adds the products of bounds with the elements of a matrix, whose rows are summed over, or
// where flip is set its columns.
func (d *dots) product(t *graph.Tensor, lo, hi []float64, flip bool) error {
	width := len(d.lo)
	if flip {
		width = len(lo)
	}
	mid, rad, finite := middles(lo, hi)
	return streamRows(t, width, func(row, from int, w []float64) {
		switch {
		case d.least != nil || !finite:
			for i, e := range w {
				if flip {
					d.add(row, e, lo[from+i], hi[from+i])
				} else {
					d.add(from+i, e, lo[row], hi[row])
				}
			}
		case flip:
			d.row(row, w, mid[from:], rad[from:])
		default:
			d.spread(from, w, mid[row], rad[row])
		}
	})
}

// middles returns the middle of bounds and how far they reach from it; finite is false where there is
// no middle.
func middles(lo, hi []float64) (mid, rad []float64, finite bool) {
	mid, rad = make([]float64, len(lo)), make([]float64, len(lo))
	for i := range lo {
		mid[i], rad[i] = lo[i]/2+hi[i]/2, hi[i]/2-lo[i]/2
		if math.IsInf(mid[i], 0) || math.IsNaN(mid[i]) || math.IsInf(rad[i], 0) || math.IsNaN(rad[i]) {
			return nil, nil, false
		}
	}
	return mid, rad, true
}

// spread adds w_j·(mid ± rad) to the sums from j = from on. Signs of weights are as good as random,
// so that a branch on them would cost more than the rest; what the sum and the difference round is
// far below the rounding that val allows for.
func (d *dots) spread(from int, w []float64, mid, rad float64) {
	lo, hi, total := d.lo[from:from+len(w)], d.hi[from:from+len(w)], d.total[from:from+len(w)]
	for j, e := range w {
		m, r := e*mid, math.Abs(e)*rad
		lo[j] += m - r
		hi[j] += m + r
		total[j] += math.Abs(m) + r
	}
}

// row adds the products of one row to sum j.
func (d *dots) row(j int, w, mid, rad []float64) {
	mid, rad = mid[:len(w)], rad[:len(w)]
	var lo, hi, total float64
	for k, e := range w {
		m, r := e*mid[k], math.Abs(e)*rad[k]
		lo += m - r
		hi += m + r
		total += math.Abs(m) + r
	}
	d.lo[j] += lo
	d.hi[j] += hi
	d.total[j] += total
}

// add adds w·[lo, hi] to sum j.
func (d *dots) add(j int, w, lo, hi float64) {
	if d.least != nil {
		d.least[j], d.most[j] = math.Min(d.least[j], w), math.Max(d.most[j], w)
	}
	switch {
	case w > 0:
		d.lo[j] += w * lo
		d.hi[j] += w * hi
		d.total[j] += w * math.Max(-lo, hi)
	case w < 0:
		d.lo[j] += w * hi
		d.hi[j] += w * lo
		d.total[j] -= w * math.Max(-lo, hi)
	}
}

// streamRows visits the elements of a constant in order, in runs that lie in one row of a width.
func streamRows(t *graph.Tensor, width int, visit func(row, from int, x []float64)) error {
	if width < 1 {
		return nil
	}
	row, at := 0, 0
	cut := func(x []float64) {
		for len(x) > 0 {
			n := min(width-at, len(x))
			visit(row, at, x[:n])
			if x, at = x[n:], at+n; at == width {
				row, at = row+1, 0
			}
		}
	}
	if wide(t.Elem) {
		x, err := t.Float64s()
		cut(x)
		return err
	}
	var buf []float64
	return t.Floats(func(chunk []float32) error {
		buf = buf[:0]
		for _, e := range chunk {
			buf = append(buf, float64(e))
		}
		cut(buf)
		return nil
	})
}
