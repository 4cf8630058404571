package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

func followReshape(c *call) *ball {
	return c.x(0).ball.reshaped(c.shape(0), c.shapeOut(0))
}

// reshaped follows the axes of a ball into another shape. An axis may be cut into several, and
// neighbouring axes of the ball joined; an axis that joins another is lost.
func (b *ball) reshaped(from, to graph.Shape) *ball {
	if b == nil || from == nil || to == nil {
		return nil
	}
	out := *b
	out.axes, out.sizes = nil, nil
	seen := 0
	for _, g := range groups(from, to) {
		inside := 0
		for i := g.in; i < g.inEnd; i++ {
			if slices.Contains(b.axes, i) || from[i] == (graph.Dim{N: 1}) {
				inside++
			}
		}
		touched := slices.ContainsFunc(b.axes, func(a int) bool { return a >= g.in && a < g.inEnd })
		if !touched {
			continue
		}
		if !g.exact || inside != g.inEnd-g.in {
			return nil
		}
		for i := g.in; i < g.inEnd; i++ {
			if slices.Contains(b.axes, i) {
				seen++
			}
		}
		for o := g.out; o < g.outEnd; o++ {
			if !to[o].Known() {
				return nil
			}
			out.axes, out.sizes = append(out.axes, o), append(out.sizes, int(to[o].N))
		}
	}
	if seen != len(b.axes) || size(out.sizes) != b.n() {
		return nil
	}
	return &out // parts lie one behind the other in any shape
}

// joined makes one group of all: one u, whose norm is that of the parts together.
func (b *ball) joined() *ball {
	out := newBall(b.axes, b.sizes, b.center, b.spread())
	out.l1 = b.l1
	return out
}

func followTranspose(c *call) *ball {
	b := c.x(0).ball
	rank := c.rank(0)
	if b == nil || rank < 0 {
		return nil
	}
	perm := c.n.Ints("perm")
	if perm == nil {
		for i := range rank {
			perm = append(perm, int64(rank-1-i))
		}
	}
	out := *b
	out.axes = make([]int, len(b.axes))
	for i, a := range b.axes {
		out.axes[i] = slices.Index(perm, int64(a))
	}
	if !slices.IsSorted(out.axes) || slices.Contains(out.axes, -1) {
		return nil
	}
	return &out
}

// picked keeps some elements of the vector.
func (b *ball) picked(axes, sizes, at []int) *ball {
	if b.groups > 1 {
		b = b.joined()
	}
	out := &ball{axes: axes, sizes: sizes, groups: 1, radius: b.radius, loss: b.loss, l1: b.l1, center: make([]float64, len(at))}
	for i, k := range at {
		out.center[i] = b.center[k]
	}
	if b.diag != nil {
		out.diag = make([]float64, len(at))
		for i, k := range at {
			out.diag[i] = b.diag[k]
		}
	}
	if b.m != nil {
		out.m = b.m.pick(at)
	}
	return out
}

// along lists the elements of the vector whose index along one of its axes is among some.
func (b *ball) along(axis int, at []int) []int {
	k := slices.Index(b.axes, axis)
	inner := size(b.sizes[k+1:])
	n := b.sizes[k]
	var list []int
	for o := 0; o < b.n(); o += n * inner {
		for _, i := range at {
			if i < 0 || i >= n {
				return nil
			}
			list = append(list, seq(o+i*inner, o+(i+1)*inner)...)
		}
	}
	return list
}

func followSlice(c *call) *ball {
	b := c.x(0).ball
	if b == nil {
		return nil
	}
	starts, ends, axes, steps, ok := c.slices(c.rank(0))
	if !ok {
		return nil
	}
	for i, a := range axes {
		if a < 0 {
			a += int64(c.rank(0))
		}
		k := slices.Index(b.axes, int(a))
		if k < 0 {
			continue
		}
		at := span(b.sizes[k], starts[i], ends[i], steps[i])
		if b = b.cut(k, at); b == nil {
			return nil
		}
	}
	return b
}

// cut keeps some indices of the k-th axis of the vector.
func (b *ball) cut(k int, at []int) *ball {
	if len(at) == b.sizes[k] && slices.Equal(at, seq(0, len(at))) {
		return b
	}
	list := b.along(b.axes[k], at)
	if list == nil {
		return nil
	}
	sizes := slices.Clone(b.sizes)
	sizes[k] = len(at)
	return b.picked(b.axes, sizes, list)
}

// split is followSlice for the outputs of a Split.
func (c *call) split(i int) *ball {
	b := c.x(0).ball
	axis, ok := c.axis("axis", 0, c.rank(0))
	s := c.shapeOut(i)
	if b == nil || !ok || len(s) <= axis || !s[axis].Known() {
		return nil
	}
	k := slices.Index(b.axes, axis)
	if k < 0 {
		return b
	}
	from := 0
	for o := range i {
		t := c.shapeOut(o)
		if len(t) <= axis || !t[axis].Known() {
			return nil
		}
		from += int(t[axis].N)
	}
	return b.cut(k, seq(from, from+int(s[axis].N)))
}

// followGather picks one index of an axis away, as q, k and v are picked from a packed projection;
// other axes shift. Indices along other axes pick whole vectors.
func followGather(c *call) *ball {
	b := c.x(0).ball
	axis, ok := c.axis("axis", 0, c.rank(0))
	if b == nil || !ok || c.rank(1) < 0 {
		return nil
	}
	shift := c.rank(1) - 1
	k := slices.Index(b.axes, axis)
	if k >= 0 {
		at, known := c.ints(1)
		if !known || len(at) != 1 || c.rank(1) != 0 {
			return nil
		}
		i := int(at[0])
		if i < 0 {
			i += b.sizes[k]
		}
		if b = b.cut(k, []int{i}); b == nil {
			return nil
		}
		out := *b
		out.axes, out.sizes = slices.Delete(slices.Clone(b.axes), k, k+1), slices.Delete(slices.Clone(b.sizes), k, k+1)
		b = &out
	}
	out := *b
	out.axes = slices.Clone(b.axes)
	for i, a := range out.axes {
		if a > axis {
			out.axes[i] = a + shift
		}
	}
	if len(out.axes) == 0 {
		return nil
	}
	return &out
}

// followConcat puts vectors end to end along their own axis, or holds what all of them hold.
func followConcat(c *call) *ball {
	axis, ok := c.axis("axis", 1, c.rank(0))
	if !ok {
		return nil
	}
	first := c.x(0).ball
	if first == nil || len(first.axes) == 0 {
		return nil
	}
	k := len(first.axes) - 1
	if first.axes[k] != axis {
		return nil
	}
	var parts []*ball
	for i := range c.in {
		b := c.x(i).ball
		if b == nil || !slices.Equal(b.axes, first.axes) || !slices.Equal(b.sizes[:k], first.sizes[:k]) {
			return nil
		}
		parts = append(parts, b)
	}
	return concatBalls(parts, k)
}

func concatBalls(parts []*ball, k int) *ball {
	first := parts[0]
	sizes := slices.Clone(first.sizes)
	sizes[k] = 0
	squares := make([]float64, first.heads())
	for _, b := range parts {
		sizes[k] += b.sizes[k]
		for h, r := range b.spreads() {
			squares[h] += r * r
		}
	}
	var center []float64
	for o := range size(first.sizes[:k]) {
		for _, b := range parts {
			center = append(center, b.center[o*b.sizes[k]:(o+1)*b.sizes[k]]...)
		}
	}
	out := newBall(first.axes, sizes, center, 0)
	out.groups, out.radius = len(squares), squares
	for h, s := range squares {
		out.radius[h] = math.Sqrt(s) * grow
	}
	return out
}

// followExpand repeats whole vectors along other axes.
func followExpand(c *call) *ball {
	b := c.aligned(0)
	if b == nil || !b.fits(c.shapeOut(0)) {
		return nil
	}
	return b
}
