package rangeprop

import "math"

func quantizeOps() map[string]op {
	return map[string]op{
		"QuantizeLinear": exact(quantizeOp), "DequantizeLinear": rounded(dequantizeOp), "DynamicQuantizeLinear": {f: dynamicQuantizeOp},
		"com.microsoft.QuantizeLinear": exact(quantizeOp), "com.microsoft.DequantizeLinear": rounded(dequantizeOp),
		"com.microsoft.QLinearAdd": rounded(typeRange), "com.microsoft.QLinearMul": rounded(typeRange), "com.microsoft.QLinearConcat": rounded(typeRange),
		"com.microsoft.QLinearSigmoid": rounded(typeRange), "com.microsoft.QLinearLeakyRelu": rounded(typeRange), "com.microsoft.QLinearSoftmax": rounded(typeRange),
		"com.microsoft.QLinearConv": rounded(typeRange), "com.microsoft.QLinearReduceMean": rounded(typeRange), "com.microsoft.QLinearWhere": rounded(typeRange),
		"com.microsoft.GatherBlockQuantized": rounded(anyOf),
	}
}

// along lays a vector of scales along the axis it quantises; one of blocks becomes one bound.
func (c *call) along(i int) *Val {
	v := c.x(i)
	rank := c.rank(0)
	axis, ok := c.axis("axis", 1, rank)
	s := c.shape(i)
	if len(s) == 0 && s != nil || len(v.lo) == 1 {
		return v.flat()
	}
	if !ok || len(v.dims) != 1 || len(s) != 1 || s[0] != c.shape(0)[axis] {
		return v.flat()
	}
	dims := pad(nil, rank)
	dims[axis] = v.dims[0]
	return v.with(dims, v.lo, v.hi)
}

// quantizeOp divides by the scale, rounds, adds the zero point and saturates. The quotient is itself
// rounded before, to the type of the input at worst: next to a tie that decides.
func quantizeOp(c *call) *Val {
	x := c.x(0)
	v := over(x, c.along(1))
	zero := scalar(Range{})
	if c.has(2) {
		zero = c.along(2)
	}
	unit := accumUnit
	for i := range 2 {
		if n := c.n.In(i); n != nil {
			if f, ok := held(n.Type.Elem); ok {
				unit = math.Max(unit, f.Unit())
			}
		}
	}
	limit, whole := integers(c.elem(0))
	w := zip(v, zero, func(q, z Range) Range {
		q = Range{q.Lo - 2*unit*math.Abs(q.Lo), q.Hi + 2*unit*math.Abs(q.Hi)}
		if whole {
			r := add(Range{math.RoundToEven(q.Lo), math.RoundToEven(q.Hi)}, z)
			return Range{math.Min(math.Max(r.Lo, limit.Lo), limit.Hi), math.Min(math.Max(r.Hi, limit.Lo), limit.Hi)}
		}
		if r, ok := saturated(c.elem(0), add(q, z)); ok && c.n.Int("saturate", 1) != 0 {
			return r
		}
		return all
	})
	w.integer, w.nan = whole, v.nan
	if _, small := miniOf(c.elem(0)); !whole && !small && c.n.Int("saturate", 1) == 0 {
		w.nan, w.posInf, w.negInf = true, true, true
	}
	return w
}

// dequantizeOp subtracts the zero point and multiplies by the scale.
func dequantizeOp(c *call) *Val {
	x := c.x(0)
	if c.has(2) {
		x = plus(x, negative(c.along(2)))
	}
	v := times(x, c.along(1))
	v.integer = false
	return v
}

// dynamicQuantizeOp takes scale and zero point from the range of its input joined with 0.
func dynamicQuantizeOp(c *call) []*Val {
	x := c.x(0).Hull()
	h := x.join(Range{})
	top := (h.Hi - h.Lo) / 255
	if x.hasZero() { // zeros alone have a range of none: kernels take another scale
		top = math.Max(top, 1)
	}
	if h.Hi-h.Lo > c.accumLimit() || h.Hi-h.Lo > math.MaxFloat32 {
		top = math.Inf(1)
	}
	scale := c.within(Range{0, top})
	return []*Val{c.within(Range{0, 255}), scale, c.within(Range{0, 255})}
}
