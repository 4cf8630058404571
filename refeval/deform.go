package refeval

import "math"

// deformConv is a convolution whose taps are moved by offsets, and may be weighted by a mask. What a
// tap sees is interpolated linearly, as if the image were surrounded by zeros.
func deformConv(c *Call) error {
	x, w := c.In(0), c.In(1)
	checkImage(x, w)
	g := c.window(x.Dims[2:], c.kernelShape(w.Dims[2:]))
	group, groups := max(c.Int("group"), 1), max(c.Int("offset_group"), 1)
	n, ch, m, each := x.Dims[0], x.Dims[1], w.Dims[0], w.Dims[1]
	if ch != each*group || m%group != 0 || ch%groups != 0 {
		refuse("weights %s in %d groups, offsets in %d, for an image %s", w, group, groups, x)
	}
	d := deformation{g: g, offset: c.In(2), mask: c.In(4), groups: groups, channels: ch}
	d.check(n)
	outs, depth := size(g.out), each*g.taps()
	y := c.Temp(x.Elem, append([]int{n, m}, g.out...))
	cols := c.Temp(x.Elem, []int{ch * g.taps(), outs})
	for b := range n {
		c.parallel(ch*g.taps(), 16*outs, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				d.row(cols, x, b, r)
			}
		})
		for i := range group {
			rows := m / group
			c.matmulOf(y, (b*m+i*rows)*outs, w, i*rows*depth, cols, i*depth*outs, rows, outs, depth)
		}
	}
	c.addBias(y, c.In(3))
	c.Set(0, TensorValue(y))
	return nil
}

// deformation is where the taps of a deformed convolution lie.
type deformation struct {
	g                window
	offset, mask     *Tensor
	groups, channels int
}

// check refuses offsets and masks of other sizes than the convolution needs.
func (d *deformation) check(n int) {
	each := n * d.groups * d.g.taps() * size(d.g.out)
	if d.offset.Len() != each*len(d.g.in) || d.mask != nil && d.mask.Len() != each {
		refuse("offsets %s for %d groups of %d taps and a result %v", d.offset, d.groups, d.g.taps(), d.g.out)
	}
}

// row sets row r of cols, a channel and a tap, to what the tap sees at each step.
func (d *deformation) row(cols, x *Tensor, b, r int) {
	g, rank, taps, outs := &d.g, len(d.g.in), d.g.taps(), size(d.g.out)
	ch, tap := r/taps, r%taps
	k := unravel(tap, g.kernel)
	part := b*d.groups + ch/(d.channels/d.groups)
	plane := (b*d.channels + ch) * size(g.in)
	at, o := make([]float64, rank), make([]int, rank)
	for i := range outs {
		for dim := range rank {
			off := ((part*taps+tap)*rank + dim) * outs
			at[dim] = float64(g.at(dim, o[dim], k[dim])) + d.offset.at64(off+i)
		}
		v := interpolate(x, plane, g.in, at)
		if d.mask != nil {
			v *= d.mask.at64((part*taps+tap)*outs + i)
		}
		cols.put64(r*outs+i, v)
		advance(o, g.out)
	}
}

// unravel returns the index of a flat position in a shape.
func unravel(i int, dims []int) []int {
	at := make([]int, len(dims))
	for d := len(dims) - 1; d >= 0; d-- {
		at[d] = i % dims[d]
		i /= dims[d]
	}
	return at
}

// interpolate returns the linear interpolation between the corners around a place of a plane that
// begins at an element of x. Outside the plane all is zero.
func interpolate(x *Tensor, plane int, dims []int, at []float64) float64 {
	var sum float64
	for corner := range 1 << len(dims) {
		weight, i, inside := 1.0, 0, true
		for d, p := range at {
			low := math.Floor(p)
			f := p - low
			if corner>>d&1 == 1 {
				low++
			} else {
				f = 1 - f
			}
			weight *= f
			inside = inside && low >= 0 && low < float64(dims[d])
			if inside {
				i = i*dims[d] + int(low)
			}
		}
		if inside && weight != 0 {
			sum += weight * x.at64(plane+i)
		}
	}
	return sum
}
