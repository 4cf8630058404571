package refeval

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// reduceMax is NaN where an element is, and -Inf or the least number of the type of nothing at all.
func reduceMax(c *Call) error { return c.extreme(1) }

func reduceMin(c *Call) error { return c.extreme(-1) }

// extreme reduces to the largest element where sign is 1, to the least where it is -1.
func (c *Call) extreme(sign int) error {
	t, y, n := c.reducing(c.In(0).Elem)
	if n == 0 {
		none := c.Temp(y.Elem, []int{})
		c.bottom(none, sign)
		fill(y, none)
		return nil
	}
	c.parallel(y.Len(), n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copyRun(y, i, t, i*n+t.best(i*n, n, sign, false), 1)
		}
	})
	return nil
}

// bottom sets a scalar to what loses against every number of its type.
func (c *Call) bottom(t *Tensor, sign int) {
	lo, hi := intRange(t.Elem)
	switch {
	case t.I == nil:
		t.put64(0, math.Inf(-sign))
	case t.Elem == graph.Uint64:
		t.I[0] = pick(sign > 0, int64(0), -1)
	default:
		t.I[0] = pick(sign > 0, lo, hi)
	}
}

// best returns the place of the largest (sign 1) or least (sign -1) of n elements, the last of
// equal ones or the first. The first NaN wins, as with numpy.
func (t *Tensor) best(from, n, sign int, last bool) int {
	switch storeOf(t.Elem) {
	case storeF:
		return bestReal(t.F[from:from+n], float32(sign), last)
	case storeD:
		return bestReal(t.D[from:from+n], float64(sign), last)
	}
	order, at := t.order(), 0
	for i := 1; i < n; i++ {
		if r := sign * order(from+i, from+at); r > 0 || r == 0 && last {
			at = i
		}
	}
	return at
}

func bestReal[T floating](x []T, sign T, last bool) int {
	at := 0
	for i, v := range x {
		if v != v {
			return i
		}
		if v*sign > x[at]*sign || v == x[at] && last {
			at = i
		}
	}
	return at
}

func argMax(c *Call) error { return c.argBest(1) }

func argMin(c *Call) error { return c.argBest(-1) }

func (c *Call) argBest(sign int) error {
	x := c.In(0)
	list := []int{axis(c.Int("axis"), x.Rank())}
	t, n := c.rows(x, list)
	y := c.Out(0, graph.Int64, reducedDims(x.Dims, list, c.Int("keepdims") != 0))
	if n == 0 && y.Len() > 0 {
		refuse("the largest of nothing")
	}
	last := c.Int("select_last_index") != 0
	c.parallel(y.Len(), n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y.I[i] = int64(t.best(i*n, n, sign, last))
		}
	})
	return nil
}
