package refeval

// window is how a kernel moves over the spatial dimensions of an image. All lists are as long as
// there are such dimensions.
type window struct {
	in, out          []int
	kernel           []int
	stride, dilation []int
	begin, end       []int // the width of the border
	c                *Call
}

// farthest bounds what attributes say about a window, so that no sum of products of them overflows.
const farthest = 1 << 28

// span is the extent of the kernel along a dimension.
func (g *window) span(d int) int { return (g.kernel[d]-1)*g.dilation[d] + 1 }

// taps is the number of elements of the kernel.
func (g *window) taps() int { return size(g.kernel) }

// kernelShape returns the attribute of that name, which must agree with what the weights say.
func (c *Call) kernelShape(weights []int) []int {
	k := c.IntsOr("kernel_shape", len(weights), 0)
	for i, n := range weights {
		if k[i] != n && c.hasAttr("kernel_shape") {
			refuse("kernel_shape is %v, the weights have %v", k, weights)
		}
	}
	return weights
}

// window reads strides, dilations and pads, and works out the size of the result.
func (c *Call) window(in, kernel []int) window {
	n := len(in)
	g := window{c: c, in: in, kernel: kernel, stride: c.IntsOr("strides", n, 1), dilation: c.IntsOr("dilations", n, 1)}
	g.begin, g.end, g.out = make([]int, n), make([]int, n), make([]int, n)
	if len(kernel) != n {
		refuse("a kernel %v over dimensions %v", kernel, in)
	}
	for d := range n {
		if min(kernel[d], g.stride[d], g.dilation[d]) < 1 || max(kernel[d], g.stride[d], g.dilation[d]) > farthest {
			refuse("a kernel %v with strides %v and dilations %v", kernel, g.stride, g.dilation)
		}
	}
	g.place(c)
	g.fit()
	return g
}

// fit refuses a window of more steps or taps than can be held: what is made once for all planes
// counts even where there is no plane.
func (g *window) fit() {
	for _, dims := range [][]int{g.out, g.kernel} {
		n, err := count(dims)
		if err != nil {
			panic(refusal{err})
		}
		g.c.room(int64(n))
	}
}

// place sets the border and the size of the result.
func (g *window) place(c *Call) {
	n := len(g.in)
	mode := c.Str("auto_pad")
	if mode == "" || mode == "NOTSET" {
		pads := c.IntsOr("pads", 2*n, 0)
		for _, p := range pads {
			if p > farthest || p < -farthest {
				refuse("pads %v", pads)
			}
		}
		copy(g.begin, pads[:n])
		copy(g.end, pads[n:])
	}
	for d := range n {
		if mode == "SAME_UPPER" || mode == "SAME_LOWER" {
			g.out[d] = (g.in[d] + g.stride[d] - 1) / g.stride[d]
			total := max(0, (g.out[d]-1)*g.stride[d]+g.span(d)-g.in[d])
			g.begin[d] = total / 2
			if mode == "SAME_LOWER" {
				g.begin[d] = total - total/2
			}
			g.end[d] = total - g.begin[d]
			continue
		}
		g.out[d] = g.steps(d, c.Int("ceil_mode") != 0)
	}
}

// steps returns how often the kernel fits along a dimension. If the last step may stick out, it
// must still begin inside the image or the border before it.
func (g *window) steps(d int, ceil bool) int {
	room := g.in[d] + g.begin[d] + g.end[d] - g.span(d)
	if room < 0 {
		refuse("a kernel of %d over %d", g.span(d), g.in[d]+g.begin[d]+g.end[d])
	}
	if !ceil {
		return room/g.stride[d] + 1
	}
	n := (room+g.stride[d]-1)/g.stride[d] + 1
	if (n-1)*g.stride[d] >= g.in[d]+g.begin[d] {
		n--
	}
	return n
}

// at returns the position in the image, along a dimension, that tap k sees at step o.
func (g *window) at(d, o, k int) int { return o*g.stride[d] + k*g.dilation[d] - g.begin[d] }

// eachTap calls f for the taps of the kernel in row-major order.
func (g *window) eachTap(f func(tap int, k []int)) {
	k := make([]int, len(g.kernel))
	for tap := range g.taps() {
		g.c.spend(1)
		f(tap, k)
		advance(k, g.kernel)
	}
}

// advance moves an index on to the next of a shape in row-major order, from the last to the first.
func advance(at, dims []int) {
	for d := len(at) - 1; d >= 0; d-- {
		if at[d]++; at[d] < dims[d] {
			return
		}
		at[d] = 0
	}
}

// eachRow calls f for the runs of the result along its last dimension that a tap sees a row of the
// image in: o is the first element of the run, src the first of the row of the image.
func (g *window) eachRow(k []int, f func(o, src int)) {
	last := len(g.in) - 1
	o := make([]int, last)
	for i := range size(g.out[:last]) {
		src, inside := 0, true
		for d, od := range o {
			p := g.at(d, od, k[d])
			inside = inside && p >= 0 && p < g.in[d]
			src = src*g.in[d] + p
		}
		if inside {
			f(i*g.out[last], src*g.in[last])
		}
		advance(o, g.out[:last])
	}
}

// seen returns the steps lo to hi along the last dimension at which tap k lies inside the image.
func (g *window) seen(k int) (lo, hi int) {
	d := len(g.in) - 1
	off := k*g.dilation[d] - g.begin[d]
	if off < 0 {
		lo = (-off + g.stride[d] - 1) / g.stride[d]
	}
	if room := g.in[d] - off; room > 0 {
		hi = min(g.out[d], (room-1)/g.stride[d]+1)
	}
	return min(lo, hi), hi
}

// spreadTap sets dst, the size of the result, to what a tap sees of a plane at each step; what lies
// in the border is left alone.
func spreadTap[T any](g *window, dst, plane []T, k []int) {
	last := len(g.in) - 1
	lo, hi := g.seen(k[last])
	g.eachRow(k, func(o, src int) {
		p := src + g.at(last, lo, k[last])
		for i := lo; i < hi; i++ {
			dst[o+i] = plane[p]
			p += g.stride[last]
		}
	})
}

// collectTap adds to a plane what a tap makes of it at each step. It is the transpose of
// spreadTap.
func collectTap[T number](g *window, plane, src []T, k []int) {
	last := len(g.in) - 1
	lo, hi := g.seen(k[last])
	g.eachRow(k, func(o, to int) {
		p := to + g.at(last, lo, k[last])
		for i := lo; i < hi; i++ {
			plane[p] += src[o+i]
			p += g.stride[last]
		}
	})
}
