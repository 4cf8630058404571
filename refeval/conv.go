package refeval

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// convOps are convolutions.
func convOps() []entry {
	return []entry{
		op("CausalConvWithState", causalConv),
		op("Col2Im", col2Im),
		op("Conv", conv),
		op("ConvInteger", convInteger),
		op("ConvTranspose", convTranspose),
		op("DeformConv", deformConv),
	}
}

func conv(c *Call) error {
	x, w := c.In(0), c.In(1)
	checkImage(x, w)
	g := c.window(x.Dims[2:], c.kernelShape(w.Dims[2:]))
	c.Set(0, TensorValue(c.convBiased(x, w, c.In(2), g, max(c.Int("group"), 1))))
	return nil
}

// checkImage refuses an image and weights of other ranks or types.
func checkImage(x, w *Tensor) {
	if sameType(x, w); x.Rank() < 3 || w.Rank() != x.Rank() {
		refuse("weights %s for an image %s", w, x)
	}
}

// addBias adds a number for each channel.
func (c *Call) addBias(y, bias *Tensor) {
	if bias == nil {
		return
	}
	checkBias(bias, y.Dims[1])
	c.affine(y, nil, perChannel(bias, y.Rank()))
}

// conv convolves an image [N, C, …] with weights [M, C/group, …]. Each element is the sum over the
// channels, then the taps of the kernel in row-major order; those in the border count as products
// with zero.
func (c *Call) conv(x, w *Tensor, g window, group int) *Tensor {
	n, ch, m, each := x.Dims[0], x.Dims[1], w.Dims[0], w.Dims[1]
	if ch != each*group || m%group != 0 {
		refuse("weights %s in %d groups for an image %s", w, group, x)
	}
	y := c.Temp(x.Elem, append([]int{n, m}, g.out...))
	outs, rows, depth := size(g.out), m/group, each*g.taps()
	if y.Len() == 0 || depth == 0 {
		return y
	}
	cols := c.columns(x, g, each)
	for i := range n * group {
		at := i * each * size(g.in)
		from := x
		if cols != nil {
			c.unfold(cols, x, at, g)
			from, at = cols, 0
		}
		c.matmulOf(y, i*rows*outs, w, i%group*rows*depth, from, at, rows, outs, depth)
	}
	return y
}

// columns makes room for what unfold returns, nil where the image itself has its form.
func (c *Call) columns(x *Tensor, g window, channels int) *Tensor {
	if g.taps() == 1 && slices.Equal(g.in, g.out) && size(g.stride) == 1 {
		return nil
	}
	return c.Temp(x.Elem, []int{channels * g.taps(), size(g.out)})
}

// unfold sets cols to a row for each channel and tap of the kernel, which holds what the tap sees
// at each step, zero in the border.
func (c *Call) unfold(cols, x *Tensor, at int, g window) {
	switch storeOf(x.Elem) {
	case storeF:
		unfoldOf(c, cols.F, x.F[at:], g)
	case storeD:
		unfoldOf(c, cols.D, x.D[at:], g)
	case storeI:
		unfoldOf(c, cols.I, x.I[at:], g)
	default:
		refuse("no convolutions of %s", x.Elem)
	}
}

func unfoldOf[T any](c *Call, cols, x []T, g window) {
	plane, outs, taps := size(g.in), size(g.out), g.taps()
	channels := len(cols) / (outs * taps)
	c.parallel(channels, outs*taps, func(lo, hi int) {
		clear(cols[lo*taps*outs : hi*taps*outs])
		for ch := lo; ch < hi; ch++ {
			g.eachTap(func(tap int, k []int) {
				row := cols[(ch*taps+tap)*outs:][:outs]
				spreadTap(&g, row, x[ch*plane:][:plane], k)
			})
		}
	})
}

// collect adds up columns into planes of an image from a place on: the transpose of unfold.
func (c *Call) collect(y *Tensor, at int, cols *Tensor, from int, g window, channels int) {
	switch storeOf(y.Elem) {
	case storeF:
		foldOf(c, y.F[at:], cols.F[from:], g, channels)
	case storeD:
		foldOf(c, y.D[at:], cols.D[from:], g, channels)
	case storeI:
		foldOf(c, y.I[at:], cols.I[from:], g, channels)
	default:
		refuse("no convolutions of %s", y.Elem)
	}
}

func foldOf[T number](c *Call, y, cols []T, g window, channels int) {
	plane, outs, taps := size(g.in), size(g.out), g.taps()
	a := c.accum()
	c.parallel(channels, outs*taps, func(lo, hi int) {
		for ch := lo; ch < hi; ch++ {
			to := y[ch*plane:][:plane]
			g.eachTap(func(tap int, k []int) {
				collectTap(&g, to, cols[(ch*taps+tap)*outs:][:outs], k)
				if f, ok := any(to).([]float32); ok {
					a.roundAll(f)
				}
			})
		}
	})
}

// convInteger convolves integers less their zero points.
func convInteger(c *Call) error {
	x, w := c.In(0), c.In(1)
	if x.Rank() < 3 || w.Rank() != x.Rank() {
		refuse("weights %s for an image %s", w, x)
	}
	g := c.window(x.Dims[2:], c.kernelShape(w.Dims[2:]))
	y := c.conv(c.shifted(x, c.In(2), 0), c.shifted(w, c.In(3), 0), g, max(c.Int("group"), 1))
	c.Set(0, TensorValue(y))
	return nil
}

// shifted returns an integer tensor as int32 less its zero point: one for all, or one for each
// slice along an axis.
func (c *Call) shifted(t, zero *Tensor, along int) *Tensor {
	if t.I == nil {
		refuse("%s elements are no integers", t.Elem)
	}
	y := c.Temp(graph.Int32, t.Dims)
	copy(y.I, t.I)
	switch {
	case zero == nil:
		return y
	case zero.Len() == 1:
		for i, z := range y.I {
			y.I[i] = z - zero.I[0]
		}
		return y
	}
	_, n, inner := split3(t.Dims, along)
	if zero.Len() != n {
		refuse("%s zero points for %s", zero, t)
	}
	for i := range y.I {
		y.I[i] -= zero.I[i/max(inner, 1)%n]
	}
	return y
}

// causalConv convolves each channel with its own kernel, which looks back only: the steps before
// the first are those of an earlier call, or zero.
func causalConv(c *Call) error {
	x, w, past := c.In(0), c.In(1), c.In(3)
	checkImage(x, w)
	k := w.Dims[2]
	dims := []int{x.Dims[0], x.Dims[1], x.Dims[2] + k - 1}
	padded := c.Temp(x.Elem, dims)
	to := whole(padded)
	if past != nil {
		if sameType(x, past); !slices.Equal(past.Dims, []int{dims[0], dims[1], k - 1}) {
			refuse("a past state %s for a kernel of %d", past, k)
		}
		copyBox(padded, to, past, whole(past), past.Dims)
	}
	to.off = k - 1
	copyBox(padded, to, x, whole(x), x.Dims)
	one := []int{1}
	g := window{c: c, in: dims[2:], out: x.Dims[2:], kernel: w.Dims[2:], stride: one, dilation: one, begin: []int{0}, end: []int{0}}
	y := c.convBiased(padded, w, c.In(2), g, dims[1])
	c.activate(y, c.Str("activation"))
	c.Set(0, TensorValue(y))
	state := c.Out(1, x.Elem, []int{dims[0], dims[1], k - 1})
	from := whole(padded)
	from.off = x.Dims[2]
	copyBox(state, whole(state), padded, from, state.Dims)
	return nil
}

// activate applies the activation of CausalConvWithState in place.
func (c *Call) activate(y *Tensor, name string) {
	switch name {
	case "", "none":
	case "silu", "swish":
		y.narrow()
		f := swish(1)
		for i := range y.Len() {
			y.put64(i, f(y.at64(i)))
		}
	default:
		refuse("unknown activation %q", name)
	}
}

// narrow rounds the elements to their type in place, where an operator says that a result on its
// way is of that type.
func (t *Tensor) narrow() {
	if f, ok := t.Elem.Format(); ok && t.F != nil {
		f.RoundFloats(t.F, t.F)
	}
}
