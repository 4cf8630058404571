package rangeprop_test

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// direction is a first layer of weights that an input meets: rows of them say which signs add up.
type direction struct {
	of   string
	s    slot
	w    []float64 // rows × cols
	rows int       // what the elements of the input meet
	cols int
	meet func(i int) int // the row that element i meets
}

// directions lists the first weights that the inputs meet.
func (p *trial) directions() []direction {
	var list []direction
	for _, s := range p.slots {
		if !s.elem.IsFloat() || s.value != nil || s.items > 0 {
			continue
		}
		for _, u := range s.v.Uses {
			if d, ok := directionOf(s, u.Node); ok && u.Index == 0 {
				list = append(list, d)
			}
		}
	}
	return list
}

func directionOf(s slot, n *graph.Node) (d direction, ok bool) {
	w := n.In(1)
	if w == nil || w.Const == nil || w.Const.Len() > 1<<22 {
		return d, false
	}
	x, err := w.Const.Float64s()
	dims := w.Const.Dims
	if err != nil || len(dims) < 2 {
		return d, false
	}
	d = direction{of: n.Key(), s: s, w: x}
	switch {
	case n.Op == "MatMul" && len(dims) == 2, n.Op == "Gemm" && n.Int("transA", 0) == 0 && n.Int("transB", 0) == 0:
		d.rows, d.cols = int(dims[0]), int(dims[1])
	case n.Op == "Gemm" && n.Int("transA", 0) == 0:
		d.rows, d.cols, d.w = int(dims[1]), int(dims[0]), transposed(x, int(dims[0]), int(dims[1]))
	case n.Op == "Conv" && n.Int("group", 1) == 1 && len(dims) == len(s.dims):
		d.cols = int(dims[0])
		if d.rows = len(x) / max(d.cols, 1); d.rows == 0 {
			return d, false
		}
		d.w = transposed(x, d.cols, d.rows)
		d.meet = func(i int) int { return tap(i, s.dims, dims) }
		return d, true
	default:
		return d, false
	}
	d.meet = func(i int) int { return i % d.rows }
	return d, d.rows > 0 && d.cols > 0 && s.width() == d.rows
}

func transposed(x []float64, rows, cols int) []float64 {
	y := make([]float64, len(x))
	for i := range rows {
		for j := range cols {
			y[j*rows+i] = x[i*cols+j]
		}
	}
	return y
}

// tap returns the element of a kernel that an element of its input meets where kernels stand side by
// side.
func tap(i int, dims []int, kernel []int64) int {
	at := make([]int, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		at[k], i = i%dims[k], i/dims[k]
	}
	row := 0
	for k := 1; k < len(dims); k++ {
		row = row*int(kernel[k]) + at[k]%int(kernel[k])
	}
	return row
}

// at draws what to follow: the signs of one column, or the direction that the weights stretch most, as
// it is or by its signs.
func (d direction) at(p *trial) pattern {
	j := p.rng.Intn(d.cols)
	row := make([]float64, d.rows)
	for i := range row {
		row[i] = d.w[i*d.cols+j]
	}
	kind := p.rng.Intn(4)
	if kind >= 2 {
		row = d.stretched(row)
	}
	most := 0.0
	for _, v := range row {
		most = math.Max(most, math.Abs(v))
	}
	sign := float64(1 - 2*p.rng.Intn(2))
	return func(_ *trial, s slot, i int) float64 {
		v := sign * row[d.meet(i)]
		switch {
		case kind == 3 && most > 0:
			return s.at(0.5 + 0.5*v/most)
		case v < 0:
			return s.r.Lo
		}
		return s.r.Hi
	}
}

// stretched turns a vector towards the direction that the weights stretch most.
func (d direction) stretched(u []float64) []float64 {
	for range 8 {
		y := make([]float64, d.cols)
		for i, x := range u {
			for j := range y {
				y[j] += d.w[i*d.cols+j] * x
			}
		}
		norm := 0.0
		for i := range u {
			s := 0.0
			for j, v := range y {
				s += d.w[i*d.cols+j] * v
			}
			u[i] = s
			norm += s * s
		}
		if norm = math.Sqrt(norm); norm == 0 {
			return u
		}
		for i := range u {
			u[i] /= norm
		}
	}
	return u
}
