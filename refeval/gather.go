package refeval

import "slices"

// gatherOps are operators that read or write by index.
func gatherOps() []entry {
	return append(append(scatterOps(), selectOps()...),
		mover("Gather", gather),
		mover("GatherElements", gatherElements),
		mover("GatherND", gatherND),
	)
}

// index returns a position along a dimension of n; negative ones count from its end.
func index(i int64, n int) int {
	k := i
	if k < 0 {
		k += int64(n)
	}
	if k < 0 || k >= int64(n) {
		refuse("index %d into a dimension of %d", i, n)
	}
	return int(k)
}

// indices returns the elements of an integer tensor as positions along a dimension of n.
func (t *Tensor) indices(n int) []int {
	list := t.ints()
	for i, k := range list {
		list[i] = index(int64(k), n)
	}
	return list
}

func gather(c *Call) error {
	x, ind := c.In(0), c.In(1)
	at := axis(c.Int("axis"), x.Rank())
	outer, n, inner := split3(x.Dims, at)
	list := ind.indices(n)
	y := c.Out(0, x.Elem, slices.Concat(x.Dims[:at], ind.Dims, x.Dims[at+1:]))
	for o := range outer {
		for k, i := range list {
			copyRun(y, (o*len(list)+k)*inner, x, (o*n+i)*inner, inner)
		}
	}
	return nil
}

// gatherElements reads one element for each index, at the place of the index in all dimensions but
// one.
func gatherElements(c *Call) error {
	x, ind := c.In(0), c.In(1)
	y := c.Out(0, x.Elem, ind.Dims)
	take(y, x, elementsAt(x.Dims, ind, axis(c.Int("axis"), x.Rank())))
	return nil
}

// elementsAt returns the flat positions in a tensor of the given shape that indices along an axis
// speak of.
func elementsAt(dims []int, ind *Tensor, axis int) []int {
	if ind.Rank() != len(dims) {
		refuse("indices %v into the shape %v", ind.Dims, dims)
	}
	for i, d := range ind.Dims {
		if i != axis && d > dims[i] {
			refuse("indices %v into the shape %v", ind.Dims, dims)
		}
	}
	at, list := 0, ind.indices(dims[axis])
	step := strides(dims)
	along := step[axis]
	step[axis] = 0
	last := step[len(step)-1]
	walk(ind.Dims, func(off []int, n int) {
		for i := range n {
			list[at] = list[at]*along + off[0] + i*last
			at++
		}
	}, step)
	return list
}

// gatherND reads the block that each row of indices names, within the batch of the row.
func gatherND(c *Call) error {
	x, ind := c.In(0), c.In(1)
	batch := c.Int("batch_dims")
	if ind.Rank() == 0 || batch < 0 || batch >= ind.Rank() || batch > x.Rank() ||
		!slices.Equal(x.Dims[:batch], ind.Dims[:batch]) {
		refuse("indices %v into %s with %d batch dimensions", ind.Dims, x, batch)
	}
	depth := ind.Dims[ind.Rank()-1]
	if batch+depth > x.Rank() {
		refuse("%d indices into %s", depth, x)
	}
	block := size(x.Dims[batch+depth:])
	y := c.Out(0, x.Elem, slices.Concat(ind.Dims[:ind.Rank()-1], x.Dims[batch+depth:]))
	rows := size(ind.Dims[batch : ind.Rank()-1])
	own := size(x.Dims[batch:])
	for i, k := range rowsAt(x.Dims[batch:batch+depth], ind) {
		copyRun(y, i*block, x, i/max(rows, 1)*own+k*block, block)
	}
	return nil
}

// rowsAt returns, for each row of indices, the number of the block that it names in a tensor whose
// leading dimensions are given.
func rowsAt(dims []int, ind *Tensor) []int {
	depth, step := len(dims), strides(dims)
	rows := make([]int, size(ind.Dims[:ind.Rank()-1]))
	for r := range rows {
		for k, s := range step {
			rows[r] += s * index(ind.I[r*depth+k], dims[k])
		}
	}
	return rows
}
