package kern

// ConvTranspose sets y, whose spatial size is out, to the transposed convolution of x and w plus
// the bias, which may be nil. Size is that of x, and Begin the padding that is cut off the result.
// The products of a channel's numbers with one weight are summed over the channels first; such
// sums that fall on the same place are added in the order of the weights, each rounded as c.Sum
// says. The bias is added last.
func (e *Engine) ConvTranspose(y, x, w, bias []float32, c *Conv, out []int) {
	inLen, outLen, taps := product(c.Size), product(out), product(c.Kernel)
	m, k := c.Out/c.Groups, c.In/c.Groups
	sums := getFloats(m * taps * inLen)
	defer release(sums)
	for i := range c.Batch * c.Groups {
		weights := Matrix{w[i%c.Groups*k*m*taps:], 1, m * taps}
		e.GemmSum(c.Sum, *sums, inLen, weights, Rows(x[i*k*inLen:][:k*inLen], inLen), m*taps, inLen, k)
		e.Parallel(m, 1, taps*inLen, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				plane := y[(i*m+r)*outLen:][:outLen]
				e.scatter(plane, (*sums)[r*taps*inLen:][:taps*inLen], c, out)
				e.addBias(c.Sum, plane, bias, i%c.Groups*m+r)
			}
		})
	}
}

// scatter adds the sums of each weight at the places where it meets the result.
func (e *Engine) scatter(plane, sums []float32, c *Conv, out []int) {
	clear(plane)
	n := product(c.Size)
	i := 0
	from := make([]int, len(out))
	count(c.Kernel, func(at []int) {
		for d, t := range at {
			from[d] = t*c.Dilation[d] - c.Begin[d]
		}
		c.scatterTap(plane, sums[i*n:(i+1)*n], out, from, 0)
		if c.Sum.low() {
			e.round(c.Sum.Format, c.Sum.Flush, plane)
		}
		i++
	})
}

// scatterTap adds the sums of one weight from dimension d on, the first at from.
func (c *Conv) scatterTap(dst, src []float32, out, from []int, d int) {
	if d == len(out) {
		dst[0] += src[0]
		return
	}
	if d == len(out)-1 {
		scatterRow(dst, src, from[d], c.Stride[d])
		return
	}
	n, m := len(dst)/out[d], len(src)/c.Size[d]
	for i := range c.Size[d] {
		at := from[d] + i*c.Stride[d]
		if at < 0 || at >= out[d] {
			continue
		}
		c.scatterTap(dst[at*n:(at+1)*n], src[i*m:(i+1)*m], out, from, d+1)
	}
}

// scatterRow adds the numbers of src to every stride-th of dst, the first at from, which may lie
// before dst.
func scatterRow(dst, src []float32, from, stride int) {
	if from < 0 {
		skip := min((-from+stride-1)/stride, len(src))
		src, from = src[skip:], from+skip*stride
	}
	for _, v := range src {
		if from < 0 || from >= len(dst) {
			return
		}
		dst[from] += v
		from += stride
	}
}
