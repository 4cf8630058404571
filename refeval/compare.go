package refeval

import (
	"cmp"
	"math"

	"github.com/amplint/amplint/graph"
)

func compareOps() []entry {
	return []entry{
		op("And", logic(func(x, y int64) int64 { return x & y })),
		op("Equal", equal),
		op("Greater", ordered(func(r int) bool { return r > 0 })),
		op("GreaterOrEqual", ordered(func(r int) bool { return r == 0 || r == 1 })),
		op("IsInf", isInf),
		op("IsNaN", isNaN),
		op("Less", ordered(func(r int) bool { return r == -1 })),
		op("LessOrEqual", ordered(func(r int) bool { return r == 0 || r == -1 })),
		op("Not", logicalNot),
		op("Or", logic(func(x, y int64) int64 { return x | y })),
		op("Xor", logic(func(x, y int64) int64 { return x ^ y })),
	}
}

// operands returns two inputs of one type and the output of bools.
func (c *Call) operands() (x, y, z *Tensor) {
	x, y = c.pair()
	if x.Elem != y.Elem {
		refuse("inputs of types %s and %s", x.Elem, y.Elem)
	}
	return x, y, c.Out(0, graph.Bool, broadcast(x.Dims, y.Dims))
}

func logic(f func(x, y int64) int64) func(c *Call) error {
	return func(c *Call) error {
		x, y, z := c.operands()
		if x.Elem != graph.Bool {
			refuse("%s elements are no bools", x.Elem)
		}
		zip(c, z.I, z.Dims, x.I, x.Dims, y.I, y.Dims, f)
		return nil
	}
}

func logicalNot(c *Call) error {
	x := c.In(0)
	z := c.Out(0, graph.Bool, x.Dims)
	for i, v := range x.I {
		z.I[i] = bit(v == 0)
	}
	return nil
}

func equal(c *Call) error {
	x, y, z := c.operands()
	switch storeOf(x.Elem) {
	case storeF:
		zip(c, z.I, z.Dims, x.F, x.Dims, y.F, y.Dims, same[float32])
	case storeD:
		zip(c, z.I, z.Dims, x.D, x.Dims, y.D, y.Dims, same[float64])
	case storeI:
		zip(c, z.I, z.Dims, x.I, x.Dims, y.I, y.Dims, same[int64])
	case storeS:
		zip(c, z.I, z.Dims, x.S, x.Dims, y.S, y.Dims, same[string])
	case storeC:
		zip(c, z.I, z.Dims, x.C, x.Dims, y.C, y.Dims, same[complex128])
	}
	return nil
}

func same[T comparable](x, y T) int64 { return bit(x == y) }

// unordered is the result of comparing with NaN, for which every order is false.
const unordered = 2

// ordered makes a kernel of a test on how two elements compare: -1, 0, 1 or unordered.
func ordered(test func(r int) bool) func(c *Call) error {
	return func(c *Call) error {
		x, y, z := c.operands()
		switch storeOf(x.Elem) {
		case storeF:
			zip(c, z.I, z.Dims, x.F, x.Dims, y.F, y.Dims, compare[float32](test))
		case storeD:
			zip(c, z.I, z.Dims, x.D, x.Dims, y.D, y.Dims, compare[float64](test))
		case storeI:
			f := compare[int64](test)
			if x.Elem == graph.Uint64 {
				f = func(x, y int64) int64 { return bit(test(cmp.Compare(uint64(x), uint64(y)))) }
			}
			zip(c, z.I, z.Dims, x.I, x.Dims, y.I, y.Dims, f)
		default:
			refuse("%s elements have no order", x.Elem)
		}
		return nil
	}
}

func compare[T number](test func(r int) bool) func(x, y T) int64 {
	return func(x, y T) int64 {
		switch {
		case x < y:
			return bit(test(-1))
		case x > y:
			return bit(test(1))
		case x == y:
			return bit(test(0))
		}
		return bit(test(unordered))
	}
}

func isNaN(c *Call) error {
	x := c.In(0)
	z := c.Out(0, graph.Bool, x.Dims)
	for i := range z.I {
		z.I[i] = bit(math.IsNaN(x.at64(i)))
	}
	return nil
}

func isInf(c *Call) error {
	x, neg, pos := c.In(0), c.Int("detect_negative") != 0, c.Int("detect_positive") != 0
	z := c.Out(0, graph.Bool, x.Dims)
	for i := range z.I {
		v := x.at64(i)
		z.I[i] = bit(pos && math.IsInf(v, 1) || neg && math.IsInf(v, -1))
	}
	return nil
}
