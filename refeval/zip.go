package refeval

import (
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval/kern"
)

// unary makes a kernel of a function of one real number. It is computed in double and rounded to
// float once.
func unary(f func(x float64) float64) func(c *Call) error {
	return func(c *Call) error {
		c.apply(func(*Call) func(float64) float64 { return f })
		return nil
	}
}

// vector makes a kernel of a function that the inner loops have for float32; f is the same for
// double and integers.
func vector(k func(e *kern.Engine, dst, x []float32), f func(x float64) float64) func(c *Call) error {
	return func(c *Call) error {
		x := c.In(0)
		if x.F == nil {
			return unary(f)(c)
		}
		k(c.engine(), c.over(x.Elem, x.Dims, 0).F, x.F)
		return nil
	}
}

// unaryWith makes a kernel of a function that attributes shape.
func unaryWith(f func(c *Call) func(x float64) float64) func(c *Call) error {
	return func(c *Call) error {
		c.apply(f)
		return nil
	}
}

// apply sets output 0 to a function of each element of input 0, integers included.
func (c *Call) apply(make func(c *Call) func(x float64) float64) {
	x, f := c.In(0), make(c)
	y := c.over(x.Elem, x.Dims, 0)
	const cost = 16 // such functions are worth a dozen plain operations
	c.parallel(y.Len(), cost, func(lo, hi int) {
		switch {
		case y.F != nil:
			for i := lo; i < hi; i++ {
				y.F[i] = float32(f(float64(x.F[i])))
			}
		case y.D != nil:
			for i := lo; i < hi; i++ {
				y.D[i] = f(x.D[i])
			}
		default:
			for i := lo; i < hi; i++ {
				y.put64(i, f(x.at64(i)))
			}
		}
	})
}

// zip sets dst, which has the shape dims, to f of the elements of x and y, whose shapes broadcast
// to it. dst may be x or y where that has the shape dims too.
func zip[T, U, R any](c *Call, dst []R, dims []int, x []T, xd []int, y []U, yd []int, f func(T, U) R) {
	if size(dims) == 0 {
		return
	}
	md, ml := merge(dims, strides(dims), spread(xd, dims), spread(yd, dims))
	last := len(md) - 1
	sx, sy := ml[1][last], ml[2][last]
	c.parallel(md[0], size(md[1:]), func(lo, hi int) {
		part := slices.Clone(md)
		part[0] = hi - lo
		o, i0, j0 := lo*ml[0][0], lo*ml[1][0], lo*ml[2][0]
		walk(part, func(off []int, n int) {
			d := dst[o+off[0]:][:n]
			i, j := i0+off[1], j0+off[2]
			for k := range d {
				d[k] = f(x[i], y[j])
				i, j = i+sx, j+sy
			}
		}, ml...)
	})
}

// number is what arithmetic works on.
type number interface{ float32 | float64 | int64 }

// arith holds one operation for each kind of elements. Operations on integers are told the type,
// and wrapped to it afterwards.
type arith struct {
	f func(x, y float32) float32
	d func(x, y float64) float64
	i func(x, y int64, e graph.ElemType) int64
	// runs is f on elements that lie together, of which one side may be a single number; nil for none
	runs func(e *kern.Engine, dst, x, y []float32)
}

// pairwise makes a kernel of an operation on inputs of one type.
func pairwise(a arith) func(c *Call) error {
	return func(c *Call) error {
		x, y := c.pair()
		if x.Elem != y.Elem {
			refuse("inputs of types %s and %s", x.Elem, y.Elem)
		}
		z := c.over(x.Elem, broadcast(x.Dims, y.Dims), 0, 1)
		a.into(c, z, x, y)
		return nil
	}
}

// into computes z = x op y.
func (a arith) into(c *Call, z, x, y *Tensor) {
	switch storeOf(z.Elem) {
	case storeF:
		if a.runs != nil && a.byRuns(c, z.F, z.Dims, x, y) {
			return
		}
		zip(c, z.F, z.Dims, x.F, x.Dims, y.F, y.Dims, a.f)
	case storeD:
		zip(c, z.D, z.Dims, x.D, x.Dims, y.D, y.Dims, a.d)
	case storeI:
		if a.i == nil {
			refuse("no such operation on %s", z.Elem)
		}
		f := func(x, y int64) int64 { return wrap(a.i(x, y, z.Elem), z.Elem) }
		zip(c, z.I, z.Dims, x.I, x.Dims, y.I, y.Dims, f)
	default:
		refuse("no such operation on %s", z.Elem)
	}
}

// leastRun is the length of a run below which its call costs more than it saves.
const leastRun = 12

// byRuns computes z = x op y by runs of the last dimension, and tells whether those are long enough.
func (a arith) byRuns(c *Call, z []float32, dims []int, x, y *Tensor) bool {
	if len(z) == 0 {
		return true
	}
	md, ml := merge(dims, strides(dims), spread(x.Dims, dims), spread(y.Dims, dims))
	last := len(md) - 1
	sx, sy := ml[1][last], ml[2][last]
	if sx > 1 || sy > 1 || md[last] < leastRun {
		return false
	}
	c.parallel(md[0], size(md[1:]), func(lo, hi int) {
		e, part := serial(), slices.Clone(md)
		part[0] = hi - lo
		o, i, j := lo*ml[0][0], lo*ml[1][0], lo*ml[2][0]
		walk(part, func(off []int, n int) {
			a.runs(e, z[o+off[0]:][:n], run1(x.F[i+off[1]:], sx, n), run1(y.F[j+off[2]:], sy, n))
		}, ml...)
	})
	return true
}

// run1 returns n elements, or the one that stands for all of them.
func run1(x []float32, step, n int) []float32 {
	if step == 0 {
		return x[:1]
	}
	return x[:n]
}

// pair returns the two operands of a binary operator. Before opset 7 the second was broadcast only
// when an attribute said so, and could be laid at an axis of the first.
func (c *Call) pair() (x, y *Tensor) {
	x, y = c.In(0), c.In(1)
	if !c.hasAttr("axis") || c.Int("broadcast") == 0 {
		return x, y
	}
	at := axis(c.Int("axis"), len(x.Dims))
	dims := slices.Clone(y.Dims)
	for len(dims) < len(x.Dims)-at {
		dims = append(dims, 1)
	}
	return x, y.view(dims)
}

// variadic folds any number of inputs of one type by an operation.
func variadic(a arith) func(c *Call) error {
	return func(c *Call) error {
		c.fold(a)
		return nil
	}
}

// fold computes output 0 from all inputs, from the first to the last.
func (c *Call) fold(a arith) *Tensor {
	shapes := make([][]int, c.Len())
	for i := range shapes {
		shapes[i] = c.In(i).Dims
		if c.In(i).Elem != c.In(0).Elem {
			refuse("inputs of types %s and %s", c.In(0).Elem, c.In(i).Elem)
		}
	}
	first := c.In(0)
	dims := broadcast(shapes...)
	if c.Len() == 2 { // of more, the memory of the first might be that of a later one too
		z := c.over(first.Elem, dims, 0, 1)
		a.into(c, z, first, c.In(1))
		return z
	}
	z := c.rawOut(0, first.Elem, dims)
	copyBox(z, whole(z), first, layout{strides: spread(first.Dims, z.Dims)}, z.Dims)
	for i := 1; i < c.Len(); i++ {
		a.into(c, z, z, c.In(i))
	}
	return z
}
