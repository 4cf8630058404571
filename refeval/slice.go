package refeval

// cut is what Slice keeps of one dimension.
type cut struct{ from, step, n int }

func slice(c *Call) error {
	x := c.In(0)
	starts, ends, list, steps := c.sliceArgs(x.Rank())
	dims := make([]int, x.Rank())
	copy(dims, x.Dims)
	from := whole(x)
	own := whole(x).strides
	seen := make([]bool, x.Rank())
	for i, a := range list {
		a = axis(a, x.Rank())
		if seen[a] {
			refuse("axis %d stands twice in %v", a, list)
		}
		seen[a] = true
		k := cutOf(starts[i], ends[i], steps[i], x.Dims[a])
		dims[a] = k.n
		from.off += k.from * own[a]
		from.strides[a] = k.step * own[a]
	}
	y := c.Out(0, x.Elem, dims)
	copyBox(y, whole(y), x, from, dims)
	return nil
}

// sliceArgs returns as many starts, ends, axes and steps as one another.
func (c *Call) sliceArgs(rank int) (starts, ends, list, steps []int) {
	if c.Version < 10 {
		starts, ends, list = c.Ints("starts"), c.Ints("ends"), c.Ints("axes")
	} else {
		starts, ends = c.In(1).ints(), c.In(2).ints()
		if c.Has(3) {
			list = c.In(3).ints()
		}
		if c.Has(4) {
			steps = c.In(4).ints()
		}
	}
	if list == nil {
		list = allAxes(min(len(starts), rank))
	}
	if steps == nil {
		steps = make([]int, len(starts))
		for i := range steps {
			steps[i] = 1
		}
	}
	if len(ends) != len(starts) || len(list) != len(starts) || len(steps) != len(starts) {
		refuse("%d starts, %d ends, %d axes, %d steps", len(starts), len(ends), len(list), len(steps))
	}
	return starts, ends, list, steps
}

// cutOf resolves one slice of a dimension of n: negative bounds count from the end, and what lies
// outside is left out.
func cutOf(start, end, step, n int) cut {
	if step == 0 {
		refuse("a step of 0")
	}
	start, end = fromEnd(start, n), fromEnd(end, n)
	if step > 0 {
		start, end = min(max(start, 0), n), min(max(end, 0), n)
	} else {
		start, end = min(max(start, -1), n-1), min(max(end, -1), n-1)
	}
	k := cut{from: start, step: step}
	switch {
	case step > 0 && end > start:
		k.n = (end-start-1)/step + 1
	case step < 0 && end < start:
		k.n = (end-start+1)/step + 1
	default:
		k.from = 0
	}
	return k
}

func fromEnd(i, n int) int {
	if i < 0 {
		i += n
	}
	return i
}
