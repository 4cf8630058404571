package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// maxKept is the number of elements up to which a value keeps more than its feature axis.
const maxKept = 4096

// maxChannels is the length up to which a feature axis is kept.
const maxChannels = 1 << 18

// featureAxis is the axis along which the elements of real models differ most: the last one, or
// axis 1 of images and heads.
func featureAxis(rank int) int {
	if rank >= 4 {
		return 1
	}
	return rank - 1
}

func size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// layout returns which axes of a tensor of these dimensions are kept apart: all while they are
// few elements, else the feature axis, with the last one where both are few enough.
func layout(dims []int) []bool {
	keep := make([]bool, len(dims))
	if total := countUpTo(dims, maxKept); total <= maxKept {
		for i := range keep {
			keep[i] = true
		}
		return keep
	}
	f, last := featureAxis(len(dims)), len(dims)-1
	keep[f] = dims[f] <= maxChannels
	if keep[f] && dims[f]*dims[last] <= maxKept {
		keep[last] = true
	}
	return keep
}

// countUpTo multiplies dimensions but stops above the limit, so that it cannot overflow.
func countUpTo(dims []int, limit int) int {
	n := 1
	for _, d := range dims {
		if n *= d; n > limit {
			return n
		}
	}
	return n
}

// fit collapses a value to the layout of its dimensions.
func (v *Val) fit() *Val {
	if len(v.lo) <= maxKept {
		return v
	}
	w := v.collapse(layout(v.dims)).clone()
	w.shares, w.ball, w.pieces, w.away = v.shares, v.ball, v.pieces, v.away
	return w
}

// collapse joins the elements along the axes that are not kept.
func (v *Val) collapse(keep []bool) *Val {
	dims := make([]int, len(v.dims))
	same := true
	for i, d := range v.dims {
		dims[i] = 1
		if keep[i] || d == 0 {
			dims[i] = d
		}
		same = same && dims[i] == d
	}
	if same {
		return v.clone().plain()
	}
	c := v.clone().plain()
	c.dims = dims
	c.lo, c.hi = fold(v.lo, v.dims, dims, math.Min), fold(v.hi, v.dims, dims, math.Max)
	return c
}

// fold joins the elements of x that fall together where dims replaces some of from by 1.
func fold(x []float64, from, dims []int, join func(a, b float64) float64) []float64 {
	out := make([]float64, size(dims))
	seen := make([]bool, len(out))
	walk(from, [][]int{strides(dims)}, func(i int, at []int) {
		j := at[0]
		if !seen[j] {
			out[j], seen[j] = x[i], true
		} else {
			out[j] = join(out[j], x[i])
		}
	})
	return out
}

// flat joins everything into one bound.
func (v *Val) flat() *Val {
	if len(v.lo) == 1 && len(v.dims) == 0 {
		return v
	}
	h := v.Hull()
	c := v.clone().plain()
	c.dims, c.lo, c.hi = nil, []float64{h.Lo}, []float64{h.Hi}
	return c
}

// strides returns the steps of dimensions in row-major order, 0 for those of length 1.
func strides(dims []int) []int {
	s := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] != 1 {
			s[i] = n
		}
		n *= dims[i]
	}
	return s
}

// walk visits the elements of a tensor of these dimensions in order, with the offsets that several
// lists of strides give for each.
func walk(dims []int, steps [][]int, visit func(i int, at []int)) {
	n := size(dims)
	at := make([]int, len(steps))
	index := make([]int, len(dims))
	for i := 0; i < n; i++ {
		visit(i, at)
		for d := len(dims) - 1; d >= 0; d-- {
			index[d]++
			for k := range steps {
				at[k] += steps[k][d]
			}
			if index[d] < dims[d] {
				break
			}
			for k := range steps {
				at[k] -= steps[k][d] * dims[d]
			}
			index[d] = 0
		}
	}
}

// pad puts dimensions of 1 in front.
func pad(dims []int, rank int) []int {
	if len(dims) >= rank {
		return dims
	}
	p := make([]int, rank)
	for i := range p {
		p[i] = 1
	}
	copy(p[rank-len(dims):], dims)
	return p
}

// broadcast returns the dimensions of the elementwise combination of values; ok is false where
// they do not fit, which no valid model has.
func broadcast(vs ...*Val) (dims []int, ok bool) {
	for _, v := range vs {
		d := v.dims
		if len(d) > len(dims) {
			d, dims = dims, append([]int{}, d...)
		}
		off := len(dims) - len(d)
		for i, n := range d {
			switch m := dims[off+i]; {
			case m == 1:
				dims[off+i] = n
			case n != 1 && n != m:
				return nil, false
			}
		}
	}
	return dims, true
}

// align brings values to one rank and to a common layout small enough to combine them.
func align(vs ...*Val) (dims []int, out []*Val) {
	dims, ok := broadcast(vs...)
	out = make([]*Val, len(vs))
	keep := layout(dims)
	for i, v := range vs {
		if !ok {
			out[i] = v.flat()
			continue
		}
		w := v.clone()
		w.dims = pad(v.dims, len(dims))
		if countUpTo(dims, maxKept) > maxKept {
			w = w.collapse(keep)
		}
		out[i] = w
	}
	dims, _ = broadcast(out...)
	return dims, out
}

// map1 applies a function to every bound.
func map1(a *Val, f func(Range) Range) *Val {
	out := a.like(a.dims)
	for i := range a.lo {
		r := f(Range{a.lo[i], a.hi[i]})
		out.lo[i], out.hi[i] = r.Lo, r.Hi
	}
	return out
}

// zip applies a function to the bounds of two values, broadcast.
func zip(a, b *Val, f func(x, y Range) Range) *Val {
	dims, in := align(a, b)
	out := a.like(dims)
	out.nan = a.nan || b.nan
	out.rest(b)
	x, y := in[0], in[1]
	if n := len(out.lo); len(x.lo) == n && (len(y.lo) == n || len(y.lo) == 1) { // no need to step through the dimensions
		step := min(len(y.lo)-1, 1)
		for i := range n {
			r := f(Range{x.lo[i], x.hi[i]}, Range{y.lo[i*step], y.hi[i*step]})
			out.lo[i], out.hi[i] = r.Lo, r.Hi
		}
		return out
	}
	walk(dims, [][]int{strides(x.dims), strides(y.dims)}, func(i int, at []int) {
		r := f(Range{x.lo[at[0]], x.hi[at[0]]}, Range{y.lo[at[1]], y.hi[at[1]]})
		out.lo[i], out.hi[i] = r.Lo, r.Hi
	})
	return out
}

// zip3 is zip of three values.
func zip3(a, b, c *Val, f func(x, y, z Range) Range) *Val {
	dims, in := align(a, b, c)
	out := a.like(dims)
	out.nan = a.nan || b.nan || c.nan
	out.rest(b)
	out.rest(c)
	steps := [][]int{strides(in[0].dims), strides(in[1].dims), strides(in[2].dims)}
	walk(dims, steps, func(i int, at []int) {
		r := f(in[0].at(at[0]), in[1].at(at[1]), in[2].at(at[2]))
		out.lo[i], out.hi[i] = r.Lo, r.Hi
	})
	return out
}

func (v *Val) at(i int) Range { return Range{v.lo[i], v.hi[i]} }

// joined returns the union of two values, as after branches: what either may be. An empty tensor adds
// nothing to what the other may hold.
func joined(a, b *Val) *Val {
	if len(a.lo) == 0 {
		a, b = b, a
	}
	out := a
	if len(b.lo) == 0 {
		out = a.clone().plain()
		out.nan = a.nan || b.nan
		out.rest(b)
	} else {
		out = zip(a, b, Range.join)
	}
	out.posInf, out.negInf = a.posInf || b.posInf, a.negInf || b.negInf
	out.integer = a.integer && b.integer
	out.tiny = math.Min(a.Tiny(), b.Tiny())
	return out
}

// kept returns the dimensions of a shape as a value of it may keep them: 1 where unknown.
func kept(s graph.Shape) []int {
	dims := make([]int, len(s))
	for i, d := range s {
		dims[i] = 1
		if d.Known() && d.N < math.MaxInt32 {
			dims[i] = int(d.N)
		}
	}
	return dims
}
