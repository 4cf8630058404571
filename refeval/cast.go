package refeval

import (
	"math"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

func cast(c *Call) error { return c.castTo(c.elemAttr("to")) }

func castLike(c *Call) error {
	like := c.In(1)
	return c.castTo(like.Elem)
}

// elemNamed returns the type that opset 1 names, as in "FLOAT16".
func elemNamed(name string) graph.ElemType {
	e, ok := graph.ParseElem(strings.ToLower(name))
	if !ok {
		refuse("unknown element type %q", name)
	}
	return e
}

// castTo sets output 0 to input 0 in another type.
func (c *Call) castTo(e graph.ElemType) error {
	x := c.In(0)
	y := c.Out(0, e, x.Dims)
	if c.x.r.opt.wide(e) && y.F != nil {
		widen(y, x)
		return nil
	}
	saturate, mode := true, "up"
	if c.schema != nil {
		if _, ok := c.schema.Attr("saturate"); ok {
			saturate = c.Int("saturate") != 0
		}
		if _, ok := c.schema.Attr("round_mode"); ok {
			mode = c.Str("round_mode")
		}
	}
	convert(y, x, saturate, mode)
	return nil
}

// widen sets y, whose type is held unrounded, to the elements of x as FP32 holds them.
func widen(y, x *Tensor) {
	wide := *y
	wide.Elem = graph.Float
	toFloats(&wide, x, true, "up")
}

// convert sets y to the elements of x in the type of y. A number is rounded once: from double
// straight to the type, not by way of float.
func convert(y, x *Tensor, saturate bool, mode string) {
	switch storeOf(y.Elem) {
	case storeF:
		toFloats(y, x, saturate, mode)
	case storeD:
		for i := range y.D {
			y.D[i] = x.number(i)
		}
	case storeI:
		toInts(y, x)
	case storeS:
		for i := range y.S {
			y.S[i] = x.text(i)
		}
	default:
		refuse("no cast from %s to %s", x.Elem, y.Elem)
	}
}

func toFloats(y, x *Tensor, saturate bool, mode string) {
	f, ok := y.Elem.Format()
	switch {
	case y.Elem == graph.Float && x.F != nil:
		copy(y.F, x.F)
	case y.Elem == graph.Float && x.I != nil:
		for i, v := range x.I {
			y.F[i] = intToFloat(v, x.Elem)
		}
	case ok && x.F != nil && (f.Bits() == 16 || !saturate):
		f.RoundFloats(y.F, x.F)
	case y.Elem == graph.Float8E8M0:
		for i := range y.F {
			y.F[i] = float32(roundE8M0(x.number(i), mode, saturate))
		}
	default:
		for i := range y.F {
			y.F[i] = float32(roundTo(x.number(i), y.Elem, saturate))
		}
	}
}

func toInts(y, x *Tensor) {
	for i := range y.I {
		switch {
		case x.I != nil:
			y.I[i] = wrap(x.I[i], y.Elem)
		case x.S != nil:
			y.I[i] = parseInt(x.S[i], y.Elem)
		default:
			y.I[i] = floatToInt(x.at64(i), y.Elem)
		}
	}
}

// number returns element i as a real number, also of a string that spells one.
func (t *Tensor) number(i int) float64 {
	if t.S == nil {
		return t.at64(i)
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(t.S[i]), 64)
	if err != nil && !math.IsInf(v, 0) {
		refuse("the string %q is no number", t.S[i])
	}
	return v
}

func parseInt(s string, e graph.ElemType) int64 {
	s = strings.TrimSpace(s)
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return wrap(v, e)
	}
	if v, err := strconv.ParseUint(s, 10, 64); err == nil {
		return wrap(int64(v), e)
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		refuse("the string %q is no number", s)
	}
	return floatToInt(v, e)
}

// text spells element i as numpy does: the shortest digits that give the number back.
func (t *Tensor) text(i int) string {
	switch {
	case t.S != nil:
		return t.S[i]
	case t.D != nil:
		return spell(t.D[i], 64)
	case t.F != nil:
		return spell(float64(t.F[i]), 32)
	case t.Elem == graph.Bool:
		return pick(t.I[i] != 0, "True", "False")
	case t.Elem == graph.Uint64:
		return strconv.FormatUint(uint64(t.I[i]), 10)
	}
	return strconv.FormatInt(t.I[i], 10)
}

// spell writes a number with a point or an exponent, so that it reads as no integer.
func spell(x float64, bits int) string {
	a := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 0):
		return pick(x > 0, "INF", "-INF")
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.FormatFloat(x, 'e', -1, bits)
	}
	s := strconv.FormatFloat(x, 'f', -1, bits)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// bitCast reads the same bits as another type of the same width.
func bitCast(c *Call) error {
	x, to := c.In(0), c.elemAttr("to")
	if to.Bits() != x.Elem.Bits() {
		refuse("%s and %s differ in width", x.Elem, to)
	}
	y := c.Out(0, to, x.Dims)
	return y.setRaw(x.raw())
}
