package kern

import "math"

// boundRows is how many rows of a matrix the kernels of bounds take at a time: as many as leave room
// in the first cache where rows begin a power of two apart.
const boundRows = 8

// DotRows does for each row of x what [Engine.Dots] does: it adds the products with the row's range,
// mid ± rad, to sums. Rows are as long as lo; there are as many as mid and rad have elements.
func (e *Engine) DotRows(lo, hi, total []float64, x []float32, mid, rad []float64) {
	n := len(lo)
	for i := 0; i < len(mid); i += boundRows {
		k := min(boundRows, len(mid)-i)
		y, m, r := x[i*n:(i+k)*n], mid[i:i+k], rad[i:i+k]
		done := e.level.dotRows(lo, hi, total, y, m, r)
		for row := range k {
			dotRowGo(lo[done:], hi[done:], total[done:], y[row*n+done:(row+1)*n], m[row], r[row])
		}
	}
}

func dotRowGo(lo, hi, total []float64, x []float32, mid, rad float64) {
	lo, hi, total = lo[:len(x)], hi[:len(x)], total[:len(x)]
	for i, v := range x {
		w := float64(v)
		m, r := float64(w*mid), float64(math.Abs(w)*rad)
		lo[i] += m - r
		hi[i] += m + r
		total[i] += math.Abs(m) + r
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
