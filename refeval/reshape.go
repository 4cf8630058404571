package refeval

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// reshapeOps are the operators that leave the order of the elements alone.
func reshapeOps() []entry {
	return []entry{
		mover("Flatten", flatten),
		mover("Identity", identity),
		mover("Reshape", reshape),
		op("Shape", shapeOf),
		op("Size", sizeOf),
		mover("Squeeze", squeeze),
		mover("Unsqueeze", unsqueeze),
	}
}

// identity passes on a value of any kind.
func identity(c *Call) error {
	c.Set(0, c.Value(0))
	return nil
}

func flatten(c *Call) error {
	x := c.In(0)
	a := c.Int("axis")
	if a != len(x.Dims) {
		a = axis(a, len(x.Dims)) // one more than the last is allowed
	}
	c.View(0, x, []int{size(x.Dims[:a]), size(x.Dims[a:])})
	return nil
}

// reshape reads 0 as the dimension of the input and one -1 as what is left.
func reshape(c *Call) error {
	x := c.In(0)
	var dims []int
	if c.Version < 5 {
		dims = c.Ints("shape")
	} else {
		dims = slices.Clone(c.In(1).ints())
	}
	open, n := -1, 1
	for i, d := range dims {
		if d == 0 && c.Int("allowzero") == 0 {
			if i >= len(x.Dims) {
				refuse("dimension %d of %v is that of the input, %s", i, dims, x)
			}
			dims[i] = x.Dims[i]
		}
		if d == -1 {
			if open >= 0 {
				refuse("the shape %v leaves two dimensions open", dims)
			}
			open = i
			continue
		}
		n *= dims[i]
	}
	if open >= 0 {
		if n <= 0 || x.Len()%n != 0 {
			refuse("%s does not make the shape %v", x, dims)
		}
		dims[open] = x.Len() / n
	}
	c.View(0, x, dims)
	return nil
}

func shapeOf(c *Call) error {
	dims := c.In(0).Dims
	n := len(dims)
	clamp := func(i int) int {
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	from, to := clamp(c.Int("start")), clamp(c.IntOr("end", n))
	c.dimsOut(0, dims[from:max(from, to)])
	return nil
}

func sizeOf(c *Call) error {
	c.Out(0, graph.Int64, []int{}).I[0] = int64(c.In(0).Len())
	return nil
}

// squeeze takes out the named dimensions, or all of 1.
func squeeze(c *Call) error {
	x := c.In(0)
	list, given := c.axesArg(1, len(x.Dims))
	dims := []int{}
	for i, d := range x.Dims {
		switch out := slices.Contains(list, i); {
		case given && out && d != 1:
			refuse("dimension %d of %s is not 1", i, x)
		case given && !out || !given && d != 1:
			dims = append(dims, d)
		}
	}
	c.View(0, x, dims)
	return nil
}

func unsqueeze(c *Call) error {
	x := c.In(0)
	n := len(c.Ints("axes"))
	if c.Has(1) {
		n = c.In(1).Len()
	}
	list, _ := c.axesArg(1, len(x.Dims)+n)
	dims := make([]int, 0, len(x.Dims)+n)
	rest := x.Dims
	for i := range len(x.Dims) + n {
		if slices.Contains(list, i) {
			dims = append(dims, 1)
			continue
		}
		dims, rest = append(dims, rest[0]), rest[1:]
	}
	c.View(0, x, dims)
	return nil
}
