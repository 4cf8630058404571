package kern

// Conv describes a convolution in any number of spatial dimensions.
type Conv struct {
	Batch, In, Out, Groups   int   // In and Out count channels, those of all groups
	Size                     []int // of the input
	Kernel, Stride, Dilation []int
	Begin, End               []int // padding; negative padding crops
	Sum                      Sum
}

// OutSize returns the spatial size of the result of Conv; a dimension may come out below 1.
func (c *Conv) OutSize() []int {
	out := make([]int, len(c.Size))
	for i := range out {
		room := c.Size[i] + c.Begin[i] + c.End[i] - (c.Kernel[i]-1)*c.Dilation[i] - 1
		out[i] = room/c.Stride[i] + 1
		if room < 0 {
			out[i] = 0
		}
	}
	return out
}

// Conv sets y to the convolution of x and the weights w plus the bias, which may be nil. The shapes
// are those of ONNX; sizes, strides, dilations and the number of groups must be at least 1, and
// groups must divide the channels. A sum takes its products in the order of the weights, padding
// zeros included, just as the product of matrices does. The bias is added last.
func (e *Engine) Conv(y, x, w, bias []float32, c *Conv) {
	g := newGrid(c)
	if g.outLen == 0 || c.Out == 0 || c.Batch == 0 {
		return
	}
	for n := range c.Batch {
		in, out := x[n*c.In*g.inLen:][:c.In*g.inLen], y[n*c.Out*g.outLen:][:c.Out*g.outLen]
		switch {
		case g.pointwise():
			e.pointwise(g, out, in, w, bias)
		case c.Out == c.Groups:
			e.depthwise(g, out, in, w, bias)
		default:
			e.dense(g, out, in, w, bias)
		}
	}
}

// pointwise is a product of matrices for each group.
func (e *Engine) pointwise(g *grid, y, x, w, bias []float32) {
	m, k, n := g.Out/g.Groups, g.In/g.Groups, g.outLen
	for i := range g.Groups {
		e.GemmSum(g.Sum, y[i*m*n:], n, Rows(w[i*m*k:(i+1)*m*k], k), Rows(x[i*k*n:(i+1)*k*n], n), m, n, k)
	}
	if bias == nil {
		return
	}
	e.Parallel(g.Out, 1, n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			e.addBias(g.Sum, y[i*n:(i+1)*n], bias, i)
		}
	})
}

func (e *Engine) addBias(s Sum, y, bias []float32, channel int) {
	if bias == nil {
		return
	}
	e.Serial().Add(y, y, bias[channel:channel+1])
	if s.low() {
		e.round(s.Format, s.Flush, y)
	}
}

// depthwise computes each channel of the result by itself.
func (e *Engine) depthwise(g *grid, y, x, w, bias []float32) {
	channels, depth := g.In/g.Groups, len(g.off)
	e.Parallel(g.Out, 1, g.flat*depth, func(lo, hi int) {
		planes, row := getFloats(channels*g.perChannel()+panelN), getFloats(roundUp(g.flat, panelN))
		for i := lo; i < hi; i++ {
			for c := range channels {
				g.pad((*planes)[c*g.perChannel():], x[(i*channels+c)*g.inLen:][:g.inLen], 0)
			}
			e.sweep(g.Sum, *row, *planes, g.off, w[i*depth:(i+1)*depth])
			out := y[i*g.outLen : (i+1)*g.outLen]
			g.compact(out, *row, 0)
			e.addBias(g.Sum, out, bias, i)
		}
		release(planes, row)
	})
}

// convColumns is how many columns of the result are kept before they are copied to their place.
const convColumns = 16 * panelN

// stripeFloats is how many padded numbers are kept at a time, about half of a second-level cache.
const stripeFloats = 1 << 16

// stripe returns how many steps of the first dimension are computed from one padded part of the
// input. Few of them keep it in the cache, more save padding the same numbers twice.
func (g *grid) stripe() int {
	if len(g.out) == 0 {
		return 1
	}
	halo := g.plane[0] - g.out[0]
	row := g.In / g.Groups * g.planes * g.step[0]
	fit := stripeFloats/max(row, 1) - halo
	least := (convColumns + g.step[0] - 1) / g.step[0]
	return min(max(fit, least), g.out[0])
}

// dense multiplies the weights with the padded input, in which offsets find the numbers that belong
// to each weight. It goes by stripes of the first dimension.
func (e *Engine) dense(g *grid, y, x, w, bias []float32) {
	rows := g.stripe()
	s := g.cut(rows)
	stripes, m := (g.out[0]+rows-1)/rows, g.Out/g.Groups
	parts := 1
	if g.Groups*stripes < e.Threads() {
		parts = min(e.Threads(), m)
	}
	per := (m + parts - 1) / parts
	e.Parallel(g.Groups*stripes*parts, 1, per*s.flat*len(g.off)/8, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			t := stripeTask{s, i / parts / stripes, i / parts % stripes * rows, i % parts * per, min(per, m-i%parts*per)}
			e.stripe(&t, y, x, w, bias)
		}
	})
}

// stripeTask is a stripe of the result from a row on, of some channels of a group.
type stripeTask struct {
	*grid
	group, row int
	channel, m int
}

func (e *Engine) stripe(t *stripeTask, y, x, w, bias []float32) {
	channels, size, depth := t.In/t.Groups, t.perChannel(), len(t.off)
	planes, part := getFloats(channels*size+panelN), getFloats(max(t.m, 0)*convColumns)
	defer release(planes, part)
	clear((*planes)[channels*size:])
	for c := range channels {
		t.pad((*planes)[c*size:], x[(t.group*channels+c)*t.inLen:][:t.inLen], t.row)
	}
	first := t.group*(t.Out/t.Groups) + t.channel
	for from := 0; from < t.flat; from += convColumns {
		n := min(convColumns, t.flat-from)
		e.denseBlock(t.grid, *part, (*planes)[from:], w[first*depth:], t.m, n)
		for r := range t.m {
			out := y[(first+r)*t.outLen:][:t.outLen]
			row := (*part)[r*convColumns:][:n]
			e.addBias(t.Sum, row, bias, first+r)
			t.compact(out[t.row*t.outLen/t.rows:], row, from)
		}
	}
}

// denseBlock computes n columns of m rows.
func (e *Engine) denseBlock(g *grid, dst, src, w []float32, m, n int) {
	depth := len(g.off)
	if g.Sum.low() || depth == 0 {
		for r := range m {
			e.sweep(g.Sum, dst[r*convColumns:][:roundUp(n, panelN)], src, g.off, w[r*depth:(r+1)*depth])
		}
		return
	}
	for k := 0; k < depth; k += BlockK {
		off := g.off[k:min(k+BlockK, depth)]
		for i := 0; i < m; i += blockM {
			t := tile{a: w[i*depth+k:], lda: depth, m: min(blockM, m-i), off: off, ldc: convColumns, add: k > 0}
			for j := 0; j < n; j += panelN {
				t.b, t.c, t.n = src[j:], dst[i*convColumns+j:], min(panelN, n-j)
				t.multiply(e.level)
			}
		}
	}
}
