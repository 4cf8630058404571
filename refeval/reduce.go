package refeval

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// reduceOps are the reductions along axes.
func reduceOps() []entry {
	return append(cumulateOps(),
		op("ArgMax", argMax),
		op("ArgMin", argMin),
		op("ReduceL1", additive{pre: math.Abs, preInt: absInt}.run),
		op("ReduceL2", additive{pre: square, preInt: squareInt, post: root}.run),
		op("ReduceLogSum", additive{post: logarithm}.run),
		op("ReduceLogSumExp", reduceLogSumExp),
		mover("ReduceMax", reduceMax),
		op("ReduceMean", additive{post: quotient}.run),
		mover("ReduceMin", reduceMin),
		op("ReduceProd", reduceProd),
		op("ReduceSum", additive{}.run),
		op("ReduceSumSquare", additive{pre: square, preInt: squareInt}.run),
	)
}

func square(x float64) float64           { return x * x }
func squareInt(x int64) int64            { return x * x }
func absInt(x int64) int64               { return max(x, -x) }
func root(s float64, _ int) float64      { return math.Sqrt(s) }
func logarithm(s float64, _ int) float64 { return math.Log(s) }
func quotient(s float64, n int) float64  { return s / float64(n) }

// reduceAxes returns the axes that a reduction runs over: all of them where none are named, unless
// the node says that this means none.
func (c *Call) reduceAxes(rank int) []int {
	list, _ := c.axesArg(1, rank)
	if len(list) == 0 && c.Int("noop_with_empty_axes") == 0 {
		return allAxes(rank)
	}
	return list
}

// reducing prepares a reduction: the elements in rows of n, and the output with an element for
// each row.
func (c *Call) reducing(e graph.ElemType) (t, y *Tensor, n int) {
	x := c.In(0)
	list := c.reduceAxes(x.Rank())
	t, n = c.rows(x, list)
	return t, c.Out(0, e, reducedDims(x.Dims, list, c.Int("keepdims") != 0)), n
}

// additive is a reduction that sums: a function of each element, the sum, a function of the sum
// and the number of elements.
type additive struct {
	pre    func(x float64) float64
	preInt func(x int64) int64 // pre, where that needs no real numbers
	post   func(s float64, n int) float64
}

func (r additive) run(c *Call) error {
	t, y, n := c.reducing(c.In(0).Elem)
	r.into(c, y, t, n)
	return nil
}

// into sets y to the reduction of each row of n.
func (r additive) into(c *Call, y, t *Tensor, n int) {
	a := c.accum()
	c.parallel(y.Len(), n, func(lo, hi int) {
		switch {
		case t.F != nil:
			reduceRows(a, r, y.F[lo:hi], t.F[lo*n:hi*n], n)
		case t.D != nil:
			reduceRows(a, r, y.D[lo:hi], t.D[lo*n:hi*n], n)
		case t.I != nil:
			r.ints(y, t, lo, hi, n)
		default:
			refuse("no sums of %s", t.Elem)
		}
	})
}

// reduceRows sets dst to the reduction of each row of n.
func reduceRows[T floating](a accum, r additive, dst, x []T, n int) {
	if n > 0 {
		copy(dst, sums(a, mapped(a, r.pre, x), n))
	}
	if r.post == nil {
		return
	}
	for i, s := range dst {
		dst[i] = T(r.post(float64(s), n))
	}
}

// mapped returns a function of each element, rounded; x itself without one.
func mapped[T floating](a accum, f func(x float64) float64, x []T) []T {
	if f == nil {
		return x
	}
	y := make([]T, len(x))
	for i, v := range x {
		y[i] = T(f(float64(v)))
	}
	roundReal(a, y)
	return y
}

// ints reduces rows of integers; functions that give real numbers are cut off.
func (r additive) ints(y, t *Tensor, lo, hi, n int) {
	post := r.post
	for i := lo; i < hi; i++ {
		var s int64
		for _, v := range t.I[i*n : (i+1)*n] {
			if r.preInt != nil {
				v = r.preInt(v)
			}
			s += v
		}
		y.I[i] = wrap(s, y.Elem)
		if post != nil {
			y.I[i] = floatToInt(post(float64(s), n), y.Elem)
		}
	}
}

// reduceLogSumExp takes the largest element out of the exponents, so that they cannot overflow. In a
// low type it is computed as it is written.
func reduceLogSumExp(c *Call) error {
	if a := c.accum(); a.low() && c.In(0).F != nil {
		return additive{pre: math.Exp, post: logarithm}.run(c)
	}
	t, y, n := c.reducing(c.In(0).Elem)
	for i := range y.Len() {
		most := math.Inf(-1)
		for k := range n {
			most = max(most, t.at64(i*n+k))
		}
		if math.IsInf(most, 0) {
			y.put64(i, most)
			continue
		}
		var s float64
		for k := range n {
			s += math.Exp(t.at64(i*n+k) - most)
		}
		y.put64(i, math.Log(s)+most)
	}
	return nil
}

func reduceProd(c *Call) error {
	t, y, n := c.reducing(c.In(0).Elem)
	a := c.accum()
	for i := range y.Len() {
		row := [2]int{i * n, (i + 1) * n}
		switch {
		case t.F != nil:
			p := float32(1)
			for _, v := range t.F[row[0]:row[1]] {
				p = a.round(p * v)
			}
			y.F[i] = p
		case t.D != nil:
			y.D[i] = product(t.D[row[0]:row[1]])
		default:
			y.I[i] = wrap(product(t.I[row[0]:row[1]]), y.Elem)
		}
	}
	return nil
}

func product[T number](x []T) T {
	p := T(1)
	for _, v := range x {
		p *= v
	}
	return p
}
