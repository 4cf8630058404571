package walk

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// Clip returns the bounds of a Clip; ok is false where they are not constant.
func Clip(n *graph.Node) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if a := n.Attr("min"); a != nil {
		lo = float64(a.F)
	}
	if a := n.Attr("max"); a != nil {
		hi = float64(a.F)
	}
	for i, bound := range []*float64{&lo, &hi} {
		v := n.In(i + 1)
		if v == nil {
			continue
		}
		x, known := Scalar(v)
		if !known && !Infinite(v) {
			return 0, 0, false
		}
		if known {
			*bound = x
		}
	}
	return lo, hi, true
}

// Infinite tells whether a value is the constant that leaves a bound open.
func Infinite(v *graph.Value) bool {
	t := Constant(v)
	s, ok := Stats{}, false
	if t != nil {
		s, ok = StatsOf(t)
	}
	return ok && s.Infs() > 0
}

// Dim returns the length of a value along an axis, 0 where it is not known.
func Dim(v *graph.Value, axis int64) int64 {
	if v == nil {
		return 0
	}
	s := v.Type.Shape
	if axis < 0 {
		axis += int64(len(s))
	}
	if axis < 0 || axis >= int64(len(s)) || !s[axis].Known() {
		return 0
	}
	return s[axis].N
}

// ReducedCount returns how many elements a reduction joins at least: dimensions that are not known
// count as 1.
func ReducedCount(n *graph.Node) float64 {
	v := n.In(0)
	if v == nil {
		return 1
	}
	count := 1.0
	for _, axis := range axes(n, len(v.Type.Shape)) {
		count *= float64(max(Dim(v, axis), 1))
	}
	return count
}

// axes returns the axes of a reduction, which are an attribute or an input; without either all.
func axes(n *graph.Node, rank int) []int64 {
	axes := n.Ints("axes")
	if v := n.In(1); v != nil && axes == nil {
		t := Constant(v)
		if t == nil {
			return nil // unknown: as if one element each
		}
		axes, _ = t.Int64s()
	}
	if len(axes) > 0 || n.Int("noop_with_empty_axes", 0) != 0 {
		return axes
	}
	for i := range rank {
		axes = append(axes, int64(i))
	}
	return axes
}

// Moved follows a value back through operators that only move elements.
func Moved(v *graph.Value) *graph.Value {
	for {
		n := Maker(v)
		if n == nil || !Moves(n.Op) || n.Domain != "" || Is(n, "Concat") || n.In(0) == nil {
			return v
		}
		v = Plain(n.In(0))
	}
}
