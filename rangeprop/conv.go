package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/pattern"
)

func convOps() map[string]op {
	return map[string]op{
		"Conv": rounded(convOp), "ConvTranspose": rounded(convTransposeOp), "ConvInteger": rounded(convIntegerOp), "QLinearConv": rounded(typeRange),
		"DeformConv": rounded(deformConvOp), "CausalConvWithState": {f: causalConvOp}, "Col2Im": rounded(col2ImOp),
		"com.microsoft.FusedConv": rounded(fusedConvOp), "com.microsoft.NhwcConv": rounded(anyOf),
		"com.microsoft.NhwcFusedConv": rounded(anyOf),
	}
}

func fusedConvOp(c *call) *Val {
	v := convOp(c)
	if c.has(3) {
		v = plus(c.mid(v), c.in[3])
	}
	alpha := 0.0
	if p := c.n.Floats("activation_params"); len(p) > 0 {
		alpha = float64(p[0])
	}
	return c.activate(v, c.n.Str("activation", ""), alpha)
}

// convOp sums every tap at its own extreme of its input channel. Where padding reaches into the
// image, a tap may also be 0.
func convOp(c *call) *Val {
	x := c.channels(0)
	if c.padded() {
		x = joined(x, scalar(Range{}))
	}
	v := c.taps(x, false)
	if c.has(2) {
		v = plus(c.mid(v), channelWise(c.in[2], c.rank(0)))
	}
	return v
}

// convIntegerOp multiplies integers less their zero points, as many as a filter has taps. Sums that may
// leave int32 wrap.
func convIntegerOp(c *call) *Val {
	x, w := c.lessZero(c.x(0).flat(), 2), c.lessZero(c.x(1).flat(), 3)
	if c.padded() {
		x = joined(x, scalar(Range{}))
	}
	r, n := mul(x.Hull(), w.Hull()), c.trailingCount(1, 1)
	r = Range{product(r.Lo, n), product(r.Hi, n)}
	if !(r.MaxAbs() <= math.MaxInt32) {
		return typeRange(c)
	}
	v := c.within(r)
	v.integer = true
	return v
}

// channels returns the first input with only its channel axis kept apart.
func (c *call) channels(i int) *Val {
	v, ok := c.full(i)
	if !ok || len(v.dims) < 2 {
		return v.flat()
	}
	keep := make([]bool, len(v.dims))
	keep[1] = true
	return v.collapse(keep)
}

// padded tells whether a Conv or pool may read outside of the image.
func (c *call) padded() bool {
	switch c.n.Str("auto_pad", "NOTSET") {
	case "VALID":
		return false
	case "SAME_UPPER", "SAME_LOWER":
		return true
	}
	for _, p := range c.n.Ints("pads") {
		if p != 0 {
			return true
		}
	}
	return false
}

// channelWise lays a vector along the channel axis of images.
func channelWise(v *Val, rank int) *Val {
	if rank < 2 || len(v.dims) != 1 {
		return v.flat()
	}
	dims := pad(nil, rank)
	dims[1] = v.dims[0]
	return v.with(dims, v.lo, v.hi)
}

// taps sums the products of channel bounds with the weights of a convolution. For the transposed
// one an output meets each tap at most once, or not at all.
func (c *call) taps(x *Val, transposed bool) *Val {
	w := c.n.In(1)
	group := int(c.n.Int("group", 1))
	f, held := c.p.exactWeights(w)
	if f == nil || len(f.t.Dims) < 3 || group < 1 || f.t.Len() == 0 {
		return c.anyTaps(x, transposed)
	}
	t := f.t
	outs, ins, kernel := int(t.Dims[0]), int(t.Dims[1]), 1
	if transposed {
		outs, ins = ins, outs
	}
	for _, d := range t.Dims[2:] {
		kernel *= int(d)
	}
	total := outs
	if transposed {
		total *= group
	} else {
		ins *= group
	}
	if (transposed && ins%group != 0) || (!transposed && outs%group != 0) {
		return anyOf(c)
	}
	lo, hi := vectorAt(x, 1, ins)
	acc := newDots(total, c.x(0).shares.axis > 0)
	visit := acc.filters(lo, hi, int(t.Dims[1]), kernel, outs/group)
	if transposed {
		visit = acc.spreads(lo, hi, kernel, outs, ins/group)
	}
	if f.streamRows(int(t.Dims[1])*kernel, visit) != nil {
		return anyOf(c)
	}
	v := acc.val(float64(t.Len()/int64(max(total, 1))), held, c.accumLimit())
	if sh := c.x(0).shares; !transposed && kernel == 1 && group == 1 && sh.axis > 0 && sh.axis == c.rank(0)-1 {
		v = v.meet(sh.mean(acc.column(), 0, float64(ins), c.p.unit(c.n.Out(0))))
	}
	v.rest(x)
	v.nan = v.nan || x.nan || x.special()
	return channelWise(v, c.rank(0))
}

// filters takes the kernels [out, in/group, taps] of a convolution, one output's in a row, for the bounds of the
// channels it reads: each has so many inputs, with a number of taps each, and as many others read the same.
func (d *dots) filters(lo, hi []float64, ins, taps, alike int) visitor {
	mid, rad, finite := middles(lo, hi)
	if d.least != nil || !finite {
		return func(out, from int, w []float64) {
			first := out / alike * ins
			for i, e := range w {
				if d.lost(out) {
					return
				}
				in := first + (from+i)/taps
				d.add(out, e, lo[in], hi[in])
			}
		}
	}
	mid, rad = stretched(mid, taps), stretched(rad, taps)
	return func(out, from int, w []float64) {
		from += out / alike * ins * taps
		d.row(out, w, mid[from:], rad[from:])
	}
}

// spreads takes the kernels [in, out/group, taps] of a transposed convolution, one input's in a row: each leads to
// so many outputs, and as many others lead to the same.
func (d *dots) spreads(lo, hi []float64, taps, outs, alike int) visitor {
	return func(in, from int, w []float64) {
		first := in / alike * outs
		for i, e := range w {
			d.add(first+(from+i)/taps, e, lo[in], hi[in])
		}
	}
}

// stretched returns every number n times.
func stretched(x []float64, n int) []float64 {
	if n == 1 {
		return x
	}
	y := make([]float64, 0, n*len(x))
	for _, e := range x {
		for range n {
			y = append(y, e)
		}
	}
	return y
}

// vectorAt returns n bounds along one axis.
func vectorAt(v *Val, axis, n int) (lo, hi []float64) {
	if len(v.dims) > axis && v.dims[axis] == n && len(v.lo) == n {
		return v.lo, v.hi
	}
	h := v.Hull()
	lo, hi = make([]float64, n), make([]float64, n)
	for i := range lo {
		lo[i], hi[i] = h.Lo, h.Hi
	}
	return lo, hi
}

// anyTaps bounds a convolution by computed weights through the number of its taps.
func (c *call) anyTaps(x *Val, transposed bool) *Val {
	s := c.shape(1)
	n := Range{1, 1}
	for i := range s {
		if i == 0 && !transposed || i == 1 && transposed {
			continue
		}
		lo, hi := c.dim(1, i)
		n.Lo *= math.Max(float64(lo), 1)
		if n.Hi *= float64(hi); hi < 0 {
			n.Hi = math.Inf(1)
		}
	}
	if s == nil {
		n.Hi = math.Inf(1)
	}
	w := c.x(1).flat()
	v := times(x.flat(), w)
	terms := v.Hull()
	v = map1flags(v, func(r Range) Range { return mul(r, n) })
	v.nan = v.nan || x.special() || w.special()
	v = c.summed(v, terms, n.Hi, product(n.Hi, terms.MaxAbs()))
	if r, ok := c.p.kernelNorm(c.n.In(1)); ok && !transposed && !x.special() && !math.IsInf(n.Hi, 1) {
		r *= math.Sqrt(n.Hi) * x.Hull().MaxAbs() * (1 + 4*math.Min(n.Hi, 1<<16)*accumUnit) // Cauchy and Schwarz
		v = v.limit(Range{-r, r}, 0)
	}
	return v
}

// kernelNorm bounds the norm of the taps that lead to one channel, where computed weights are normalised over
// just these: through a choice among several sets of weights, or several sets as one.
func (p *pass) kernelNorm(w *graph.Value) (r float64, ok bool) {
	v := w
	for range maxChain {
		if v == nil || p.facts.Norm(v) != nil || v.Producer == nil {
			break
		}
		switch n := v.Producer; n.OpName() {
		case "Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten", "Cast":
		case "Gather":
			if n.Int("axis", 0) != 0 {
				return 0, false
			}
		default:
			return 0, false
		}
		v = v.Producer.In(0)
	}
	if v == nil || p.facts.Norm(v) == nil || !normalisedRows(p.facts.Norm(v), w) {
		return 0, false
	}
	n := p.facts.Norm(v)
	if r, ok = p.radius(n); ok {
		r *= p.factors(n.Output, n.Coef, n.Scales).MaxAbs()
	}
	return r, ok && len(n.Biases) == 0 && n.Offset == 0 && !math.IsInf(r, 0) && !math.IsNaN(r)
}

// normalisedRows tells whether the elements that are normalised together are all of w but its first axis.
func normalisedRows(n *pattern.Norm, w *graph.Value) bool {
	row, from := w.Type.Shape, n.Output.Type.Shape
	if len(row) < 2 || len(from) < len(row) || len(n.Axes) != len(row)-1 || len(n.Input.Type.Shape) != len(from) {
		return false
	}
	row = row[1:]
	first := len(from) - len(row)
	for i, d := range row {
		if n.Axes[i] != first+i || !d.Known() || from[first+i] != d {
			return false
		}
	}
	return true
}

// convTransposeOp adds at every output the taps that reach it: some or all of them.
func convTransposeOp(c *call) *Val {
	v := c.taps(joined(c.channels(0), scalar(Range{})), true)
	if c.has(2) {
		v = plus(c.mid(v), channelWise(c.in[2], c.rank(0)))
	}
	return v
}

// deformConvOp reads between pixels, which stays in their hull with 0, and scales by a mask.
func deformConvOp(c *call) *Val {
	x := joined(c.channels(0).flat(), scalar(Range{}))
	if c.has(4) {
		x = c.mid(times(x, c.in[4].flat()))
	}
	v := c.taps(x, false)
	if c.has(3) {
		v = plus(c.mid(v), channelWise(c.in[3], c.rank(0)))
	}
	return v
}

// causalConvOp is a convolution over the past; its second result is the state carried on.
func causalConvOp(c *call) []*Val {
	x := joined(c.x(0).flat(), scalar(Range{}))
	if c.has(3) {
		x = joined(x, c.in[3].flat())
	}
	v := c.taps(x, false)
	if c.has(2) {
		v = plus(c.mid(v), channelWise(c.in[2], c.rank(0)))
	}
	return []*Val{c.activate(v, c.n.Str("activation", "none"), 0), x}
}

// col2ImOp adds up the blocks that overlap: at most one for every position in a block.
func col2ImOp(c *call) *Val {
	n := math.Inf(1)
	if block, ok := c.ints(2); ok {
		n = 1
		for _, b := range block {
			n *= float64(b)
		}
	}
	v := map1(c.x(0).flat(), func(x Range) Range { return mul(x, Range{0, n}) })
	v.nan = c.x(0).nan || c.x(0).special()
	h := c.x(0).Hull()
	return c.summed(v, h, n, product(n, h.MaxAbs()))
}

// activate applies the activation that a fused operator names.
func (c *call) activate(v *Val, name string, alpha float64) *Val {
	v = v.within(c.heldLimit())
	f := map[string]func(Range) Range{
		"Relu": monotone(func(x float64) float64 { return math.Max(x, 0) }), "Tanh": tanh, "Sigmoid": sigmoid,
		"LeakyRelu":   func(x Range) Range { return slopes(x, Range{alpha, alpha}) },
		"HardSigmoid": monotone(func(x float64) float64 { return math.Min(math.Max(alpha*x+0.5, 0), 1) }),
	}[name]
	switch {
	case name == "" || name == "none":
		return v
	case name == "silu" || name == "swish":
		return gate(v, func(x float64) float64 { return x * logistic(x) }, -1.2784645)
	case name == "Clip" && c.n.Floats("activation_params") != nil && len(c.n.Floats("activation_params")) == 2:
		p := c.n.Floats("activation_params")
		return map1flags(v, monotone(func(x float64) float64 { return math.Min(math.Max(x, float64(p[0])), float64(p[1])) }))
	case name == "FastGelu" || name == "Gelu":
		return gate(v, geluTanh, geluTanhLeast)
	case f == nil:
		return anyOf(c)
	}
	return map1flags(v, f)
}
