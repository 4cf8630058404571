package rangeprop

import "slices"

// splitOp cuts an axis into parts of given or equal sizes.
func splitOp(c *call) []*Val {
	v, ok := c.full(0)
	axis, ok2 := c.axis("axis", 0, c.rank(0))
	outs := make([]*Val, len(c.n.Outputs))
	at := 0
	for i := range outs {
		outs[i] = v.flat()
		if !ok || !ok2 {
			continue
		}
		outs[i] = v.joinAxis(axis)
		s := c.shapeOut(i)
		if len(s) != len(v.dims) || !s[axis].Known() || at < 0 {
			at = -1
			continue
		}
		if n := int(s[axis].N); at+n <= v.dims[axis] || v.dims[axis] == 1 {
			outs[i] = v.pick(axis, seq(at, at+n))
			at += n
		}
	}
	return outs
}

// sliceOp picks along axes whose ends are known; other axes become one bound.
func sliceOp(c *call) *Val {
	v, ok := c.full(0)
	if !ok {
		return v.flat()
	}
	starts, ends, axes, steps, known := c.slices(len(v.dims))
	if !known {
		return v.flat()
	}
	for i, a := range axes {
		if a < 0 {
			a += int64(len(v.dims))
		}
		if a < 0 || int(a) >= len(v.dims) {
			return v.flat()
		}
		if n := v.dims[a]; n > 1 {
			v = v.pick(int(a), span(n, starts[i], ends[i], steps[i]))
		}
	}
	w := v.clone().plain()
	w.shares = c.x(0).shares.less()
	return w
}

// slices reads the ends of a Slice: attributes up to opset 9, inputs after.
func (c *call) slices(rank int) (starts, ends, axes, steps []int64, ok bool) {
	if c.n.Version() < 10 {
		starts, ends, axes = c.n.Ints("starts"), c.n.Ints("ends"), c.n.Ints("axes")
	} else {
		var a, b bool
		starts, a = c.ints(1)
		ends, b = c.ints(2)
		if !a || !b {
			return nil, nil, nil, nil, false
		}
		if c.n.In(3) != nil {
			if axes, a = c.ints(3); !a {
				return nil, nil, nil, nil, false
			}
		}
		if c.n.In(4) != nil {
			if steps, a = c.ints(4); !a {
				return nil, nil, nil, nil, false
			}
		}
	}
	for i := len(axes); i < len(starts); i++ {
		axes = append(axes, int64(i))
	}
	for i := len(steps); i < len(starts); i++ {
		steps = append(steps, 1)
	}
	return starts, ends, axes, steps, len(ends) == len(starts) && len(axes) == len(starts) && len(steps) == len(starts)
}

// span lists the positions that a slice takes from an axis of n.
func span(n int, start, end, step int64) []int {
	fix := func(x, low, high int64) int64 {
		if x < 0 {
			x += int64(n)
		}
		return min(max(x, low), high)
	}
	var at []int
	switch {
	case step > 0:
		for i := fix(start, 0, int64(n)); i < fix(end, 0, int64(n)); i += step {
			at = append(at, int(i))
		}
	case step < 0:
		for i := fix(start, -1, int64(n)-1); i > fix(end, -1, int64(n)-1) && i >= 0; i += step {
			at = append(at, int(i))
		}
	}
	return at
}

// gatherOp picks rows by constant indices, or joins the rows within reach.
func gatherOp(c *call) *Val {
	v, ok := c.full(0)
	axis, ok2 := c.axis("axis", 0, c.rank(0))
	shape := c.shape(1)
	if !ok || !ok2 || shape == nil {
		return v.flat()
	}
	at, known := c.ints(1)
	for i := range at {
		if at[i] < 0 {
			at[i] += c.shape(0)[axis].N
		}
	}
	if known && v.dims[axis] > 1 && len(at)*(len(v.lo)/v.dims[axis]) <= 1<<18 {
		places := make([]int, len(at))
		for i, k := range at {
			places[i] = int(k)
		}
		if v = v.pick(axis, places); len(v.dims) > 0 {
			return v.with(slices.Concat(v.dims[:axis], kept(shape), v.dims[axis+1:]), v.lo, v.hi)
		}
		return v
	}
	v = v.reachable(axis, c.x(1).Hull())
	dims := slices.Clone(v.dims[:axis])
	for range shape {
		dims = append(dims, 1)
	}
	return v.with(append(dims, v.dims[axis+1:]...), v.lo, v.hi)
}

// reachable joins the rows of an axis that indices in a range can pick.
func (v *Val) reachable(axis int, r Range) *Val {
	n := v.dims[axis]
	if n > 1 && r.Lo >= 0 && r.Hi < float64(n) && r.Lo <= r.Hi {
		v = v.pick(axis, seq(int(r.Lo), int(r.Hi)+1))
	}
	return v.joinAxis(axis)
}

// gatherElementsOp picks along one axis only.
func gatherElementsOp(c *call) *Val {
	v, ok := c.full(0)
	axis, ok2 := c.axis("axis", 0, c.rank(0))
	if !ok || !ok2 {
		return v.flat()
	}
	s := c.shape(1) // indices may be shorter than the data along the other axes
	keep := make([]bool, len(v.dims))
	for i := range keep {
		keep[i] = i != axis && i < len(s) && s[i] == c.shape(0)[i]
	}
	return v.collapse(keep)
}
