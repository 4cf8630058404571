package reach

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rules/walk"
)

func reachReduce(m *Map, n *graph.Node) Span {
	r, count := m.Of(n.In(0)), walk.ReducedCount(n)
	keep := End{}
	switch n.Op {
	case "ReduceMax":
		keep = r.Hi // the one element that goes there is the maximum
	case "ReduceMin":
		keep = r.Lo
	}
	for _, e := range []*End{&r.Lo, &r.Hi} {
		if e.Level == Some {
			*e = End{}
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

func reachCumSum(m *Map, n *graph.Node) Span {
	r := m.Of(n.In(0))
	axis, ok := walk.Scalar(n.In(1))
	if r.Level() < Uniform || !ok {
		return Span{}
	}
	count := float64(max(walk.Dim(n.In(0), int64(axis)), 1))
	last := r.monotone(func(x float64) float64 { return x * count })
	r.add(last.Lo)
	r.add(last.Hi)
	return r.capped(Some)
}

// reachMatMul sums k products. Both operands of a product of two inputs can be at their ends
// throughout; of a constant operand every column has its own signs.
func reachMatMul(m *Map, n *graph.Node) Span {
	a, b := n.In(0), n.In(1)
	k := float64(max(walk.Dim(a, -1), 1))
	if w := walk.Constant(b); w != nil {
		return m.columns(m.Of(a), w, false)
	}
	if w := walk.Constant(a); w != nil {
		return m.columns(m.Of(b), w, true)
	}
	return Pair(m.Of(a), m.Of(b), func(x, y float64) float64 { return k * x * y }).Throughout()
}

// Throughout keeps the ends that hold for all elements.
func (r Span) Throughout() Span {
	if r.Lo.Level < Uniform {
		r.Lo = End{}
	}
	if r.Hi.Level < Uniform {
		r.Hi = End{}
	}
	return r.capped(Uniform)
}

func reachFusedMatMul(m *Map, n *graph.Node) Span {
	if walk.Constant(n.In(0)) != nil || walk.Constant(n.In(1)) != nil {
		return Span{}
	}
	alpha := float64(n.Float("alpha", 1))
	axis := int64(-1)
	if n.Int("transA", 0) != 0 {
		axis = -2
	}
	k := float64(max(walk.Dim(n.In(0), axis), 1))
	return Pair(m.Of(n.In(0)), m.Of(n.In(1)), func(x, y float64) float64 { return alpha * k * x * y }).Throughout()
}

// columns is the reach of x·W, or of W·x for a W on the left.
func (m *Map) columns(x Span, w *graph.Tensor, left bool) Span {
	if x.Level() < Uniform || len(w.Dims) < 2 || w.Len() > walk.MaxWeights || w.Len() == 0 {
		return Span{}
	}
	data, err := w.Float64s()
	if err != nil {
		return Span{}
	}
	rows, cols := int(w.Dims[len(w.Dims)-2]), int(w.Dims[len(w.Dims)-1])
	out := Span{Deps: x.Deps}
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
func (r *Span) addSum(x Span, w []float64, count, step int, constant float64) {
	low, high, sum, squares := constant, constant, 0.0, 0.0
	for i := range count {
		c := w[i*step]
		low += math.Min(c*x.Lo.At, c*x.Hi.At)
		high += math.Max(c*x.Lo.At, c*x.Hi.At)
		sum += c
		squares += c * c
	}
	middle := constant + sum*(x.Lo.At+x.Hi.At)/2
	sway := sigmas * math.Sqrt(squares/12) * (x.Hi.At - x.Lo.At)
	equal := math.Abs(sum) * (x.Hi.At - x.Lo.At) / 2
	if x.Level() < Free {
		sway = equal
	}
	sway = math.Max(sway, equal)
	r.add(End{math.Max(low, middle-sway), Some})
	r.add(End{math.Min(high, middle+sway), Some})
}

func reachGemm(m *Map, n *graph.Node) Span {
	w := walk.Constant(n.In(1))
	if w == nil || n.Float("alpha", 1) != 1 || n.Float("beta", 1) != 1 || n.Int("transA", 0) != 0 {
		return Span{}
	}
	out := m.columns(m.Of(n.In(0)), w, n.Int("transB", 0) != 0)
	if c := n.In(2); c != nil {
		out = shifted(out, m.Of(c), func(x, y float64) float64 { return x + y })
	}
	return out
}

// reachConv is the sum over all taps of a window that lies inside the image.
func reachConv(m *Map, n *graph.Node) Span {
	x, w := m.Of(n.In(0)), walk.Constant(n.In(1))
	if w == nil || x.Level() < Uniform || w.Len() > walk.MaxWeights || len(w.Dims) < 3 || !insideWindow(n, w) {
		return Span{}
	}
	data, err := w.Float64s()
	if err != nil || len(data) == 0 {
		return Span{}
	}
	bias := make([]float64, w.Dims[0])
	if b := n.In(2); b != nil {
		t := walk.Constant(b)
		if t == nil || t.Len() != w.Dims[0] {
			return Span{}
		}
		if bias, err = t.Float64s(); err != nil {
			return Span{}
		}
	}
	taps := len(data) / len(bias)
	out := Span{Deps: x.Deps}
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
		if d := walk.Dim(n.In(0), int64(i+2)); d > 0 && d < (k-1)*gap+step {
			return false // a length that is not fixed may be as long as needed
		}
	}
	return true
}

// reachBatchNorm scales and shifts every channel.
func reachBatchNorm(m *Map, n *graph.Node) Span {
	x := m.Of(n.In(0))
	var c [4][]float64
	for i := range c {
		t := walk.Constant(n.In(i + 1))
		if t == nil {
			return Span{}
		}
		var err error
		if c[i], err = t.Float64s(); err != nil || len(c[i]) != len(c[0]) {
			return Span{}
		}
	}
	if x.Level() < Uniform {
		return Span{}
	}
	out := Span{Deps: x.Deps}
	for i := range c[0] {
		s := c[0][i] / math.Sqrt(c[3][i]+float64(n.Float("epsilon", 1e-5)))
		for _, e := range []End{x.Lo, x.Hi} {
			out.add(End{s*(e.At-c[2][i]) + c[1][i], Some})
		}
	}
	return out
}
