package refeval

import (
	"fmt"
	"slices"
)

func padOps() []entry {
	return []entry{
		mover("CenterCropPad", centerCropPad),
		op("Pad", pad),
	}
}

// padMode says how the border of a dimension is filled.
type padMode string

const (
	padConstant padMode = "constant"
	padReflect  padMode = "reflect"
	padEdge     padMode = "edge"
	padWrap     padMode = "wrap"
)

// pad widens dimensions at both ends. Negative widths cut off, before what is left is widened.
func pad(c *Call) error {
	x := c.In(0)
	begin, end := c.padArgs(x.Rank())
	dims := make([]int, x.Rank())
	for d, n := range x.Dims {
		dims[d] = n + begin[d] + end[d]
	}
	y := c.Out(0, x.Elem, dims)
	if y.Len() == 0 {
		return nil
	}
	mode := padMode(c.Str("mode"))
	if mode == padConstant {
		if v := c.padValue(x); v != nil {
			fill(y, v)
		}
		inlay(y, x, begin)
		return nil
	}
	maps := make([][]int, x.Rank())
	for d, n := range x.Dims {
		maps[d] = mode.along(n, begin[d], end[d])
	}
	pickBox(y, x, maps)
	return nil
}

// inlay copies what two tensors have in common where x starts at the given place of y.
func inlay(y, x *Tensor, start []int) {
	box := make([]int, x.Rank())
	to, from := whole(y), whole(x)
	for d, n := range x.Dims {
		lo, hi := max(0, start[d]), min(y.Dims[d], n+start[d])
		if hi <= lo {
			return
		}
		box[d] = hi - lo
		to.off += lo * to.strides[d]
		from.off += (lo - start[d]) * from.strides[d]
	}
	copyBox(y, to, x, from, box)
}

// padArgs returns the widths before and behind every dimension.
func (c *Call) padArgs(rank int) (begin, end []int) {
	var list, pads []int
	switch {
	case c.Has(1):
		pads = c.In(1).ints()
	case c.hasAttr("paddings"): // of opset 1
		pads = c.Ints("paddings")
	default:
		pads = c.Ints("pads")
	}
	list = allAxes(rank)
	if c.Has(3) {
		list = c.In(3).ints()
		axes(list, rank)
	}
	if len(pads) != 2*len(list) {
		refuse("%d widths for %d dimensions", len(pads), len(list))
	}
	begin, end = make([]int, rank), make([]int, rank)
	for i, a := range list {
		begin[axis(a, rank)], end[axis(a, rank)] = pads[i], pads[len(list)+i]
	}
	return begin, end
}

// padValue returns what a constant border holds, nil where that is zero.
func (c *Call) padValue(x *Tensor) *Tensor {
	if c.Has(2) {
		sameType(x, c.In(2))
		return c.In(2).view([]int{})
	}
	v := c.Float("value")
	if v == 0 {
		return nil
	}
	t := c.Temp(x.Elem, []int{})
	t.put64(0, v)
	return t
}

// along returns where the elements along one dimension of n come from.
func (m padMode) along(n, begin, end int) []int {
	list := make([]int, n+begin+end)
	lo, hi := max(0, -begin), n-max(0, -end) // what cutting leaves
	if hi <= lo {
		refuse("nothing is left of a dimension of %d to fill a border with", n)
	}
	for i := range list {
		list[i] = m.place(i-begin, lo, hi)
	}
	return list
}

// place returns where the element at place i of a dimension lies in [lo, hi).
func (m padMode) place(i, lo, hi int) int {
	if i >= lo && i < hi {
		return i
	}
	n := hi - lo
	switch m {
	case padEdge:
		return min(max(i, lo), hi-1)
	case padWrap:
		return lo + modulus(i-lo, n)
	case padReflect:
		if n == 1 {
			return lo
		}
		k := modulus(i-lo, 2*(n-1))
		return lo + min(k, 2*(n-1)-k)
	}
	panic(refusal{fmt.Errorf("unknown mode %q", string(m))})
}

// modulus is the remainder that is never negative.
func modulus(i, n int) int {
	r := i % n
	if r < 0 {
		r += n
	}
	return r
}

// centerCropPad cuts or widens around the middle; an odd rest goes to the end.
func centerCropPad(c *Call) error {
	x, shape := c.In(0), c.In(1).ints()
	list := c.Ints("axes")
	if list == nil {
		list = allAxes(x.Rank())
	}
	if len(shape) != len(list) {
		refuse("%d dimensions for %d axes", len(shape), len(list))
	}
	dims := slices.Clone(x.Dims)
	for i, a := range list {
		dims[axis(a, x.Rank())] = shape[i]
	}
	y := c.Out(0, x.Elem, dims)
	start := make([]int, x.Rank())
	for d, n := range x.Dims {
		if dims[d] >= n {
			start[d] = (dims[d] - n) / 2
		} else {
			start[d] = -((n - dims[d]) / 2)
		}
	}
	inlay(y, x, start)
	return nil
}
