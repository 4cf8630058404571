package refeval

// depthToSpace moves blocks of channels into the image.
func depthToSpace(c *Call) error {
	x, b := c.In(0), c.Int("blocksize")
	n, ch, h, w := blocks(x, b)
	if ch%(b*b) != 0 {
		refuse("%d channels do not make blocks of %d x %d", ch, b, b)
	}
	ch /= b * b
	perm := []int{0, 3, 4, 1, 5, 2}
	dims := []int{n, b, b, ch, h, w}
	if c.Str("mode") == "CRD" {
		perm = []int{0, 1, 4, 2, 5, 3}
		dims = []int{n, ch, b, b, h, w}
	}
	y := c.permute(x.view(dims), perm)
	c.View(0, y, []int{n, ch, h * b, w * b})
	return nil
}

// spaceToDepth is the inverse of depthToSpace.
func spaceToDepth(c *Call) error {
	x, b := c.In(0), c.Int("blocksize")
	n, ch, h, w := blocks(x, b)
	if h%b != 0 || w%b != 0 {
		refuse("%s does not make blocks of %d x %d", x, b, b)
	}
	h, w = h/b, w/b
	perm := []int{0, 3, 5, 1, 2, 4}
	if c.Str("mode") == "CRD" {
		perm = []int{0, 1, 3, 5, 2, 4}
	}
	y := c.permute(x.view([]int{n, ch, h, b, w, b}), perm)
	c.View(0, y, []int{n, ch * b * b, h, w})
	return nil
}

func blocks(x *Tensor, b int) (n, ch, h, w int) {
	if x.Rank() != 4 || b < 1 || b > 1<<15 {
		refuse("blocks of %d in %s", b, x)
	}
	return x.Dims[0], x.Dims[1], x.Dims[2], x.Dims[3]
}
