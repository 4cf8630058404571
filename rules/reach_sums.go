package rules

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// maxWeights bounds the constants that are read to find out how far a product with them goes.
const maxWeights = 1 << 24

// reducedCount returns how many elements a reduction joins at least: dimensions that are not known
// count as 1.
func (p *Pass) reducedCount(n *graph.Node) float64 {
	v := n.In(0)
	if v == nil {
		return 1
	}
	count := 1.0
	for _, axis := range p.axes(n, len(v.Type.Shape)) {
		count *= float64(max(dimOf(v, axis), 1))
	}
	return count
}

// axes returns the axes of a reduction, which are an attribute or an input; without either all.
func (p *Pass) axes(n *graph.Node, rank int) []int64 {
	axes := n.Ints("axes")
	if v := n.In(1); v != nil && axes == nil {
		t := p.constant(v)
		if t == nil {
			return nil // unknown: as if one element each
		}
		axes, _ = t.Int64s()
	}
	if len(axes) > 0 || n.Int("noop_with_empty_axes", 0) != 0 {
		return axes
	}
	for i := range rank {
		axes = append(axes, int64(i))
	}
	return axes
}

func reachReduce(p *Pass, n *graph.Node) reach {
	r, count := p.reachOf(n.In(0)), p.reducedCount(n)
	keep := end{}
	switch n.Op {
	case "ReduceMax":
		keep = r.hi // the one element that goes there is the maximum
	case "ReduceMin":
		keep = r.lo
	}
	for _, e := range []*end{&r.lo, &r.hi} {
		if e.level == some {
			*e = end{}
		}
	}
	r.add(keep)
	switch n.Op {
	case "ReduceSum":
		return r.monotone(func(x float64) float64 { return x * count })
	case "ReduceL1":
		return r.even(func(x float64) float64 { return math.Abs(x) * count })
	case "ReduceL2":
		return r.even(func(x float64) float64 { return math.Abs(x) * math.Sqrt(count) })
	case "ReduceSumSquare":
		return r.even(func(x float64) float64 { return x * x * count })
	}
	return r
}

func reachCumSum(p *Pass, n *graph.Node) reach {
	r := p.reachOf(n.In(0))
	axis, ok := p.scalar(n.In(1))
	if r.level() < uniform || !ok {
		return reach{}
	}
	count := float64(max(dimOf(n.In(0), int64(axis)), 1))
	last := r.monotone(func(x float64) float64 { return x * count })
	r.add(last.lo)
	r.add(last.hi)
	return r.capped(some)
}

// reachMatMul sums k products. Both operands of a product of two inputs can be at their ends
// throughout; of a constant operand every column has its own signs.
func reachMatMul(p *Pass, n *graph.Node) reach {
	a, b := n.In(0), n.In(1)
	k := float64(max(dimOf(a, -1), 1))
	if w := p.constant(b); w != nil {
		return p.columns(p.reachOf(a), w, false)
	}
	if w := p.constant(a); w != nil {
		return p.columns(p.reachOf(b), w, true)
	}
	return pair(p.reachOf(a), p.reachOf(b), func(x, y float64) float64 { return k * x * y }).throughout()
}

// throughout keeps the ends that hold for all elements.
func (r reach) throughout() reach {
	if r.lo.level < uniform {
		r.lo = end{}
	}
	if r.hi.level < uniform {
		r.hi = end{}
	}
	return r.capped(uniform)
}

func reachFusedMatMul(p *Pass, n *graph.Node) reach {
	if p.constant(n.In(0)) != nil || p.constant(n.In(1)) != nil {
		return reach{}
	}
	alpha := float64(n.Float("alpha", 1))
	axis := int64(-1)
	if n.Int("transA", 0) != 0 {
		axis = -2
	}
	k := float64(max(dimOf(n.In(0), axis), 1))
	return pair(p.reachOf(n.In(0)), p.reachOf(n.In(1)), func(x, y float64) float64 { return alpha * k * x * y }).throughout()
}

// columns is the reach of x·W, or of W·x for a W on the left.
func (p *Pass) columns(x reach, w *graph.Tensor, left bool) reach {
	if x.level() < uniform || len(w.Dims) < 2 || w.Len() > maxWeights || w.Len() == 0 {
		return reach{}
	}
	data, err := w.Float64s()
	if err != nil {
		return reach{}
	}
	rows, cols := int(w.Dims[len(w.Dims)-2]), int(w.Dims[len(w.Dims)-1])
	out := reach{deps: x.deps}
	for at := 0; at < len(data); at += rows * cols {
		for j := range max(rows, cols) {
			switch {
			case left && j < rows:
				out.addSum(x, data[at+j*cols:], cols, 1, 0)
			case !left && j < cols:
				out.addSum(x, data[at+j:], rows, cols, 0)
			}
		}
	}
	return out
}

// sigmas is how many standard deviations a sum of many free elements is believed to go: one draw in
// three million goes further. The aligned extremes of hundreds of elements exist, but no data
// come near them.
const sigmas = 5

// addSum adds what a sum of count elements of x with the weights w[0], w[step], … and a constant
// reaches: as far as each element free of the others takes it, or all elements at one end.
func (r *reach) addSum(x reach, w []float64, count, step int, constant float64) {
	low, high, sum, squares := constant, constant, 0.0, 0.0
	for i := range count {
		c := w[i*step]
		low += math.Min(c*x.lo.at, c*x.hi.at)
		high += math.Max(c*x.lo.at, c*x.hi.at)
		sum += c
		squares += c * c
	}
	level := constant + sum*(x.lo.at+x.hi.at)/2
	sway := sigmas * math.Sqrt(squares/12) * (x.hi.at - x.lo.at)
	equal := math.Abs(sum) * (x.hi.at - x.lo.at) / 2
	if x.level() < free {
		sway = equal
	}
	sway = math.Max(sway, equal)
	r.add(end{math.Max(low, level-sway), some})
	r.add(end{math.Min(high, level+sway), some})
}

func reachGemm(p *Pass, n *graph.Node) reach {
	w := p.constant(n.In(1))
	if w == nil || n.Float("alpha", 1) != 1 || n.Float("beta", 1) != 1 || n.Int("transA", 0) != 0 {
		return reach{}
	}
	out := p.columns(p.reachOf(n.In(0)), w, n.Int("transB", 0) != 0)
	if c := n.In(2); c != nil {
		out = shifted(out, p.reachOf(c), func(x, y float64) float64 { return x + y })
	}
	return out
}

// reachConv is the sum over all taps of a window that lies inside the image.
func reachConv(p *Pass, n *graph.Node) reach {
	x, w := p.reachOf(n.In(0)), p.constant(n.In(1))
	if w == nil || x.level() < uniform || w.Len() > maxWeights || len(w.Dims) < 3 || !insideWindow(n, w) {
		return reach{}
	}
	data, err := w.Float64s()
	if err != nil || len(data) == 0 {
		return reach{}
	}
	bias := make([]float64, w.Dims[0])
	if b := n.In(2); b != nil {
		t := p.constant(b)
		if t == nil || t.Len() != w.Dims[0] {
			return reach{}
		}
		if bias, err = t.Float64s(); err != nil {
			return reach{}
		}
	}
	taps := len(data) / len(bias)
	out := reach{deps: x.deps}
	for j, c := range bias {
		out.addSum(x, data[j*taps:], taps, 1, c)
	}
	return out
}

// insideWindow tells whether some window of a convolution reads no padding, wherever the first one
// starts.
func insideWindow(n *graph.Node, w *graph.Tensor) bool {
	strides, dilations := n.Ints("strides"), n.Ints("dilations")
	for i, k := range w.Dims[2:] {
		step, gap := int64(1), int64(1)
		if i < len(strides) {
			step = strides[i]
		}
		if i < len(dilations) {
			gap = dilations[i]
		}
		if d := dimOf(n.In(0), int64(i+2)); d > 0 && d < (k-1)*gap+step {
			return false // a length that is not fixed may be as long as needed
		}
	}
	return true
}

// reachBatchNorm scales and shifts every channel.
func reachBatchNorm(p *Pass, n *graph.Node) reach {
	x := p.reachOf(n.In(0))
	var c [4][]float64
	for i := range c {
		t := p.constant(n.In(i + 1))
		if t == nil {
			return reach{}
		}
		var err error
		if c[i], err = t.Float64s(); err != nil || len(c[i]) != len(c[0]) {
			return reach{}
		}
	}
	if x.level() < uniform {
		return reach{}
	}
	out := reach{deps: x.deps}
	for i := range c[0] {
		s := c[0][i] / math.Sqrt(c[3][i]+float64(n.Float("epsilon", 1e-5)))
		for _, e := range []end{x.lo, x.hi} {
			out.add(end{s*(e.at-c[2][i]) + c[1][i], some})
		}
	}
	return out
}
