package rangeprop

import (
	"fmt"
	"math"
)

// Breaks says what of a tensor contradicts the facts of its value, "" where nothing does: an element
// outside of its bound, a NaN or an infinity that was not foreseen, a number that should be an integer
// or larger, weights that do not sum to 1. slack is a relative error that is let pass.
func (v *Val) Breaks(dims []int, x []float64, slack float64) string {
	d := pad(v.dims, len(dims))
	if len(d) > len(dims) {
		return fmt.Sprintf("bounds %v of a tensor %v", v.dims, dims)
	}
	for i, n := range dims {
		if d[i] != 1 && d[i] != n {
			return fmt.Sprintf("bounds %v of a tensor %v", v.dims, dims)
		}
	}
	why := ""
	walk(dims, [][]int{strides(d)}, func(i int, at []int) {
		if why == "" {
			why = v.breaks(v.at(at[0]), x[i], slack)
		}
	})
	if why == "" && v.shares.axis > 0 && v.shares.axis <= len(dims) {
		why = v.shares.breaks(dims, x)
	}
	return why
}

func (v *Val) breaks(r Range, x, slack float64) string {
	e := slack * math.Abs(x)
	switch {
	case math.IsNaN(x) && v.nan:
	case math.IsNaN(x):
		return "NaN was not foreseen"
	case math.IsInf(x, 1) && !v.posInf, math.IsInf(x, -1) && !v.negInf:
		return fmt.Sprintf("%v was not foreseen, only %v", x, r)
	case math.IsInf(x, 0):
		e = 0
		fallthrough
	case x < r.Lo-e-slack*1e-31, x > r.Hi+e+slack*1e-31:
		if x < r.Lo-e || x > r.Hi+e {
			return fmt.Sprintf("%v outside of %v", x, r)
		}
	case v.integer && x != math.Trunc(x):
		return fmt.Sprintf("%v is no integer", x)
	case x != 0 && math.Abs(x) < v.tiny*(1-slack):
		return fmt.Sprintf("%v is smaller than %v", x, v.tiny)
	}
	return ""
}

// breaks says which weights do not sum to 1, or to more, or are negative.
func (s simplex) breaks(dims []int, x []float64) string {
	to := make([]int, len(dims))
	copy(to, dims)
	to[len(to)-s.axis] = 1
	sums, bad := make([]float64, size(to)), ""
	walk(dims, [][]int{strides(to)}, func(i int, at []int) {
		if sums[at[0]] += x[i]; x[i] < 0 {
			bad = fmt.Sprintf("a weight of %v", x[i])
		}
	})
	n := float64(dims[len(dims)-s.axis])
	for _, sum := range sums {
		if n == 0 {
			break
		}
		if e := 4*s.unit + 2*n*accumUnit + n*s.unit; sum > 1+e || !s.most && sum < 1-e {
			bad = fmt.Sprintf("weights that sum to %v", sum)
		}
	}
	return bad
}
