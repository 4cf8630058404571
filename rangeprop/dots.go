package rangeprop

import (
	"math"
	"slices"

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
	return streamRows(t, width, d.visitor(lo, hi, flip))
}

// visitor takes the elements of the matrix of product, row by row.
func (d *dots) visitor(lo, hi []float64, flip bool) visitor {
	mid, rad, finite := middles(lo, hi)
	switch {
	case d.least == nil && boundless(lo, hi):
		return d.boundless(flip)
	case (d.least != nil || !finite) && flip:
		return func(row, from int, w []float64) {
			for i, e := range w {
				d.add(row, e, lo[from+i], hi[from+i])
			}
		}
	case d.least != nil || !finite:
		return func(row, from int, w []float64) {
			for i, e := range w {
				d.add(from+i, e, lo[row], hi[row])
			}
		}
	case flip:
		return func(row, from int, w []float64) { d.row(row, w, mid[from:], rad[from:]) }
	}
	return func(row, from int, w []float64) { d.spread(from, w, mid[row], rad[row]) }
}

// boundless tells whether nothing is known of any element.
func boundless(lo, hi []float64) bool {
	for i := range lo {
		if !math.IsInf(lo[i], -1) || !math.IsInf(hi[i], 1) {
			return false
		}
	}
	return true
}

// boundless takes a matrix that multiplies elements of which nothing is known: nothing is known of a
// sum either, unless all of its weights are 0.
func (d *dots) boundless(flip bool) visitor {
	if flip {
		return func(row, _ int, w []float64) {
			if d.total[row] == 0 && slices.ContainsFunc(w, func(e float64) bool { return e != 0 }) {
				d.open(row)
			}
		}
	}
	left := len(d.lo)
	return func(_, from int, w []float64) {
		for i := 0; i < len(w) && left > 0; i++ {
			if w[i] != 0 && d.total[from+i] == 0 {
				d.open(from + i)
				left--
			}
		}
	}
}

// open marks a sum of which nothing is known.
func (d *dots) open(j int) { d.lo[j], d.hi[j], d.total[j] = math.Inf(-1), math.Inf(1), math.Inf(1) }

// lost tells whether no further product changes a sum: nothing is known of it already.
func (d *dots) lost(j int) bool {
	return d.least == nil && math.IsInf(d.lo[j], -1) && math.IsInf(d.hi[j], 1) && math.IsInf(d.total[j], 1)
}

// unbounded is boundless where the bounds of the matrix, column by column, are known already, and its
// elements need not be read. ok is false where they must.
func (d *dots) unbounded(lo, hi []float64, w *Val) (ok bool) {
	if w == nil || d.least != nil || len(w.lo) != len(d.lo) || !boundless(lo, hi) {
		return false
	}
	for j := range d.lo {
		if w.lo[j] != 0 || w.hi[j] != 0 {
			d.open(j)
		}
	}
	return true
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
	to := from + len(w)
	engine().Dots(d.lo[from:to], d.hi[from:to], d.total[from:to], w, mid, rad)
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
	case w != w:
		d.lo[j], d.hi[j] = w, w
	}
}

// visitor takes elements of a constant that lie in one row, from one on. It must not keep them.
type visitor func(row, from int, x []float64)

// streamRows hands the elements of a constant to visitors in order, in runs that lie in one row of a
// width. The elements are read once.
func streamRows(t *graph.Tensor, width int, visit ...visitor) error {
	return rowsOf(t, width, func(f func([]float32)) error {
		return t.Floats(func(chunk []float32) error { f(chunk); return nil })
	}, visit)
}

// rowsOf is streamRows by a way of streaming.
func rowsOf(t *graph.Tensor, width int, floats func(func([]float32)) error, visit []visitor) error {
	if width < 1 {
		return nil
	}
	row, at := 0, 0
	cut := func(x []float64) {
		for len(x) > 0 {
			n := min(width-at, len(x))
			for _, v := range visit {
				v(row, at, x[:n])
			}
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
	return floats(func(chunk []float32) {
		if cap(buf) < len(chunk) {
			buf = make([]float64, len(chunk))
		}
		buf = buf[:len(chunk)]
		engine().Doubles(buf, chunk)
		cut(buf)
	})
}

// stream visits the elements of a constant one by one.
func stream(t *graph.Tensor, visit func(i int, x float64)) error {
	n := 0
	return streamRows(t, max(int(t.Len()), 1), func(_, _ int, x []float64) {
		for _, e := range x {
			visit(n, e)
			n++
		}
	})
}
