package infer

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// folders returns the operators that this package folds itself, with symbolic elements.
func folders() map[string]folder {
	return map[string]folder{
		"Add": pairwise(addition), "Sub": pairwise(subtraction), "Mul": pairwise(multiplication), "Div": pairwise(division),
		"Mod": pairwise(modulo), "Max": variadic(maximum), "Min": variadic(minimum), "Sum": variadic(addition),
		"Pow": pairwise(power), "And": pairwise(both), "Or": pairwise(either), "Xor": pairwise(unequal),
		"Equal": pairwise(equality), "Less": pairwise(compare(-1, false)), "Greater": pairwise(compare(1, false)),
		"LessOrEqual": pairwise(compare(1, true)), "GreaterOrEqual": pairwise(compare(-1, true)),
		"Neg": unary(negate), "Abs": unary(absolute), "Not": unary(not), "Ceil": unary(rounded(math.Ceil)),
		"Floor": unary(rounded(math.Floor)), "Round": unary(rounded(math.RoundToEven)), "Sqrt": unary(root),
		"Sign": unary(signum), "Cast": unary(cast), "CastLike": unary(cast), "Identity": unary(same),
		"Where": foldWhere, "Range": foldRange, "ConstantOfShape": foldFill,
		"Reshape": reshaped, "Squeeze": reshaped, "Unsqueeze": reshaped, "Flatten": reshaped,
		"Transpose": foldTranspose, "Expand": foldExpand, "Tile": foldTile, "Gather": foldGather,
		"Slice": foldSlice, "Concat": foldConcat, "Split": foldSplit, "ScatterElements": foldScatter,
		"Scatter": foldScatter, "ScatterND": foldScatterND, "GatherElements": foldGatherElements,
		"ReduceProd": reduction(multiplication), "ReduceSum": reduction(addition), "ReduceMin": reduction(minimum),
		"ReduceMax": reduction(maximum), "CumSum": foldCumSum,
	}
}

type unaryFunc func(c *ctx, x num) num

type binaryFunc func(c *ctx, x, y num) num

// exact tells whether results of the type can be computed here: half precision is left to the evaluator.
func exact(e graph.ElemType) bool {
	return !e.IsFloat() || e == graph.Float || e == graph.Double
}

func unary(f unaryFunc) folder {
	return func(c *ctx, in []*data) []*data {
		if !exact(c.out[0].Elem) {
			return nil
		}
		out := &data{dims: in[0].dims, at: make([]num, len(in[0].at))}
		for i, x := range in[0].at {
			out.at[i] = f(c, x)
		}
		return []*data{out}
	}
}

// pairwise folds two inputs that broadcast. Operators that broadcast along an attribute's axis, before opset 7, are
// left alone.
func pairwise(f binaryFunc) folder { return variadic(f) }

func variadic(f binaryFunc) folder {
	return func(c *ctx, in []*data) []*data {
		dims, ok := c.out[0].Shape.Ints()
		if !ok || c.n.Attr("axis") != nil || !exact(in[0].elem) || !exact(c.out[0].Elem) {
			return nil
		}
		out := &data{dims: dims}
		for i, d := range in {
			var at []num
			if d != nil {
				at = d.spread(dims)
			}
			if at == nil {
				return nil
			}
			if i == 0 {
				out.at = at
				continue
			}
			for j := range at {
				out.at[j] = f(c, out.at[j], at[j])
			}
		}
		return []*data{out}
	}
}

func same(_ *ctx, x num) num { return x }

func addition(_ *ctx, x, y num) num       { return addNum(x, y) }
func subtraction(_ *ctx, x, y num) num    { return subNum(x, y) }
func multiplication(_ *ctx, x, y num) num { return mulNum(x, y) }
func minimum(c *ctx, x, y num) num        { return c.minNum(x, y) }
func maximum(c *ctx, x, y num) num        { return c.maxNum(x, y) }
func negate(_ *ctx, x num) num            { return mulNum(x, intOrFloat(x, -1)) }

func division(c *ctx, x, y num) num {
	if !c.out[0].Elem.IsFloat() || x.k != numPoly && y.k != numPoly {
		return c.div(x, y)
	}
	a, ok := x.integral().poly()
	b, known := y.integral().poly()
	if n, zero := b.constant(); !ok || !known || zero && n == 0 {
		return num{}
	}
	if q, ok := a.over(b); ok {
		return polyNum(q)
	}
	return polyNum(c.part("ratio", a, b))
}

func intOrFloat(x num, i int64) num {
	if x.k == numFloat {
		return floatNum(float64(i))
	}
	return intNum(i)
}

// modulo is x - y·⌊x/y⌋ for integers, whose sign follows the divisor.
func modulo(c *ctx, x, y num) num {
	if c.n.Int("fmod", 0) != 0 || x.k == numFloat {
		a, ok := x.float()
		b, both := y.float()
		if !ok || !both || x.k == numInt && b == 0 {
			return num{}
		}
		if x.k == numInt {
			return intNum(int64(math.Mod(a, b)))
		}
		return floatNum(math.Mod(a, b))
	}
	if y.k != numInt || y.i == 0 {
		return num{}
	}
	if x.k == numInt {
		_, r := floorDivMod(x.i, y.i)
		return intNum(r)
	}
	return subNum(x, mulNum(y, c.floorDivNum(x, y.i)))
}

func power(_ *ctx, x, y num) num {
	if x.k == numFloat {
		if e, ok := y.float(); ok && (e == 2 || e == 1) { // others are not rounded alike everywhere
			return floatNum(math.Pow(x.f, e))
		}
		return num{}
	}
	if y.k != numInt || y.i < 0 || y.i > 62 {
		return num{}
	}
	p := intNum(1)
	for range y.i {
		p = mulNum(p, x)
	}
	return p
}

func absolute(c *ctx, x num) num {
	if x.k == numFloat {
		return floatNum(math.Abs(x.f))
	}
	return c.maxNum(x, mulNum(x, intNum(-1)))
}

func rounded(f func(float64) float64) unaryFunc {
	return func(c *ctx, x num) num {
		if x.k == numFloat {
			return floatNum(f(x.f))
		}
		return c.whole(x, f(0.5) == 0, f(0.5) == f(-0.5))
	}
}

// whole rounds a symbolic number: whole ones stay, quotients are rounded down or up.
func (s *symbols) whole(x num, down, nearest bool) num {
	if x.k != numPoly || !s.fraction(x.p) {
		return x
	}
	name, _ := x.p.atom()
	r := s.parts[name]
	n, ok := r.b.constant()
	switch {
	case !ok || n <= 0 || nearest:
		return num{}
	case down:
		return s.floorDivNum(polyNum(r.a), n)
	}
	return s.ceilDivNum(polyNum(r.a), n)
}

// fraction tells whether an expression contains a quotient that need not be whole.
func (s *symbols) fraction(p poly) bool {
	for _, t := range p {
		for _, a := range t.atoms {
			if s.parts[a].op == "ratio" {
				return true
			}
		}
	}
	return false
}

func root(_ *ctx, x num) num {
	if f, ok := x.float(); ok {
		return floatNum(math.Sqrt(f))
	}
	return num{}
}

func signum(c *ctx, x num) num {
	if s, ok := c.sign(x, intOrFloat(x, 0)); ok {
		return intOrFloat(x, int64(s))
	}
	return num{}
}

func both(_ *ctx, x, y num) num {
	if x.is(0) || y.is(0) {
		return intNum(0)
	}
	if x.k == numInt && y.k == numInt {
		return intNum(1)
	}
	return num{}
}

func either(_ *ctx, x, y num) num {
	if x.k == numInt && x.i != 0 || y.k == numInt && y.i != 0 {
		return intNum(1)
	}
	if x.is(0) && y.is(0) {
		return intNum(0)
	}
	return num{}
}

func unequal(_ *ctx, x, y num) num {
	if x.k != numInt || y.k != numInt {
		return num{}
	}
	return boolNum((x.i != 0) != (y.i != 0))
}

func not(_ *ctx, x num) num {
	if x.k != numInt {
		return num{}
	}
	return boolNum(x.i == 0)
}

func equality(c *ctx, x, y num) num {
	if sign, ok := c.sign(x, y); ok {
		return boolNum(sign == 0)
	}
	return num{}
}

// compare tells whether the sign of x - y is want, or with invert whether it is not.
func compare(want int, invert bool) binaryFunc {
	return func(c *ctx, x, y num) num {
		if sign, ok := c.sign(x, y); ok {
			return boolNum((sign == want) != invert)
		}
		if x.k == numFloat || y.k == numFloat {
			return num{}
		}
		lo, hi := c.difference(x, y)
		if want > 0 && hi <= 0 || want < 0 && lo >= 0 {
			return boolNum(invert)
		}
		return num{}
	}
}

// cast keeps symbolic integers under every numeric type: a size is exact in all of them.
func cast(c *ctx, x num) num {
	to := c.out[0].Elem
	switch {
	case to == graph.Bool:
		f, ok := x.float()
		if ok {
			return boolNum(f != 0)
		}
		if sign, ok := c.sign(x, intNum(0)); ok {
			return boolNum(sign != 0)
		}
		return num{}
	case to.IsInt() && x.k == numFloat:
		if math.IsNaN(x.f) || math.Abs(x.f) >= 1<<31 {
			return num{}
		}
		return intNum(int64(x.f))
	case to.IsInt():
		return c.whole(x, true, false)
	}
	return x
}

func foldWhere(c *ctx, in []*data) []*data {
	dims, ok := c.out[0].Shape.Ints()
	if !ok || len(in) < 3 || in[1] == nil || in[2] == nil {
		return nil
	}
	cond, x, y := in[0].spread(dims), in[1].spread(dims), in[2].spread(dims)
	if cond == nil || x == nil || y == nil {
		return nil
	}
	for i := range cond {
		switch {
		case x[i].equal(y[i]), cond[i].k == numInt && cond[i].i != 0:
		case cond[i].k == numInt:
			x[i] = y[i]
		default:
			x[i] = num{}
		}
	}
	return []*data{{dims: dims, at: x}}
}

// foldRange folds ranges of integers, and of floats as the standard computes them: start + i·delta.
func foldRange(c *ctx, in []*data) []*data {
	dims, ok := c.out[0].Shape.Ints()
	if !ok || len(in) < 3 || in[1] == nil || in[2] == nil || len(in[2].at) != 1 || len(in[0].at) != 1 || !exact(c.out[0].Elem) {
		return nil
	}
	start, delta := in[0].at[0], in[2].at[0]
	out := make([]num, dims[0])
	for i := range out {
		out[i] = addNum(start, fit(c.out[0].Elem, mulNum(delta, intNum(int64(i)))))
	}
	return []*data{{dims: dims, at: out}}
}

func foldFill(c *ctx, _ []*data) []*data {
	dims, ok := c.out[0].Shape.Ints()
	if !ok {
		return nil
	}
	value := floatNum(0)
	if a := c.n.Attr("value"); a != nil && a.Tensor != nil {
		d := &data{}
		if a.Tensor.Len() == 1 {
			d = c.read(c.n.Key(), a.Tensor)
		}
		if d == nil || len(d.at) != 1 {
			return nil
		}
		value = d.at[0]
	}
	n, _ := elements(c.out[0].Shape)
	out := make([]num, n)
	for i := range out {
		out[i] = value
	}
	return []*data{{dims: dims, at: out}}
}
