package rangeprop

import (
	"math"
	"math/bits"

	"github.com/amplint/amplint/graph"
)

// Weights that sum to 1 over several axes together, as those of a softmax over the pixels of an image.

// grid is a set of axes, counted from the end, from 1. The first bit tells that there are others.
type grid uint32

func (g grid) has(at int) bool { return at > 0 && at < 32 && g&(1<<at) != 0 }

func (g grid) with(at int) grid {
	if at <= 0 || at >= 32 {
		return g | 1
	}
	return g | 1<<at
}

// over returns weights that sum to 1 over a set of axes: along the only one, where it is one.
func (s simplex) over(g grid) simplex {
	s.axis, s.grid = 0, g
	if bits.OnesCount32(uint32(g)) == 1 {
		s.axis, s.grid = bits.TrailingZeros32(uint32(g)), 0
	}
	if g == 0 || g&1 != 0 {
		return simplex{}
	}
	return s
}

// axes is the set of axes that weights sum to 1 over.
func (s simplex) axes() grid {
	if s.axis > 0 {
		return grid(0).with(s.axis)
	}
	return s.grid
}

// moved follows weights over axes to another shape, where together they are axes of their own, axes of length 1 aside.
func (s simplex) moved(from, to graph.Shape) simplex {
	var out, seen grid
	for _, g := range groups(from, to) {
		inside := grid(0)
		others := false
		for i := g.in; i < g.inEnd; i++ {
			if at := len(from) - i; s.axes().has(at) {
				inside = inside.with(at)
			} else if from[i] != (graph.Dim{N: 1}) {
				others = true
			}
		}
		if inside == 0 {
			continue
		}
		if !g.exact || others {
			return simplex{}
		}
		seen |= inside
		for o := g.out; o < g.outEnd; o++ {
			if to[o] != (graph.Dim{N: 1}) {
				out = out.with(len(to) - o)
			}
		}
	}
	if seen != s.axes() {
		return simplex{}
	}
	return s.over(out)
}

// sumOfGrid meets a sum over some of the axes of weights with what it is: 1, or a mean, where it is over all of them,
// else weights over the others.
func (c *call) sumOfGrid(v, a *Val) *Val {
	_, axes, keep, ok := c.reduction()
	s := a.shares
	if a.mix != nil && s.grid == 0 {
		s = a.mix.weights
	}
	if !ok || s.grid == 0 {
		return v
	}
	n, rows, left, reduced := 1.0, 1.0, grid(0), 0
	for i := len(axes) - 1; i >= 0; i-- {
		at := len(axes) - i
		lo, hi := c.dim(0, i)
		switch {
		case !axes[i] && s.grid.has(at):
			left = left.with(at - reduced)
		case axes[i] && lo != hi:
			return v
		case axes[i] && s.grid.has(at):
			n *= float64(hi)
		case axes[i]:
			rows *= float64(hi)
		}
		if axes[i] && !keep {
			reduced++
		}
	}
	e := 4*math.Max(c.p.unit(c.n.Out(0)), s.unit) + 2*math.Min(n*rows, 1<<20)*accumUnit
	if left == 0 {
		return c.wholeGrid(v, a, s, rows, e)
	}
	if rows > 1 || narrowest(behind(c.n.In(0), nil)).Bits() < 32 {
		return v
	}
	w := s.over(left).rounded(e)
	y := v.clone()
	if a.shares.grid == s.grid {
		y = v.meet(scalar(Range{0, 1 + e}))
		y.shares = w
	}
	if m := a.mix; m != nil && m.weights.grid == s.grid {
		y.mix = &mixture{w, scalar(m.of.Hull())}
	}
	return y
}

// wholeGrid is a sum of all weights, or of all that they weigh, for as many rows.
func (c *call) wholeGrid(v, a *Val, s simplex, rows, e float64) *Val {
	if a.shares.grid == s.grid {
		r := Range{rows * (1 - e), rows * (1 + e)}
		if s.most {
			r.Lo = 0
		}
		v = v.meet(scalar(r))
	}
	if m := a.mix; m != nil && m.weights.grid == s.grid && narrowest(behind(c.n.In(0), nil)).Bits() >= 32 {
		h := m.of.Hull()
		if m.weights.most {
			h = h.join(Range{})
		}
		v = v.meet(scalar(Range{h.Lo - e*math.Abs(h.Lo), h.Hi + e*math.Abs(h.Hi)}.scale(rows)))
	}
	return v
}
