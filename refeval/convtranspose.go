package refeval

import "slices"

// convTranspose spreads each element of the image over the result by the kernel: weights are
// [C, M/group, …].
func convTranspose(c *Call) error {
	x, w := c.In(0), c.In(1)
	checkImage(x, w)
	group := max(c.Int("group"), 1)
	n, ch, rows := x.Dims[0], x.Dims[1], w.Dims[1]
	if w.Dims[0] != ch || ch%group != 0 {
		refuse("weights %s in %d groups for an image %s", w, group, x)
	}
	g := c.transposed(x.Dims[2:], c.kernelShape(w.Dims[2:]))
	y := c.Out(0, x.Elem, append([]int{n, rows * group}, g.in...))
	each, depth := ch/group, rows*g.taps()
	if y.F != nil && y.Len() > 0 && x.Len() > 0 {
		checkBias(c.In(2), rows*group)
		c.room(4 * int64(depth) * int64(size(g.out)))
		k := g.kern(n, ch, rows*group, group)
		k.Size, k.Sum = g.out, c.accum().products()
		c.engine().ConvTranspose(y.F, x.F, w.F, floats(c.as(c.In(2), x.Elem)), k, g.in)
		return nil
	}
	if y.Len() > 0 && x.Len() > 0 {
		cols := c.Temp(x.Elem, []int{depth, size(g.out)})
		turned := c.Temp(w.Elem, []int{group, depth, each})
		copyBox(turned, whole(turned), w, layout{strides: []int{each * depth, 1, depth}}, turned.Dims)
		for i := range n * group {
			c.matmulOf(zeroed(cols), 0, turned, i%group*depth*each, x, i*each*size(g.out), depth, size(g.out), each)
			c.collect(y, i*rows*size(g.in), cols, 0, g, rows)
		}
	}
	c.addBias(y, c.In(2))
	return nil
}

// zeroed clears the elements that products of doubles and integers are added to.
func zeroed(t *Tensor) *Tensor {
	clear(t.D)
	clear(t.I)
	return t
}

// transposed returns the window whose steps are the elements of the image, and whose image is the
// result of ConvTranspose.
func (c *Call) transposed(in, kernel []int) window {
	n := len(in)
	g := window{c: c, in: make([]int, n), out: in, kernel: kernel,
		stride: c.IntsOr("strides", n, 1), dilation: c.IntsOr("dilations", n, 1),
		begin: make([]int, n), end: make([]int, n)}
	mode := c.Str("auto_pad")
	if mode == "" || mode == "NOTSET" {
		pads := c.IntsOr("pads", 2*n, 0)
		g.begin, g.end = pads[:n], pads[n:]
	}
	want := c.outputShape(in, g.stride, mode)
	more := c.IntsOr("output_padding", n, 0)
	for d := range n {
		if min(kernel[d], g.stride[d], g.dilation[d]) < 1 || max(kernel[d], g.stride[d], g.dilation[d], more[d]) > farthest {
			refuse("a kernel %v with strides %v and dilations %v", kernel, g.stride, g.dilation)
		}
		full := g.stride[d]*(in[d]-1) + more[d] + g.span(d)
		if want == nil {
			g.in[d] = full - g.begin[d] - g.end[d]
			continue
		}
		g.in[d] = want[d]
		total := max(0, full-want[d])
		g.begin[d] = total - total/2
		if mode == "SAME_UPPER" {
			g.begin[d] = total / 2
		}
	}
	return g
}

// outputShape returns the size that the result shall have, nil where it follows from the border.
func (c *Call) outputShape(in, stride []int, mode string) []int {
	if want := c.Ints("output_shape"); want != nil {
		if len(want) == len(in)+2 { // some files name batch and channels too
			want = want[2:]
		}
		if len(want) != len(in) {
			refuse("output_shape is %v for dimensions %v", want, in)
		}
		return want
	}
	if mode != "SAME_UPPER" && mode != "SAME_LOWER" {
		return nil
	}
	want := slices.Clone(in)
	for d := range want {
		want[d] *= stride[d]
	}
	return want
}

// col2Im adds up blocks, given as columns, into an image.
func col2Im(c *Call) error {
	x, image, block := c.In(0), c.In(1).ints(), c.In(2).ints()
	taps := size(block)
	if x.Rank() != 3 || taps < 1 || x.Dims[1]%taps != 0 {
		refuse("blocks %v in %s", block, x)
	}
	g := c.window(image, block)
	if size(g.out) != x.Dims[2] {
		refuse("%d blocks, %v of them make the image %v", x.Dims[2], g.out, image)
	}
	channels := x.Dims[1] / taps
	y := c.Out(0, x.Elem, append([]int{x.Dims[0], channels}, image...))
	for i := range x.Dims[0] {
		c.collect(y, i*channels*size(image), x, i*x.Dims[1]*x.Dims[2], g, channels)
	}
	return nil
}
