package refeval

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval/kern"
)

// elementwiseOps are the operators that work element by element.
func elementwiseOps() []entry {
	list := append(arithmeticOps(), compareOps()...)
	list = append(list, activationOps()...)
	return append(list,
		op("Abs", absolute),
		op("Acos", unary(math.Acos)),
		op("Acosh", unary(math.Acosh)),
		op("Asin", unary(math.Asin)),
		op("Asinh", unary(math.Asinh)),
		op("Atan", unary(math.Atan)),
		op("Atanh", unary(math.Atanh)),
		op("BitCast", bitCast),
		op("Cast", cast),
		op("CastLike", castLike),
		op("Ceil", unary(math.Ceil)),
		op("Clip", clip),
		op("Cos", unary(math.Cos)),
		op("Cosh", unary(math.Cosh)),
		op("Erf", vector((*kern.Engine).Erf, math.Erf)),
		op("Exp", vector((*kern.Engine).Exp, math.Exp)),
		op("Floor", unary(math.Floor)),
		op("Log", unary(math.Log)),
		op("Neg", negate),
		op("Reciprocal", unary(func(x float64) float64 { return 1 / x })),
		op("Round", unary(math.RoundToEven)),
		op("Sign", sign),
		op("Sin", unary(math.Sin)),
		op("Sinh", unary(math.Sinh)),
		op("Sqrt", unary(math.Sqrt)),
		op("Tan", unary(math.Tan)),
		op("Tanh", vector((*kern.Engine).Tanh, math.Tanh)),
		mover("Where", where),
	)
}

// eachInt sets output 0 to a function of each integer of input 0, and tells whether that is one
// of integers at all.
func (c *Call) eachInt(f func(x int64) int64) bool {
	x := c.In(0)
	if x.I == nil {
		return false
	}
	y := c.Out(0, x.Elem, x.Dims)
	for i, v := range x.I {
		y.I[i] = wrap(f(v), x.Elem)
	}
	return true
}

func absolute(c *Call) error {
	signed := c.In(0).Elem != graph.Uint64
	if c.eachInt(func(x int64) int64 { return pick(signed && x < 0, -x, x) }) {
		return nil
	}
	return unary(math.Abs)(c)
}

func negate(c *Call) error {
	if c.eachInt(func(x int64) int64 { return -x }) {
		return nil
	}
	return unary(func(x float64) float64 { return -x })(c)
}

func sign(c *Call) error {
	signed := c.In(0).Elem != graph.Uint64
	if c.eachInt(func(x int64) int64 { return bit(x > 0 || !signed && x != 0) - bit(signed && x < 0) }) {
		return nil
	}
	return unary(func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x // zero and NaN
	})(c)
}

func pick[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}

// bounds returns the two limits of Clip, nil where one is open: inputs, before opset 11 attributes.
func bounds(c *Call) (lo, hi *Tensor) {
	x := c.In(0)
	limit := func(i int, name string) *Tensor {
		if c.Version >= 11 {
			return c.In(i)
		}
		if _, ok := c.schema.Attr(name); !ok || c.Version < 6 && !c.hasAttr(name) {
			return nil
		}
		t := c.Temp(x.Elem, []int{})
		t.put64(0, c.Float(name))
		return t
	}
	return limit(1, "min"), limit(2, "max")
}

// clip keeps NaN, and prefers the upper limit where the two cross.
func clip(c *Call) error {
	x := c.In(0)
	lo, hi := bounds(c)
	if c.clipped(x, lo, hi) {
		return nil
	}
	y := c.Out(0, x.Elem, x.Dims)
	copyRun(y, 0, x, 0, x.Len())
	if lo != nil {
		lo.scalar()
		maximum().into(c, y, y, lo)
	}
	if hi != nil {
		hi.scalar()
		minimum().into(c, y, y, hi)
	}
	return nil
}

// clipped is clip for float32, and tells whether it did it. Limits that are NaN make all so.
func (c *Call) clipped(x, lo, hi *Tensor) bool {
	if x.F == nil {
		return false
	}
	limits := [2]float32{float32(math.Inf(-1)), float32(math.Inf(1))}
	for i, t := range []*Tensor{lo, hi} {
		if t == nil {
			continue
		}
		if limits[i] = float32(t.scalar()); limits[i] != limits[i] {
			return false
		}
	}
	c.engine().Clip(c.over(x.Elem, x.Dims, 0).F, x.F, limits[0], limits[1])
	return true
}

// where chooses between two tensors of any type.
func where(c *Call) error {
	cond, x, y := c.In(0), c.In(1), c.In(2)
	if x.Elem != y.Elem {
		refuse("inputs of types %s and %s", x.Elem, y.Elem)
	}
	z := c.Out(0, x.Elem, broadcast(cond.Dims, x.Dims, y.Dims))
	switch storeOf(z.Elem) {
	case storeF:
		choose(z.F, z.Dims, cond, x.F, x.Dims, y.F, y.Dims)
	case storeD:
		choose(z.D, z.Dims, cond, x.D, x.Dims, y.D, y.Dims)
	case storeI:
		choose(z.I, z.Dims, cond, x.I, x.Dims, y.I, y.Dims)
	case storeS:
		choose(z.S, z.Dims, cond, x.S, x.Dims, y.S, y.Dims)
	case storeC:
		choose(z.C, z.Dims, cond, x.C, x.Dims, y.C, y.Dims)
	}
	return nil
}

func choose[T any](z []T, dims []int, cond *Tensor, x []T, xd []int, y []T, yd []int) {
	if len(z) == 0 {
		return
	}
	md, ml := merge(dims, strides(dims), spread(cond.Dims, dims), spread(xd, dims), spread(yd, dims))
	last := len(md) - 1
	sc, sx, sy := ml[1][last], ml[2][last], ml[3][last]
	walk(md, func(off []int, n int) {
		k, i, j := off[1], off[2], off[3]
		for o := off[0]; o < off[0]+n; o++ {
			if cond.I[k] != 0 {
				z[o] = x[i]
			} else {
				z[o] = y[j]
			}
			k, i, j = k+sc, i+sx, j+sy
		}
	}, ml...)
}
