package refeval

import (
	"slices"
)

// movementOps are the operators that bring elements into another order.
func movementOps() []entry {
	return append(padOps(),
		mover("Concat", concat),
		mover("DepthToSpace", depthToSpace),
		mover("Expand", expand),
		mover("ReverseSequence", reverseSequence),
		mover("Slice", slice),
		mover("SpaceToDepth", spaceToDepth),
		mover("Split", split),
		mover("Tile", tile),
		mover("Transpose", transpose),
		op("Trilu", trilu),
	)
}

// expand repeats along dimensions of 1, in either shape.
func expand(c *Call) error {
	x := c.In(0)
	y := c.rawOut(0, x.Elem, broadcast(x.Dims, c.In(1).ints()))
	copyBox(y, whole(y), x, layout{strides: spread(x.Dims, y.Dims)}, y.Dims)
	return nil
}

// transpose reverses the dimensions where it is given no order.
func transpose(c *Call) error {
	x := c.In(0)
	perm := c.Ints("perm")
	if perm == nil {
		perm = allAxes(len(x.Dims))
		slices.Reverse(perm)
	}
	if !slices.Equal(axes(perm, len(x.Dims)), allAxes(len(x.Dims))) {
		refuse("the order %v of the dimensions of %s", perm, x)
	}
	c.permute(x, perm)
	return nil
}

// permute sets output 0 to x with its dimensions in another order.
func (c *Call) permute(x *Tensor, perm []int) *Tensor {
	own := strides(x.Dims)
	dims, from := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		dims[i], from[i] = x.Dims[p], own[p]
	}
	y := c.rawOut(0, x.Elem, dims)
	copyBox(y, whole(y), x, layout{strides: from}, dims)
	return y
}

func concat(c *Call) error {
	first := c.In(0)
	at := axis(c.IntOr("axis", 1), first.Rank()) // 1 was the default of opset 1, later ones require it
	dims := slices.Clone(first.Dims)
	dims[at] = 0
	for i := range c.Len() {
		x := c.In(i)
		if sameType(first, x); x.Rank() != first.Rank() {
			refuse("%s and %s do not go together along axis %d", first, x, at)
		}
		dims[at] += x.Dims[at]
		for d := range dims {
			if d != at && x.Dims[d] != dims[d] {
				refuse("%s and %s do not go together along axis %d", first, x, at)
			}
		}
	}
	y := c.rawOut(0, first.Elem, dims)
	to := whole(y)
	for i := range c.Len() {
		x := c.In(i)
		copyBox(y, to, x, whole(x), x.Dims)
		to.off += x.Dims[at] * to.strides[at]
	}
	return nil
}

// split cuts along an axis: into given lengths, or into as many parts as there are outputs, the
// last of which may be shorter.
func split(c *Call) error {
	x := c.In(0)
	at := axis(c.Int("axis"), x.Rank())
	from := whole(x)
	total := 0
	for i, n := range c.parts(x.Dims[at]) {
		if total += n; n < 0 || total > x.Dims[at] {
			refuse("the parts take more than the %d of dimension %d", x.Dims[at], at)
		}
		dims := slices.Clone(x.Dims)
		dims[at] = n
		y := c.rawOut(i, x.Elem, dims)
		copyBox(y, whole(y), x, from, dims)
		from.off += n * from.strides[at]
	}
	if total != x.Dims[at] {
		refuse("the parts take %d of the %d of dimension %d", total, x.Dims[at], at)
	}
	return nil
}

// parts returns the lengths that Split cuts n into.
func (c *Call) parts(n int) []int {
	if c.Has(1) {
		return c.In(1).ints()
	}
	if list := c.Ints("split"); list != nil {
		return list
	}
	k := c.IntOr("num_outputs", len(c.Node.Outputs))
	if k < 1 || k > 1<<20 {
		refuse("%d parts", k)
	}
	list := make([]int, k)
	each := (n + k - 1) / k
	for i := range list {
		list[i] = max(0, min(each, n-i*each))
	}
	return list
}

// reverseSequence turns round the first elements of each row along the time axis.
func reverseSequence(c *Call) error {
	x, lens := c.In(0), c.In(1).ints()
	time, batch := axis(c.Int("time_axis"), x.Rank()), axis(c.Int("batch_axis"), x.Rank())
	if time == batch || len(lens) != x.Dims[batch] {
		refuse("%d lengths for %s with time axis %d and batch axis %d", len(lens), x, time, batch)
	}
	y := c.Clone(x)
	c.Set(0, TensorValue(y))
	dims := slices.Clone(x.Dims)
	dims[batch] = 1
	for b, n := range lens {
		if n < 0 || n > x.Dims[time] {
			refuse("a length of %d along a dimension of %d", n, x.Dims[time])
		}
		dims[time] = n
		to, from := whole(y), whole(x)
		to.off = b * to.strides[batch]
		from.off = to.off + max(n-1, 0)*from.strides[time]
		from.strides[time] = -from.strides[time]
		copyBox(y, to, x, from, dims)
	}
	return nil
}

// tile repeats the whole; in opset 1 along one axis.
func tile(c *Call) error {
	x := c.In(0)
	repeats := make([]int, x.Rank())
	if c.Version < 6 {
		for i := range repeats {
			repeats[i] = 1
		}
		repeats[axis(int(c.In(2).scalar()), x.Rank())] = int(c.In(1).scalar())
	} else {
		repeats = c.In(1).ints()
	}
	if len(repeats) != x.Rank() {
		refuse("%d repeats of %s", len(repeats), x)
	}
	dims := make([]int, 0, 2*x.Rank())
	out := make([]int, x.Rank())
	from := make([]int, 0, 2*x.Rank())
	for i, s := range strides(x.Dims) {
		dims, from = append(dims, repeats[i], x.Dims[i]), append(from, 0, s)
		out[i] = repeats[i] * x.Dims[i]
	}
	y := c.Out(0, x.Elem, out)
	copyBox(y, layout{strides: strides(dims)}, x, layout{strides: from}, dims)
	return nil
}

// trilu keeps the triangle above or below a diagonal.
func trilu(c *Call) error {
	x := c.In(0)
	if x.Rank() < 2 {
		refuse("%s is no matrix", x)
	}
	k, upper := 0, c.Int("upper") != 0
	if c.Has(1) {
		k = c.In(1).int()
	}
	rows, cols := x.Dims[x.Rank()-2], x.Dims[x.Rank()-1]
	y := c.Out(0, x.Elem, x.Dims)
	for r := range size(x.Dims[:x.Rank()-1]) {
		at := r * cols
		edge := r%max(rows, 1) + k // first column of the upper triangle, last of the lower
		if upper {
			from := min(max(edge, 0), cols)
			copyRun(y, at+from, x, at+from, cols-from)
		} else {
			copyRun(y, at, x, at, min(max(edge+1, 0), cols))
		}
	}
	return nil
}
