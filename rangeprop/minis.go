package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// The floating-point types that numfmt does not know: those of 4 and 6 bits, which have neither
// infinities nor NaN, and the powers of two that scale blocks.

// mini is a format by its mantissa bits, its least exponent and its greatest number.
type mini struct {
	mantissa, least int
	max             float64
}

func miniOf(e graph.ElemType) (m mini, ok bool) {
	switch e {
	case graph.Float4E2M1:
		return mini{1, 0, 6}, true
	case graph.Float6E2M3:
		return mini{3, 0, 7.5}, true
	case graph.Float6E3M2:
		return mini{2, -2, 28}, true
	}
	return mini{}, false
}

// round rounds to nearest, ties to even, and saturates.
func (m mini) round(x float64) float64 {
	if math.IsInf(x, 0) || math.Abs(x) >= m.max {
		return math.Copysign(m.max, x)
	}
	_, e := math.Frexp(x)
	step := math.Ldexp(1, max(e-1, m.least)-m.mantissa)
	return math.RoundToEven(x/step) * step
}

// saturated rounds and clamps to what a type without infinities holds; ok is false for other types.
func saturated(e graph.ElemType, x Range) (r Range, ok bool) {
	if m, ok := miniOf(e); ok {
		return Range{m.round(x.Lo), m.round(x.Hi)}, true
	}
	if f, ok := held(e); ok && f.Bits() == 8 {
		return Range{f.RoundSat(x.Lo), f.RoundSat(x.Hi)}, true
	}
	return x, false
}

// powerOfTwo bounds a magnitude that is rounded to a power of two, up or down.
func powerOfTwo(x Range) Range {
	const least, most = -127, 127
	floor := func(a float64) int {
		if a == 0 || math.IsInf(a, 0) {
			return map[bool]int{true: least, false: most}[a == 0]
		}
		_, e := math.Frexp(a)
		return e - 1
	}
	a := absolute(x)
	return Range{math.Ldexp(1, min(max(floor(a.Lo), least), most)), math.Ldexp(1, min(max(floor(a.Hi)+1, least), most))}
}
