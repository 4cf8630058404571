package refeval

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// poolOps reduce windows of an image.
func poolOps() []entry {
	return []entry{
		op("AveragePool", averagePool),
		op("GlobalAveragePool", globalPool(additive{post: quotient})),
		op("GlobalLpPool", globalLpPool),
		mover("GlobalMaxPool", globalMaxPool),
		op("LpPool", lpPool),
		mover("MaxPool", maxPool),
		mover("MaxRoiPool", maxRoiPool),
		mover("MaxUnpool", maxUnpool),
	}
}

// poolWindow reads the window of a pooling operator.
func (c *Call) poolWindow() (x *Tensor, g window) {
	x = c.In(0)
	if x.Rank() < 3 {
		refuse("%s is no image", x)
	}
	kernel := c.Ints("kernel_shape")
	if n, err := count(kernel); err != nil || n > math.MaxInt32 {
		refuse("a kernel %v", kernel)
	}
	return x, c.window(x.Dims[2:], kernel)
}

// poolOut makes an output of the size of the result.
func (c *Call) poolOut(i int, e graph.ElemType, g window) *Tensor {
	return c.Out(i, e, slices.Concat(c.In(0).Dims[:2], g.out))
}

// eachPlane calls f for the planes of an image, at the same time where that pays.
func (c *Call) eachPlane(x *Tensor, g window, f func(plane int)) {
	c.parallel(x.Dims[0]*x.Dims[1], size(g.out)*g.taps(), func(lo, hi int) {
		for p := lo; p < hi; p++ {
			f(p)
		}
	})
}

// sumPlane sets dst to the sums over the window of a function of the elements, added in row-major
// order and rounded on the way.
func sumPlane[T floating](a accum, g *window, dst, plane []T, pre func(x float64) float64) {
	row := make([]T, len(dst))
	plane = mapped(a, pre, plane)
	g.eachTap(func(_ int, k []int) {
		clear(row)
		spreadTap(g, row, plane, k)
		for i, v := range row {
			dst[i] += v
		}
		roundReal(a, dst)
	})
}

// sumWindows sets y to the sums over the windows of x of a function of its elements.
func (c *Call) sumWindows(y, x *Tensor, g window, pre func(x float64) float64) {
	in, out, a := size(g.in), size(g.out), c.accum()
	c.eachPlane(x, g, func(p int) {
		switch storeOf(x.Elem) {
		case storeF:
			sumPlane(a, &g, y.F[p*out:(p+1)*out], x.F[p*in:(p+1)*in], pre)
		case storeD:
			sumPlane(a, &g, y.D[p*out:(p+1)*out], x.D[p*in:(p+1)*in], pre)
		default:
			refuse("%s is not of a float type", x)
		}
	})
}

// averagePool divides by the number of elements that the window sees, or by what of it lies within
// the border too. Steps past the border, which ceil_mode allows, never count.
func averagePool(c *Call) error {
	x, g := c.poolWindow()
	y := c.poolOut(0, x.Elem, g)
	c.sumWindows(y, x, g, nil)
	n := g.counts(c.Int("count_include_pad") != 0)
	for i := range y.Len() {
		y.put64(i, y.at64(i)/float64(n[i%len(n)]))
	}
	return nil
}

// counts returns how many taps lie inside the image at each step, or inside its border.
func (g *window) counts(border bool) []int {
	n := []int{1}
	for d := range g.in {
		lo, hi := 0, g.in[d]
		if border {
			lo, hi = -g.begin[d], g.in[d]+g.end[d]
		}
		g.c.room(8 * int64(len(n)*g.out[d]))
		next := make([]int, 0, len(n)*g.out[d])
		for _, m := range n {
			for o := range g.out[d] {
				next = append(next, m*g.inside(d, o, lo, hi))
			}
		}
		n = next
	}
	return n
}

// inside counts the taps that lie in [lo, hi) along a dimension at a step.
func (g *window) inside(d, o, lo, hi int) int {
	from, n := g.at(d, o, 0), g.kernel[d]
	first := 0
	if from < lo {
		first = (lo - from + g.dilation[d] - 1) / g.dilation[d]
	}
	if from >= hi {
		return 0
	}
	return max(0, min(n, (hi-1-from)/g.dilation[d]+1)-first)
}

// lpPower returns the order of an Lp norm, a float in opset 1.
func (c *Call) lpPower() float64 {
	if c.Version < 2 {
		return c.FloatOr("p", 2)
	}
	return float64(c.Int("p"))
}

// absPower returns the function |x|^p.
func absPower(p float64) func(x float64) float64 {
	switch p {
	case 1:
		return math.Abs
	case 2:
		return square
	}
	return func(x float64) float64 { return math.Pow(math.Abs(x), p) }
}

func lpPool(c *Call) error {
	x, g := c.poolWindow()
	p := c.lpPower()
	y := c.poolOut(0, x.Elem, g)
	c.sumWindows(y, x, g, absPower(p))
	for i := range y.Len() {
		y.put64(i, math.Pow(y.at64(i), 1/p))
	}
	return nil
}

// globalPool makes a kernel that reduces all spatial dimensions.
func globalPool(r additive) func(c *Call) error {
	return func(c *Call) error {
		x := c.In(0)
		if x.Rank() < 2 || x.I != nil {
			refuse("%s is no image", x)
		}
		dims := reducedDims(x.Dims, allAxes(x.Rank())[2:], true)
		r.into(c, c.Out(0, x.Elem, dims), x, size(x.Dims[2:]))
		return nil
	}
}

func globalLpPool(c *Call) error {
	p := c.lpPower()
	return globalPool(additive{pre: absPower(p), post: func(s float64, _ int) float64 { return math.Pow(s, 1/p) }})(c)
}

func globalMaxPool(c *Call) error {
	x := c.In(0)
	if x.Rank() < 2 {
		refuse("%s is no image", x)
	}
	y := c.Out(0, x.Elem, reducedDims(x.Dims, allAxes(x.Rank())[2:], true))
	n := size(x.Dims[2:])
	for i := range y.Len() {
		copyRun(y, i, x, i*n+x.best(i*n, n, 1, false), 1)
	}
	return nil
}
