package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func convOps() map[string]operator {
	return merged(
		each(convOf(0, 1), "Conv", "ConvInteger", "DeformConv", "com.microsoft.FusedConv"),
		each(convOf(0, 3), "QLinearConv", "com.microsoft.QLinearConv"),
		each(convLast(0, 1), "com.microsoft.NhwcConv", "com.microsoft.NhwcFusedConv"),
		map[string]operator{"ConvTranspose": convTranspose, "Col2Im": col2im, "CausalConvWithState": causalConv},
	)
}

// window is how a convolution or pool moves over the spatial axes.
type window struct {
	kernel                   graph.Shape
	strides, dilations, pads []int64
	auto                     string
	ceil                     bool
}

// window reads the attributes for n spatial axes; the kernel may be given by the weights instead.
func (c *ctx) window(n int, kernel graph.Shape) (*window, error) {
	w := &window{kernel: kernel, strides: c.n.Ints("strides"), dilations: c.n.Ints("dilations"),
		pads: c.n.Ints("pads"), auto: c.n.Str("auto_pad", "NOTSET"), ceil: c.n.Int("ceil_mode", 0) != 0}
	if k := c.n.Ints("kernel_shape"); k != nil {
		w.kernel = graph.ShapeOf(k...)
	}
	if len(w.strides) == 0 {
		w.strides = slices.Repeat([]int64{1}, n)
	}
	if len(w.dilations) == 0 {
		w.dilations = slices.Repeat([]int64{1}, n)
	}
	if w.pads == nil || w.auto == "VALID" {
		w.pads = make([]int64, 2*n)
	}
	if len(w.strides) != n || len(w.dilations) != n || len(w.pads) != 2*n || w.kernel != nil && len(w.kernel) != n {
		return nil, c.errorf("kernel, strides, dilations or pads do not fit %d spatial axes", n)
	}
	if slices.Min(append(w.strides, w.dilations...)) <= 0 {
		return nil, c.errorf("strides %v and dilations %v should be positive", w.strides, w.dilations)
	}
	return w, nil
}

// span is the extent of the dilated kernel along axis i.
func (w *window) span(c *ctx, i int) num {
	if w.kernel == nil {
		return num{}
	}
	k := subNum(c.num(w.kernel[i]), intNum(1))
	return addNum(mulNum(k, intNum(w.dilations[i])), intNum(1))
}

// places returns the number of positions along axis i.
func (w *window) places(c *ctx, i int, d graph.Dim) (graph.Dim, error) {
	size, stride := c.num(d), w.strides[i]
	if w.auto == "SAME_UPPER" || w.auto == "SAME_LOWER" {
		return c.dim(c.ceilDivNum(size, stride)), nil
	}
	begin, end := w.pads[i], w.pads[len(w.pads)/2+i]
	room := subNum(addNum(size, addNum(intNum(begin), intNum(end))), w.span(c, i))
	steps := c.floorDivNum(room, stride)
	if w.ceil {
		steps = c.ceilDivNum(room, stride)
		if size.k == numInt && steps.k == numInt && steps.i*stride >= size.i+begin {
			steps.i-- // the last window would begin behind the data
		}
	}
	return c.sizeOf(addNum(steps, intNum(1)))
}

// over applies the window to the spatial axes of s.
func (w *window) over(c *ctx, spatial graph.Shape) (graph.Shape, error) {
	out := make(graph.Shape, len(spatial))
	for i, d := range spatial {
		p, err := w.places(c, i, d)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

func convOf(x, w int) operator {
	return func(c *ctx) error {
		if c.n.Int("channels_last", 0) != 0 {
			return convLast(x, w)(c)
		}
		s, k := c.shape(x), c.shape(w)
		if err := c.wantRankAtLeast(x, 3); err != nil {
			return err
		}
		if s == nil && len(k) > 2 {
			s = c.freshShape(len(k))
		}
		if s == nil {
			return nil
		}
		channels, kernel, err := c.weights(s, k)
		if err != nil {
			return err
		}
		return c.conv(s[0], channels, s[2:], kernel, false)
	}
}

// weights splits the shape k of a convolution's weights into output channels and kernel; s is the
// shape of the data. Where k is unknown the channels are a fresh dimension and the kernel is nil.
func (c *ctx) weights(s, k graph.Shape) (channels graph.Dim, kernel graph.Shape, err error) {
	channels = c.fresh()
	if k == nil {
		return channels, nil, nil
	}
	if len(k) != len(s) {
		return channels, nil, c.errorf("data %s and weights %s have different ranks", s, k)
	}
	return k[0], k[2:], nil
}

func (c *ctx) conv(batch, channels graph.Dim, spatial, kernel graph.Shape, last bool) error {
	win, err := c.window(len(spatial), kernel)
	if err != nil {
		return err
	}
	out, err := win.over(c, spatial)
	if err != nil {
		return err
	}
	if last {
		c.set(0, append(append(graph.Shape{batch}, out...), channels))
		return nil
	}
	c.set(0, append(graph.Shape{batch, channels}, out...))
	return nil
}

// convLast has the channels behind; the weights may be laid out either way.
func convLast(x, w int) operator {
	return func(c *ctx) error {
		s, k := c.shape(x), c.shape(w)
		if err := c.wantRankAtLeast(x, 3); err != nil {
			return err
		}
		if s == nil {
			return nil
		}
		channels, kernel, err := c.weights(s, k)
		if err != nil {
			return err
		}
		if k != nil && k[len(k)-1] == s[len(s)-1] && k[1] != s[len(s)-1] {
			kernel = k[1 : len(k)-1]
		}
		return c.conv(s[0], channels, s[1:len(s)-1], kernel, true)
	}
}

func convTranspose(c *ctx) error { return c.transposed(false) }

// convTransposeDynamic takes its pads from an input, unless they are constant.
func convTransposeDynamic(c *ctx) error { return c.transposed(true) }

func (c *ctx) transposed(dynamic bool) error {
	s, k := c.shape(0), c.shape(1)
	if err := c.wantRankAtLeast(0, 3); err != nil {
		return err
	}
	if s == nil {
		return nil
	}
	channels, kernel, err := c.weights(s, k)
	if err != nil {
		return err
	}
	if k != nil { // laid out [in, out / group, kernel...]
		channels = c.dim(mulNum(c.num(k[1]), intNum(c.n.Int("group", 1))))
	}
	n := len(s) - 2
	win, err := c.window(n, kernel)
	if err != nil {
		return err
	}
	out := graph.Shape{s[0], channels}
	if dynamic && c.has(2) {
		pads, ok := c.consts(2)
		if !ok || len(pads) != 2*n {
			c.set(0, append(out, c.freshShape(n)...))
			return nil
		}
		win.pads = pads
	}
	spatial, err := c.transposedSizes(win, s[2:])
	c.set(0, append(out, spatial...))
	return err
}

// transposedSizes inverts the arithmetic of a convolution.
func (c *ctx) transposedSizes(w *window, spatial graph.Shape) (graph.Shape, error) {
	n := len(spatial)
	if want := c.n.Ints("output_shape"); want != nil {
		if len(want) < n {
			return nil, c.errorf("output_shape %v for %d spatial axes", want, n)
		}
		return graph.ShapeOf(want[len(want)-n:]...), nil
	}
	extra := c.n.Ints("output_padding")
	if extra != nil && len(extra) != n {
		return nil, c.errorf("output_padding %v for %d spatial axes", extra, n)
	}
	out := make(graph.Shape, n)
	for i, d := range spatial {
		size := mulNum(subNum(c.num(d), intNum(1)), intNum(w.strides[i]))
		size = addNum(size, w.span(c, i))
		switch w.auto {
		case "SAME_UPPER", "SAME_LOWER":
			size = mulNum(c.num(d), intNum(w.strides[i]))
		default:
			size = subNum(size, addNum(intNum(w.pads[i]), intNum(w.pads[n+i])))
			if extra != nil {
				size = addNum(size, intNum(extra[i]))
			}
		}
		e, err := c.sizeOf(size)
		if err != nil {
			return nil, err
		}
		out[i] = e
	}
	return out, nil
}

// col2im puts blocks together to an image.
func col2im(c *ctx) error {
	s, image, block := c.shape(0), c.nums(1), c.nums(2)
	n := max(c.count(1), c.count(2))
	if image == nil && n >= 0 && n <= maxRank {
		image = make([]num, n)
	}
	if image == nil {
		return nil
	}
	batch, channels := c.fresh(), num{}
	if s != nil {
		if len(s) != 3 {
			return c.errorf("input 0 has shape %s, rank 3 is wanted", s)
		}
		batch = s[0]
		if block != nil {
			size := intNum(1)
			for _, x := range block {
				size = mulNum(size, x)
			}
			if size.k == numInt && size.i > 0 {
				channels = c.floorDivNum(c.num(s[1]), size.i)
			}
		}
	}
	out := graph.Shape{batch, c.dim(channels)}
	for _, x := range image {
		d, err := c.sizeOf(x)
		if err != nil {
			return err
		}
		out = append(out, d)
	}
	c.set(0, out)
	return nil
}

// causalConv keeps the length; the state holds what the kernel reaches back.
func causalConv(c *ctx) error {
	c.set(0, c.shape(0))
	if past := c.shape(3); past != nil {
		c.set(1, past)
		return nil
	}
	s, w := c.shape(0), c.shape(1)
	if len(s) == 3 && len(w) == 3 {
		c.set(1, graph.Shape{s[0], s[1], c.dim(subNum(c.num(w[2]), intNum(1)))})
	}
	return nil
}
