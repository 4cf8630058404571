package kern

import "math"

// boundRows is how many rows of a matrix the kernels of bounds take at a time: as many as leave room
// in the first cache where rows begin a power of two apart.
const boundRows = 8

// RowSums are the sums of the numbers of rows, each times what it has for its row: Mids of the numbers
// themselves times the middle of a range, Rads and Reaches of their magnitudes times how far it reaches from
// there and from 0. The sum of the products with the ranges lies within Mids ± Rads.
type RowSums struct{ Mids, Rads, Reaches []float64 }

// DotRows adds the rows of x, which are as long as the sums; there are as many as mid, rad and reach have elements.
func (e *Engine) DotRows(s *RowSums, x []float32, mid, rad, reach []float64) {
	n := len(s.Mids)
	for i := 0; i < len(mid); i += boundRows {
		k := min(boundRows, len(mid)-i)
		y, m, r, t := x[i*n:(i+k)*n], mid[i:i+k], rad[i:i+k], reach[i:i+k]
		done := e.level.dotRows(s, y, m, r, t)
		for row := range k {
			s.addGo(done, y[row*n+done:(row+1)*n], m[row], r[row], t[row])
		}
	}
}

// addGo adds a row from a column on.
func (s *RowSums) addGo(from int, x []float32, mid, rad, reach float64) {
	mids, rads, reaches := s.Mids[from:from+len(x)], s.Rads[from:from+len(x)], s.Reaches[from:from+len(x)]
	for i, v := range x {
		w := float64(v)
		a := math.Abs(w)
		mids[i] += float64(w * mid)
		rads[i] += float64(a * rad)
		reaches[i] += float64(a * reach)
	}
}

// ExtremeRows takes the numbers of each row of x, as long as lo, into the least in lo and the greatest
// in hi. NaN is passed over.
func (e *Engine) ExtremeRows(lo, hi, x []float32) {
	n := len(lo)
	for step := boundRows * n; n > 0 && len(x) > 0; x = x[min(step, len(x)):] {
		y := x[:min(step, len(x))]
		done := e.level.extremeRows(lo, hi, y)
		for at := 0; at < len(y); at += n {
			extremeRowGo(lo[done:], hi[done:], y[at+done:at+n])
		}
	}
}

func extremeRowGo(lo, hi, x []float32) {
	lo, hi = lo[:len(x)], hi[:len(x)]
	for i, v := range x {
		if v < lo[i] {
			lo[i] = v
		}
		if v > hi[i] {
			hi[i] = v
		}
	}
}
