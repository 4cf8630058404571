package infer

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// cut is a slice along one axis.
type cut struct {
	axis             int
	start, end, step num
}

// slices returns the cuts of a Slice node: attributes before opset 10, inputs since. It is false where the axes
// are unknown or the lists disagree.
func (c *ctx) slices(rank int) ([]cut, bool) {
	starts, ends := intNums(c.n.Ints("starts")), intNums(c.n.Ints("ends"))
	axes, known := c.n.Ints("axes"), true
	var steps []num
	if c.n.Attr("starts") == nil {
		starts, ends = c.orUnknown(1), c.orUnknown(2)
		if c.has(3) {
			axes, known = c.consts(3)
		}
		if c.has(4) {
			steps = c.orUnknown(4)
		}
	}
	if !known || starts == nil || len(starts) != len(ends) || axes != nil && len(axes) != len(starts) ||
		steps != nil && len(steps) != len(starts) || len(starts) > rank {
		return nil, false
	}
	list := make([]cut, len(starts))
	for i := range starts {
		list[i] = cut{i, starts[i], ends[i], intNum(1)}
		if steps != nil {
			list[i].step = steps[i]
		}
		if axes != nil {
			a, err := c.axis(axes[i], rank)
			if err != nil {
				return nil, false
			}
			list[i].axis = a
		}
	}
	return list, true
}

// orUnknown returns the elements of an input; unknown ones where only their number is known.
func (c *ctx) orUnknown(i int) []num {
	if list := c.nums(i); list != nil {
		return list
	}
	if n := c.count(i); n >= 0 && n <= maxRank {
		return make([]num, n)
	}
	return nil
}

// numbers clamps a cut of known numbers to a size; ok is false where one is not known.
func (s cut) numbers(size int64) (start, end, step int64, ok bool) {
	if s.start.k != numInt || s.end.k != numInt || s.step.k != numInt || s.step.i == 0 || s.step.i == math.MinInt64 {
		return 0, 0, 0, false
	}
	start, end, step = s.start.i, s.end.i, s.step.i
	if start < 0 {
		start = addSat(start, size)
	}
	if end < 0 {
		end = addSat(end, size)
	}
	if step > 0 {
		return clamp(start, 0, size), clamp(end, 0, size), step, true
	}
	return clamp(start, -1, size-1), clamp(end, -1, size-1), step, true
}

func clamp(x, lo, hi int64) int64 { return max(lo, min(x, hi)) }

func slice(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if s == nil {
		return nil
	}
	list, ok := c.slices(len(s))
	if !ok {
		if c.has(3) && c.nums(3) == nil || c.has(1) && c.count(1) < 0 {
			c.set(0, c.freshShape(len(s)))
			return nil
		}
		return c.errorf("starts, ends, axes and steps do not fit one another or the shape %s", s)
	}
	for _, k := range list {
		if k.step.is(0) {
			return c.errorf("a step of 0")
		}
		s[k.axis] = c.cutDim(s[k.axis], k)
	}
	c.set(0, s)
	return nil
}

// cutDim returns the size that a cut leaves of a dimension.
func (c *ctx) cutDim(d graph.Dim, k cut) graph.Dim {
	if d.Known() {
		if start, end, step, ok := k.numbers(d.N); ok {
			return graph.Dim{N: cutLen(start, end, step)}
		}
	}
	size := c.num(d)
	if k.step.k != numInt || k.step.i < 0 {
		return c.reversed(d, k)
	}
	start, end := c.place(k.start, size), c.place(k.end, size)
	if start.is(0) && end.equal(size) && k.step.is(1) {
		return d
	}
	n := subNum(end, start)
	if sign, ok := c.sign(n, intNum(0)); ok && sign < 0 {
		n = intNum(0)
	}
	return c.dim(c.ceilDivNum(n, k.step.i))
}

// reversed knows one slice with a negative step, the whole axis backwards.
func (c *ctx) reversed(d graph.Dim, k cut) graph.Dim {
	if k.step.is(-1) && k.start.is(-1) && k.end.k == numInt && k.end.i <= -math.MaxInt32 {
		return d
	}
	return c.fresh()
}

func cutLen(start, end, step int64) int64 {
	if step > 0 && start < end {
		return (end-start-1)/step + 1
	}
	if step < 0 && start > end {
		return (start-end-1)/-step + 1
	}
	return 0
}

// insideIndex is the index up to which a symbolic size is taken to reach: x[:1] and x[1:] of a sequence are written
// for sequences that are not empty, whereas x[:512] truncates.
const insideIndex = 8

// place clamps an index of a cut with a positive step into [0, size]. A symbolic index is taken to lie inside,
// since it was computed for this axis, unless its bounds say otherwise.
func (c *ctx) place(x, size num) num {
	switch {
	case x.k == numInt && x.i <= -math.MaxInt32:
		return intNum(0)
	case x.k == numInt && x.i >= math.MaxInt32:
		return size
	case x.k == numInt && x.i < -insideIndex:
		return c.maxNum(addNum(size, x), intNum(0))
	case x.k == numInt && x.i < 0:
		return addNum(size, x)
	case x.k == numInt && x.i > insideIndex:
		return c.minNum(x, size)
	}
	if lo, hi := c.difference(x, size); lo >= 0 {
		return size
	} else if hi > minusInf && c.negative(x) {
		return addNum(size, x)
	}
	return x
}

// negative tells whether a symbolic index counts from the end.
func (c *ctx) negative(x num) bool {
	sign, ok := c.sign(x, intNum(0))
	return ok && sign < 0
}
