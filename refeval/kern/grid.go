package kern

import "slices"

// grid is the geometry of a convolution. The padded input of a channel is split by the stride into
// phase planes, such that a step of the result is a step of one in every plane. Then any weight
// finds its numbers for all results at one offset, and the results are computed at flat positions
// in the plane; those at its right edge belong to no result and are left out in the end.
type grid struct {
	*Conv
	out           []int // of what is computed at a time
	rows          int   // of the result in its first dimension
	inLen, outLen int
	plane         []int   // size of a phase plane
	phases        [][]int // of each dimension, those that weights use
	planeLen      int
	planes        int   // per channel
	step          []int // strides of a plane
	flat          int   // positions from the first result to the last
	off           []int // of each weight of a group, in a group's planes
}

func newGrid(c *Conv) *grid {
	out := c.OutSize()
	g := &grid{Conv: c, out: out, outLen: product(out)}
	if g.outLen > 0 {
		g.layOut()
	}
	return g
}

// cut returns the grid for so many steps of the first dimension.
func (g *grid) cut(rows int) *grid {
	if rows == g.out[0] {
		return g
	}
	s := &grid{Conv: g.Conv, out: slices.Clone(g.out), outLen: g.outLen}
	s.out[0] = rows
	s.layOut()
	s.rows = g.rows
	return s
}

// layOut computes what depends on out.
func (g *grid) layOut() {
	c := g.Conv
	g.inLen, g.planes, g.flat, g.rows = product(c.Size), 1, 1, 1
	if len(g.out) > 0 {
		g.rows = g.out[0]
	}
	for i, k := range c.Kernel {
		g.plane = append(g.plane, g.out[i]+(k-1)*c.Dilation[i]/c.Stride[i])
		var phases []int
		for t := range k {
			phases = append(phases, t*c.Dilation[i]%c.Stride[i])
		}
		slices.Sort(phases)
		g.phases = append(g.phases, slices.Compact(phases))
		g.planes *= len(g.phases[i])
	}
	g.planeLen = product(g.plane)
	g.step = steps(g.plane)
	for i, s := range g.step {
		g.flat += (g.out[i] - 1) * s
	}
	g.offsets()
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// steps returns the strides of an array in row-major order.
func steps(dims []int) []int {
	s, n := make([]int, len(dims)), 1
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= dims[i]
	}
	return s
}

// count calls f with each index of an array in row-major order.
func count(dims []int, f func(at []int)) {
	at := make([]int, len(dims))
	for range product(dims) {
		f(at)
		for i := len(dims) - 1; i >= 0; i-- {
			if at[i]++; at[i] < dims[i] {
				break
			}
			at[i] = 0
		}
	}
}

// pointwise tells whether every weight meets every number of its channel in order.
func (g *grid) pointwise() bool {
	for i, k := range g.Kernel {
		if k != 1 || g.Stride[i] != 1 || g.Begin[i] != 0 || g.End[i] != 0 {
			return false
		}
	}
	return true
}

// perChannel is how many numbers the planes of a channel hold.
func (g *grid) perChannel() int { return g.planes * g.planeLen }

func (g *grid) offsets() {
	for c := range g.In / g.Groups {
		count(g.Kernel, func(at []int) {
			plane, off := 0, 0
			for i, t := range at {
				d := t * g.Dilation[i]
				p, _ := slices.BinarySearch(g.phases[i], d%g.Stride[i])
				plane = plane*len(g.phases[i]) + p
				off += d / g.Stride[i] * g.step[i]
			}
			g.off = append(g.off, c*g.perChannel()+plane*g.planeLen+off)
		})
	}
}

// pad writes the phase planes of one channel, for results from a row on.
func (g *grid) pad(dst, x []float32, row int) {
	var dims []int
	for _, p := range g.phases {
		dims = append(dims, len(p))
	}
	from := make([]int, len(dims))
	i := 0
	count(dims, func(at []int) {
		for d, p := range at {
			from[d] = g.phases[d][p] - g.Begin[d]
		}
		if len(from) > 0 {
			from[0] += row * g.Stride[0]
		}
		g.padPlane(dst[i*g.planeLen:(i+1)*g.planeLen], x, from, 0)
		i++
	})
}

// padPlane fills a plane from dimension d on, whose first position lies at from in the input.
func (g *grid) padPlane(dst, x []float32, from []int, d int) {
	if d == len(g.plane) {
		dst[0] = x[0]
		return
	}
	if d == len(g.plane)-1 {
		padRow(dst, x, from[d], g.Stride[d])
		return
	}
	size := len(dst) / g.plane[d]
	inSize := len(x) / g.Size[d]
	for i := range g.plane[d] {
		at := from[d] + i*g.Stride[d]
		part := dst[i*size : (i+1)*size]
		if at < 0 || at >= g.Size[d] {
			clear(part)
			continue
		}
		g.padPlane(part, x[at*inSize:(at+1)*inSize], from, d+1)
	}
}

// padRow copies every stride-th number of x, the first at from, which may lie before x.
func padRow(dst, x []float32, from, stride int) {
	i := 0
	for ; i < len(dst) && from < 0; i++ {
		dst[i] = 0
		from += stride
	}
	if stride == 1 && from < len(x) {
		n := copy(dst[i:], x[from:])
		clear(dst[i+n:])
		return
	}
	for ; i < len(dst) && from < len(x); i++ {
		dst[i] = x[from]
		from += stride
	}
	clear(dst[i:])
}

// compact copies the results among the flat positions from on to their place in out, as far as it
// goes.
func (g *grid) compact(out, flat []float32, from int) {
	last := len(g.out) - 1
	width, rows := g.out[last], product(g.out[:last])
	at := make([]int, last)
	for row := g.rowAt(at, from); row < rows && row*width < len(out); row++ {
		start := -from
		for i, v := range at {
			start += v * g.step[i]
		}
		if start >= len(flat) {
			return
		}
		lo, hi := max(start, 0), min(start+width, len(flat))
		if at := row*width + lo - start; lo < hi && at < len(out) {
			copy(out[at:], flat[lo:hi])
		}
		for i := last - 1; i >= 0; i-- {
			if at[i]++; at[i] < g.out[i] {
				break
			}
			at[i] = 0
		}
	}
}

// rowAt sets at to the last row of results that begins at a flat position or before, and returns
// its number.
func (g *grid) rowAt(at []int, from int) int {
	row := 0
	for i := range at {
		at[i] = min(from/g.step[i], g.out[i]-1)
		if at[i] < from/g.step[i] { // the position lies behind the results of this dimension
			from = g.step[i] * g.plane[i]
		}
		from -= at[i] * g.step[i]
		row = row*g.out[i] + at[i]
	}
	return row
}
