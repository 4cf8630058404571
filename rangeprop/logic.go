package rangeprop

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func logicOps() map[string]op {
	ops := map[string]op{
		"Equal": choice(equalOp), "Greater": choice(compare(greater)), "Less": choice(compare(less)),
		"GreaterOrEqual": choice(compare(atLeast)), "LessOrEqual": choice(compare(atMost)),
		"Not": choice(notOp), "And": choice(compare(and)), "Or": choice(compare(or)), "Xor": choice(compare(xor)),
		"IsNaN": choice(isNaNOp), "IsInf": choice(isInfOp),
	}
	return ops
}

// The three truths a condition may have.
var (
	never  = Range{0, 0}
	always = Range{1, 1}
	maybe  = Range{0, 1}
)

// compare bounds a condition. A NaN makes every comparison false, so one that may meet it is open.
func compare(f func(x, y Range) Range) func(c *call) *Val {
	return func(c *call) *Val {
		a, b := c.x(0), c.x(1)
		v := zip(a, b, f)
		if v.nan {
			v = v.like(nil)
			v.lo[0], v.hi[0] = 0, 1
		}
		v.nan, v.integer = false, true
		return v
	}
}

// equalOp: a value equals itself unless it is NaN, which is how frameworks ask for NaN.
func equalOp(c *call) *Val {
	v := compare(equalTo)(c)
	if a := c.n.In(0); a != nil && a == c.n.In(1) && !c.x(0).nan {
		return map1flags(v, func(Range) Range { return always })
	}
	for i := range 2 {
		if at := c.distinct(i, 1-i); at > 0 {
			v.shares = simplex{axis: at, most: true}
		}
	}
	return v
}

// distinct returns the axis, counted from the end, along which constant i counts from one number to the next
// and input j has one element: at most one of them can be equal.
func (c *call) distinct(i, j int) int {
	k, x := c.n.In(i), c.n.In(j)
	if k == nil || x == nil || k.Const == nil || k.Const.Len() > maxDistinct || k.Const.Elem == graph.String || x.Type.Shape == nil {
		return 0
	}
	at := 0
	for a, n := range k.Const.Dims {
		if n != 1 && at != 0 {
			return 0
		}
		if n != 1 {
			at = len(k.Const.Dims) - a
		}
	}
	list, err := k.Const.Float64s()
	if err != nil || at == 0 || at <= len(x.Type.Shape) && x.Type.Shape[len(x.Type.Shape)-at] != (graph.Dim{N: 1}) {
		return 0
	}
	slices.Sort(list)
	if len(slices.Compact(list)) != int(k.Const.Len()) {
		return 0
	}
	return at
}

// maxDistinct is the number of elements up to which a constant is asked whether they differ.
const maxDistinct = 1 << 16

func less(x, y Range) Range {
	switch {
	case x.Hi < y.Lo:
		return always
	case x.Lo >= y.Hi:
		return never
	}
	return maybe
}

func greater(x, y Range) Range { return less(y, x) }
func atLeast(x, y Range) Range { return not(less(x, y)) }
func atMost(x, y Range) Range  { return not(less(y, x)) }

func equalTo(x, y Range) Range {
	switch {
	case x.Lo == x.Hi && x == y:
		return always
	case x.Hi < y.Lo || y.Hi < x.Lo:
		return never
	}
	return maybe
}

func not(x Range) Range    { return Range{1 - x.Hi, 1 - x.Lo} }
func and(x, y Range) Range { return minimum(x, y) }
func or(x, y Range) Range  { return maximum(x, y) }

func xor(x, y Range) Range {
	if x.Lo == x.Hi && y.Lo == y.Hi {
		if x.Lo != y.Lo {
			return always
		}
		return never
	}
	return maybe
}

func notOp(c *call) *Val {
	v := map1(c.x(0), not)
	v.nan, v.integer = false, true
	return v
}

// test is a condition on special values: never true where none is possible.
func test(a *Val, possible bool) *Val {
	v := a.like(nil)
	v.nan, v.integer = false, true
	if possible {
		v.hi[0] = 1
	}
	return v
}

func isNaNOp(c *call) *Val { return test(c.x(0), c.x(0).nan) }

func isInfOp(c *call) *Val {
	a := c.x(0)
	pos, neg := c.n.Int("detect_positive", 1) != 0, c.n.Int("detect_negative", 1) != 0
	return test(a, a.posInf && pos || a.negInf && neg)
}
