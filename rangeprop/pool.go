package rangeprop

import "math"

func poolOps() map[string]op {
	return map[string]op{
		"MaxPool": {f: maxPoolOp, exact: true}, "AveragePool": rounded(averagePoolOp), "GlobalAveragePool": rounded(globalAverageOp),
		"GlobalMaxPool": exact(channelHull), "LpPool": approx(lpPoolOp), "GlobalLpPool": approx(globalLpOp), "MaxUnpool": exact(withZero),
		"MaxRoiPool": exact(withZero), "RoiAlign": rounded(roiAlignOp), "com.microsoft.NhwcMaxPool": exact(flatOp), "com.microsoft.QLinearAveragePool": rounded(typeRange),
		"com.microsoft.QLinearGlobalAveragePool": rounded(typeRange),
	}
}

// channelHull keeps the channels of images apart and joins the positions.
func channelHull(c *call) *Val { return c.channels(0) }

// misses tells whether all that the window of a pool covers of an image of known size may be padding: the elements
// that it takes lie further apart than those of the image do.
func (c *call) misses() bool {
	dilations := c.n.Ints("dilations")
	for i := range c.n.Ints("kernel_shape") {
		far := int64(1)
		if i < len(dilations) {
			far = dilations[i]
		}
		if lo, hi := c.dim(0, i+2); lo == hi && hi < far {
			return c.padded()
		}
	}
	return false
}

// maxPoolOp picks elements; padding is never picked, where there are elements.
func maxPoolOp(c *call) []*Val {
	i := scalar(Range{0, math.Max(c.elements()-1, 0)})
	i.integer = true
	if c.misses() {
		return []*Val{unnormalized(c.x(0)), i}
	}
	return []*Val{c.channels(0), i}
}

// averagePoolOp averages elements, and zeros where padding counts.
func averagePoolOp(c *call) *Val {
	if c.misses() {
		return unnormalized(c.x(0))
	}
	v := c.channels(0)
	if c.padded() && c.n.Int("count_include_pad", 0) != 0 || c.n.Int("ceil_mode", 0) != 0 {
		v = joined(v, scalar(Range{}))
	}
	n := 1.0
	for _, k := range c.n.Ints("kernel_shape") {
		n *= float64(k)
	}
	return c.averaged(v, n)
}

func globalAverageOp(c *call) *Val { return c.averaged(c.channels(0), c.trailingCount(0, 2)) }

// averaged widens a mean of n elements by the rounding of the sum.
func (c *call) averaged(v *Val, n float64) *Val {
	if n == 0 {
		return unnormalized(v)
	}
	e := math.Min(sumError(n, 1), 1e-2)
	if math.IsNaN(e) {
		e = 1e-2
	}
	w := map1(v, func(x Range) Range {
		d := e * finiteOr0(x.MaxAbs())
		r := overflowing(Range{x.Lo - d, x.Hi + d}, x, product(n, x.MaxAbs()), c.accumLimit())
		if x.Lo >= 0 {
			r.Lo = math.Max(r.Lo, 0)
		}
		if math.IsNaN(n) {
			return r
		}
		return ofOneSign(r, x, x, n+1)
	}).torn()
	w.nan = w.nan || v.posInf && v.negInf
	return w
}

// roiAlignOp averages, or picks, what it reads between elements, and 0 outside of the image.
func roiAlignOp(c *call) *Val { return blended(withZero(c)) }

// blended marks bounds of elements as those of means of them.
func blended(v *Val) *Val {
	w := v.clone()
	w.integer, w.tiny = false, 0
	w.nan = v.nan || v.special() // of which some weigh 0
	return w
}

func (c *call) kernel() float64 {
	n := 1.0
	for _, k := range c.n.Ints("kernel_shape") {
		n *= float64(k)
	}
	return n
}

func lpPoolOp(c *call) *Val { return c.lp(c.kernel()) }

func globalLpOp(c *call) *Val { return c.lp(c.trailingCount(0, 2)) }

// lp bounds the p-norm of n elements.
func (c *call) lp(n float64) *Val {
	p := float64(c.n.Int("p", 2))
	v := map1(c.channels(0), func(x Range) Range {
		m := x.MaxAbs()
		if product(n, math.Pow(m, p)) > c.accumLimit() {
			return Range{0, math.Inf(1)}
		}
		return Range{0, product(m, math.Pow(n, 1/p)) * (1 + math.Min(sumError(n, 1), 1))}
	})
	return v
}
