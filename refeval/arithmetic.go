package refeval

import (
	"cmp"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval/kern"
)

func arithmeticOps() []entry {
	return []entry{
		op("Add", pairwise(addition())),
		op("BitShift", bitShift),
		op("BitwiseAnd", pairwise(arith{i: func(x, y int64, _ graph.ElemType) int64 { return x & y }})),
		op("BitwiseNot", bitwiseNot),
		op("BitwiseOr", pairwise(arith{i: func(x, y int64, _ graph.ElemType) int64 { return x | y }})),
		op("BitwiseXor", pairwise(arith{i: func(x, y int64, _ graph.ElemType) int64 { return x ^ y }})),
		op("Div", pairwise(division())),
		op("Max", variadic(maximum())),
		op("Mean", mean),
		op("Min", variadic(minimum())),
		op("Mod", modulo),
		op("Mul", pairwise(multiplication())),
		op("PRelu", prelu),
		op("Pow", power),
		op("Sub", pairwise(subtraction())),
		op("Sum", variadic(addition())),
	}
}

func addition() arith {
	return arith{f: plus[float32], d: plus[float64], i: integer(plus[int64]), runs: (*kern.Engine).Add}
}

func subtraction() arith {
	return arith{f: minus[float32], d: minus[float64], i: integer(minus[int64]), runs: (*kern.Engine).Sub}
}

func multiplication() arith {
	return arith{f: times[float32], d: times[float64], i: integer(times[int64]), runs: (*kern.Engine).Mul}
}

func division() arith {
	return arith{f: over[float32], d: over[float64], i: divideInt, runs: (*kern.Engine).Div}
}

func maximum() arith { return arith{f: larger[float32], d: larger[float64], i: pickInt(true)} }

func minimum() arith { return arith{f: smaller[float32], d: smaller[float64], i: pickInt(false)} }

func plus[T number](x, y T) T            { return x + y }
func minus[T number](x, y T) T           { return x - y }
func times[T number](x, y T) T           { return x * y }
func over[T float32 | float64](x, y T) T { return x / y }

// larger and smaller give NaN where either is, as onnxruntime does.
func larger[T cmp.Ordered](x, y T) T  { return max(x, y) }
func smaller[T cmp.Ordered](x, y T) T { return min(x, y) }

func integer(f func(x, y int64) int64) func(x, y int64, e graph.ElemType) int64 {
	return func(x, y int64, _ graph.ElemType) int64 { return f(x, y) }
}

func pickInt(larger bool) func(x, y int64, e graph.ElemType) int64 {
	return func(x, y int64, e graph.ElemType) int64 {
		return pick(lessInt(x, y, e) == larger, y, x)
	}
}

func divideInt(x, y int64, e graph.ElemType) int64 {
	switch {
	case y == 0:
		refuse("division of the integer %d by zero", x)
	case e == graph.Uint64:
		return int64(uint64(x) / uint64(y))
	case y == -1:
		return -x // the least integer has no positive counterpart: it stays
	}
	return x / y
}

// modulo takes the sign of the divisor, or of the dividend under fmod.
func modulo(c *Call) error {
	a := arith{
		f: func(x, y float32) float32 { return float32(floorMod(float64(x), float64(y))) },
		d: floorMod, i: floorModInt,
	}
	if c.Int("fmod") != 0 {
		a = arith{
			f: func(x, y float32) float32 { return float32(math.Mod(float64(x), float64(y))) },
			d: math.Mod, i: remainderInt,
		}
	}
	return pairwise(a)(c)
}

func floorMod(x, y float64) float64 {
	m := math.Mod(x, y)
	if m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m
}

func remainderInt(x, y int64, e graph.ElemType) int64 {
	switch {
	case y == 0:
		refuse("remainder of the integer %d by zero", x)
	case e == graph.Uint64:
		return int64(uint64(x) % uint64(y))
	case y == -1:
		return 0
	}
	return x % y
}

func floorModInt(x, y int64, e graph.ElemType) int64 {
	m := remainderInt(x, y, e)
	if e != graph.Uint64 && m != 0 && (m < 0) != (y < 0) {
		m += y
	}
	return m
}

func bitwiseNot(c *Call) error {
	if !c.eachInt(func(x int64) int64 { return ^x }) {
		refuse("no such operation on %s", c.In(0).Elem)
	}
	return nil
}

// bitShift shifts by at least 0. Go shifts every bit out where the count is too large, as the
// standard has it.
func bitShift(c *Call) error {
	left := c.Str("direction") == "LEFT"
	return pairwise(arith{i: func(x, y int64, e graph.ElemType) int64 {
		n := uint64(y)
		switch {
		case left:
			return x << n
		case e == graph.Uint64:
			return int64(uint64(x) >> n)
		}
		return x >> n
	}})(c)
}

// mean divides the sum by the number of inputs.
func mean(c *Call) error {
	z := c.fold(addition())
	n := float64(c.Len())
	for i := range z.Len() {
		z.put64(i, z.at64(i)/n)
	}
	return nil
}

// power raises to a power of any numeric type; the result is of the type of the base.
func power(c *Call) error {
	x, y := c.pair()
	z := c.Out(0, x.Elem, broadcast(x.Dims, y.Dims))
	if x.I != nil && y.I != nil {
		f := func(x, y int64) int64 { return wrap(powInt(x, y), z.Elem) }
		zip(c, z.I, z.Dims, x.I, x.Dims, y.I, y.Dims, f)
		return nil
	}
	e := y.floats64()
	switch {
	case x.F != nil:
		zip(c, z.F, z.Dims, x.F, x.Dims, e, y.Dims, func(x float32, y float64) float32 {
			return float32(math.Pow(float64(x), y))
		})
	default:
		r := make([]float64, z.Len())
		zip(c, r, z.Dims, x.floats64(), x.Dims, e, y.Dims, math.Pow)
		for i, v := range r {
			z.put64(i, v)
		}
	}
	return nil
}

// powInt wraps as repeated multiplication does; negative powers are cut off.
func powInt(x, y int64) int64 {
	if y < 0 {
		switch x {
		case 1:
			return 1
		case -1:
			return 1 - 2*(y&1)
		}
		return 0
	}
	r := int64(1)
	for ; y > 0; y >>= 1 {
		if y&1 == 1 {
			r *= x
		}
		x *= x
	}
	return r
}

// prelu broadcasts the slope to the input; before opset 7 it was one number for each channel.
func prelu(c *Call) error {
	x, s := c.In(0), c.In(1)
	if c.Version < 7 && len(s.Dims) == 1 && len(x.Dims) > 2 {
		dims := make([]int, len(x.Dims)-1)
		for i := range dims {
			dims[i] = 1
		}
		dims[0] = s.Dims[0]
		s = s.view(dims)
	}
	z := c.Out(0, x.Elem, x.Dims)
	a := arith{f: leaky[float32], d: leaky[float64], i: integer(leaky[int64])}
	if got := broadcast(x.Dims, s.Dims); size(got) != x.Len() {
		refuse("the slope %v does not broadcast to %v", s.Dims, x.Dims)
	}
	a.into(c, z, x, s)
	return nil
}

func leaky[T number](x, slope T) T {
	if x < 0 {
		return x * slope
	}
	return x
}
