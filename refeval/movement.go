package refeval

import (
	"slices"
)

// movementOps are the operators that bring elements into another order.
func movementOps() []entry {
	return []entry{
		mover("Expand", expand),
		mover("Transpose", transpose),
	}
}

// expand repeats along dimensions of 1, in either shape.
func expand(c *Call) error {
	x := c.In(0)
	y := c.Out(0, x.Elem, broadcast(x.Dims, c.In(1).ints()))
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
	own := strides(x.Dims)
	dims, from := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		dims[i], from[i] = x.Dims[p], own[p]
	}
	y := c.Out(0, x.Elem, dims)
	copyBox(y, whole(y), x, layout{strides: from}, dims)
	return nil
}
