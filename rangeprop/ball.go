package rangeprop

import (
	"math"
	"slices"
)

// ball bounds the vectors of a value, one at each position of the other axes:
//
//	value = center + Mᵀu + e,  ‖u‖₂ ≤ radius,  ‖e‖₂ ≤ loss
//
// Intervals forget that the elements of a normalised row share one budget: all of them together have
// the norm √n. A sum of n of them weighted by w is at most √n·‖w‖₂ by Cauchy-Schwarz, where
// intervals say √n·‖w‖₁. What reads the value after a nonlinearity may not keep M: the image of
// an ellipsoid is none, so a fresh ball with M = 1 takes its place.
type ball struct {
	axes   []int // whose elements, in row-major order, make the vector
	sizes  []int // of those axes
	center []float64
	// groups is the number of parts, along the first axis, that have a u of their own; 1 for all.
	groups int
	radius []float64 // of each group
	diag   []float64 // M where it is diagonal; nil with m nil: M = 1
	m      *matrix
	loss   float64
	l1     float64 // bound of the sum of magnitudes, 0 where not known
	box    *box    // further bounds of the elements, nil where there are none
}

func (b *ball) n() int { return len(b.center) }

// grow allows for the rounding of this package's own arithmetic.
const grow = 1 + 1e-6

// newBall is a ball with M = 1 around a center.
func newBall(axes, sizes []int, center []float64, radius float64) *ball {
	return &ball{axes: axes, sizes: sizes, center: center, groups: 1, radius: []float64{radius * grow}}
}

// greatest is the greatest magnitude in a vector.
func greatest(x []float64) float64 {
	top := 0.0
	for _, v := range x {
		top = math.Max(top, math.Abs(v))
	}
	return top
}

func length(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

// part returns the elements of a group: from, to.
func (b *ball) part(g int) (from, to int) {
	k := b.n() / b.groups
	return g * k, (g + 1) * k
}

// stretch bounds ‖Mᵀu‖/‖u‖ over the elements from..to of a group.
func (b *ball) stretch(from, to int) float64 {
	switch {
	case b.m != nil && from == 0 && to == b.n():
		return b.m.spectral()
	case b.m != nil:
		return b.m.part(from, to)
	case b.diag != nil:
		return greatest(b.diag[from:to])
	}
	return 1
}

// spread bounds the norm of value - center: the root of the sum of squares of the groups.
func (b *ball) spread() float64 {
	s := 0.0
	for g := range b.groups {
		from, to := b.part(g)
		r := b.radius[g] * b.stretch(from, to)
		s += r * r
	}
	return math.Sqrt(s)*grow + b.loss
}

// norm bounds the norm of the value.
func (b *ball) norm() float64 { return length(b.center) + b.spread() }

// deviations bounds |value - center| element by element.
func (b *ball) deviations() []float64 {
	d := make([]float64, b.n())
	var columns []float64
	if b.m != nil {
		columns = b.m.columns()
	}
	for g := range b.groups {
		from, to := b.part(g)
		for j := from; j < to; j++ {
			s := 1.0
			if columns != nil {
				s = columns[j]
			} else if b.diag != nil {
				s = math.Abs(b.diag[j])
			}
			d[j] = b.radius[g]*s*grow + b.loss
		}
	}
	return d
}

// finite tells whether the ball says anything.
func (b *ball) finite() bool {
	for _, r := range b.radius {
		if math.IsInf(r, 0) || math.IsNaN(r) {
			return false
		}
	}
	return !math.IsInf(b.loss, 0) && !math.IsNaN(b.loss) && !math.IsInf(length(b.center), 0) && !math.IsNaN(length(b.center))
}

// vector returns the bounds of a value along the axes of a ball, joined over all others, one for
// each element of the vector.
func (v *Val) vector(axes, sizes []int, rank int) (lo, hi []float64, ok bool) {
	w := v
	if len(v.dims) > rank {
		return nil, nil, false
	}
	if len(v.dims) < rank {
		w = v.with(pad(v.dims, rank), v.lo, v.hi)
	}
	keep := make([]bool, rank)
	steps := make([]int, len(axes))
	for _, a := range axes {
		if a >= rank {
			return nil, nil, false
		}
		keep[a] = true
	}
	w = w.collapse(keep)
	if len(w.lo) == 0 {
		return nil, nil, false
	}
	from := strides(w.dims)
	for i, a := range axes {
		if w.dims[a] != 1 && w.dims[a] != sizes[i] {
			return nil, nil, false
		}
		steps[i] = from[a]
	}
	n := size(sizes)
	lo, hi = make([]float64, n), make([]float64, n)
	walk(sizes, [][]int{steps}, func(i int, at []int) { lo[i], hi[i] = w.lo[at[0]], w.hi[at[0]] })
	return lo, hi, true
}

// boxed is the ball around an interval vector.
func boxed(axes, sizes []int, lo, hi []float64) *ball {
	center, radii := make([]float64, len(lo)), make([]float64, len(lo))
	for i := range lo {
		center[i], radii[i] = lo[i]/2+hi[i]/2, hi[i]/2-lo[i]/2
	}
	b := newBall(axes, sizes, center, length(radii))
	return b
}

// seeded returns the ball of a value along its last axis, one around its interval where it has none.
// It is nil where the axis has an unknown length or the value no bounds.
func (c *call) seeded(i int) *ball {
	v := c.x(i)
	rank := c.rank(i)
	if rank < 1 {
		return nil
	}
	if v.ball != nil {
		return v.ball
	}
	d := c.shape(i)[rank-1]
	if !d.Known() || d.N > maxChannels || d.N < 2 || v.nan || !v.Hull().Bounded() {
		return nil
	}
	axes, sizes := []int{rank - 1}, []int{int(d.N)}
	lo, hi, ok := v.vector(axes, sizes, rank)
	if !ok {
		return nil
	}
	return boxed(axes, sizes, lo, hi)
}

// last tells whether the ball runs along the last axis alone.
func (b *ball) last(rank int) bool { return len(b.axes) == 1 && b.axes[0] == rank-1 }

// tighten meets the bounds of a value with its ball.
func (v *Val) tighten(rank int) *Val {
	b := v.ball
	if b == nil || !b.finite() || v.nan && v.special() {
		return v
	}
	dev := b.deviations()
	return v.meetBox(b, b.box.meet(&box{dev, dev}), rank)
}

// along returns dimensions that are 1 but for some axes, which have sizes.
func along(axes, sizes []int, rank int) []int {
	dims := pad(nil, rank)
	for i, a := range axes {
		dims[a] = sizes[i]
	}
	return dims
}

func (v *Val) meetBox(b *ball, x *box, rank int) *Val {
	w := &Val{dims: along(b.axes, b.sizes, rank), lo: make([]float64, b.n()), hi: make([]float64, b.n()), basis: Constant}
	order := slices.Clone(b.axes)
	if !slices.IsSorted(order) {
		return v
	}
	for j, c := range b.center {
		w.lo[j], w.hi[j] = c-x.down[j], c+x.up[j]
	}
	out := v.meet(w)
	out.ball = b
	return out.fit()
}
