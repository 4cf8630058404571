package refeval

import "math"

// imageOps sample, resize and read images.
func imageOps() []entry {
	return []entry{
		op("AffineGrid", affineGrid),
		op("GridSample", gridSample),
		op("ImageDecoder", imageDecoder),
		op("NonMaxSuppression", nonMaxSuppression),
		op("Resize", resize),
		op("RoiAlign", roiAlign),
		op("Upsample", upsample),
	}
}

// affineGrid gives the places that a linear map of the normalised coordinates makes of every
// element of an image.
func affineGrid(c *Call) error {
	theta, shape := c.In(0), c.In(1).ints()
	n := len(shape) - 2
	if n != 2 && n != 3 || theta.Rank() != 3 || theta.Dims[1] != n || theta.Dims[2] != n+1 || theta.Dims[0] != shape[0] {
		refuse("a map %s for an image %v", theta, shape)
	}
	dims := append([]int{shape[0]}, shape[2:]...)
	y := c.Out(0, theta.Elem, append(dims, n))
	align := c.Int("align_corners") != 0
	a := c.accum()
	at, row := make([]int, n), make([]float32, n+1)
	for i := range y.Len() / n {
		b := i / max(size(shape[2:]), 1)
		for k := range n {
			sum := theta.at64((b*n+k)*(n+1) + n)
			for j := range n {
				p := normalPlace(at[n-1-j], shape[2+n-1-j], align)
				sum += theta.at64((b*n+k)*(n+1)+j) * p
				row[j] = float32(theta.at64((b*n+k)*(n+1)+j)) * float32(p)
			}
			if a.low() && y.F != nil {
				row[n] = float32(theta.at64((b*n+k)*(n+1) + n))
				a.roundAll(row)
				sum = float64(a.sum(row))
			}
			y.put64(i*n+k, sum)
		}
		advance(at, shape[2:])
	}
	return nil
}

// normalPlace returns the coordinate of an element along a dimension of n, -1 to 1 from the first
// to the last: from the middle of either, or from their outer edges.
func normalPlace(i, n int, align bool) float64 {
	if !align {
		return (2*float64(i)+1)/float64(n) - 1
	}
	if n == 1 {
		return -1
	}
	return 2*float64(i)/float64(n-1) - 1
}

// taps are the elements along a dimension that a sample is made of, nowhere for a zero.
type taps struct {
	at     []int
	weight []float64
}

const nowhere = -1

// cubicWeight is the kernel of Keys with the parameter a.
func cubicWeight(x, a float64) float64 {
	x = math.Abs(x)
	switch {
	case x <= 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return ((a*x-5*a)*x+8*a)*x - 4*a
	}
	return 0
}

// sample returns the sum over the products of taps in all dimensions of a plane of x.
func sample(x *Tensor, plane int, dims []int, list []taps) float64 {
	if len(dims) == 0 {
		return x.at64(plane)
	}
	var sum float64
	inner := size(dims[1:])
	for i, k := range list[0].at {
		if k != nowhere {
			sum += list[0].weight[i] * sample(x, plane+k*inner, dims[1:], list[1:])
		}
	}
	return sum
}

// gridSample reads an image at the places that a grid names.
func gridSample(c *Call) error {
	x, grid := c.In(0), c.In(1)
	n := x.Rank() - 2
	if n < 1 || grid.Rank() != n+2 || grid.Dims[n+1] != n || grid.Dims[0] != x.Dims[0] {
		refuse("a grid %s for an image %s", grid, x)
	}
	s := sampler{mode: c.Str("mode"), padding: c.Str("padding_mode"), align: c.Int("align_corners") != 0}
	y := c.Out(0, x.Elem, append([]int{x.Dims[0], x.Dims[1]}, grid.Dims[1:n+1]...))
	outs, plane := size(grid.Dims[1:n+1]), size(x.Dims[2:])
	if y.Len() == 0 {
		return nil
	}
	if plane == 0 {
		refuse("nothing to read in %s", x)
	}
	c.parallel(x.Dims[0]*outs, 16*x.Dims[1]<<n, func(lo, hi int) {
		list := make([]taps, n)
		for i := lo; i < hi; i++ {
			for d := range n { // the grid names the last dimension first
				list[d] = s.taps(grid.at64(i*n+n-1-d), x.Dims[2+d])
			}
			for ch := range x.Dims[1] {
				p := i/outs*x.Dims[1] + ch
				y.put64(p*outs+i%outs, sample(x, p*plane, x.Dims[2:], list))
			}
		}
	})
	return nil
}

// sampler is how GridSample reads.
type sampler struct {
	mode, padding string
	align         bool
}

// taps returns what a normalised coordinate reads along a dimension of n. The coordinate is a
// float, as everywhere.
func (s *sampler) taps(v float64, n int) taps {
	p := float32(v)
	if s.align {
		p = (p + 1) / 2 * float32(n-1)
	} else {
		p = ((p+1)*float32(n) - 1) / 2
	}
	lo, hi := s.border(n)
	x := float64(p)
	if s.mode == "nearest" {
		x = math.RoundToEven(x)
	}
	if x < lo || x > hi {
		switch s.padding {
		case "border":
			x = min(max(x, 0), float64(n-1))
		case "reflection":
			x = reflect(x, lo, hi)
		}
	}
	if !(math.Abs(x) < 1<<31) {
		x = -8 // as far outside as any
	}
	t := s.around(x)
	for i, k := range t.at {
		t.at[i] = s.inside(k, n)
	}
	return t
}

// border returns where an image of n begins and ends.
func (s *sampler) border(n int) (lo, hi float64) {
	if s.align {
		return 0, float64(n - 1)
	}
	return -0.5, float64(n) - 0.5
}

// around returns the elements around a place, with their weights.
func (s *sampler) around(x float64) taps {
	low := math.Floor(x)
	f, k := x-low, int(low)
	switch s.mode {
	case "nearest":
		return taps{[]int{k}, []float64{1}}
	case "bilinear", "linear":
		return taps{[]int{k, k + 1}, []float64{1 - f, f}}
	case "bicubic", "cubic":
		const a = -0.75
		return taps{[]int{k - 1, k, k + 1, k + 2}, []float64{cubicWeight(f+1, a), cubicWeight(f, a), cubicWeight(1-f, a), cubicWeight(2-f, a)}}
	}
	refuse("unknown mode %q", s.mode)
	return taps{}
}

// inside returns the element that stands for one that may lie outside.
func (s *sampler) inside(k, n int) int {
	if k >= 0 && k < n {
		return k
	}
	switch s.padding {
	case "zeros":
		return nowhere
	case "border":
		return min(max(k, 0), n-1)
	case "reflection":
		lo, hi := s.border(n)
		return min(max(int(reflect(float64(k), lo, hi)), 0), n-1)
	}
	refuse("unknown padding_mode %q", s.padding)
	return nowhere
}

// reflect mirrors a place at two borders until it lies between them.
func reflect(x, lo, hi float64) float64 {
	width := hi - lo
	if width <= 0 {
		return lo
	}
	var d float64
	switch {
	case x < lo:
		d = lo - x
	case x > hi:
		d = x - hi
	default:
		return x
	}
	turns := math.Trunc(d / width)
	r := d - turns*width
	if (math.Mod(turns, 2) == 0) == (x < lo) {
		return lo + r
	}
	return hi - r
}
