// Package reach bounds values from inside. Ranges bound from outside: no input leaves them. A reach
// holds numbers that some input inside the declared ranges does take. Where it passes a limit the
// overflow is no artefact of a loose bound, and an input that shows it can be written down: every
// element of the inputs at the one or the other end of its range.
package reach

import (
	"math"
)

// Level tells how well a number can be reached. The zero value is not at all.
type Level uint8

// The levels, worst first.
const (
	Unreached Level = iota
	Some            // some input puts some element there
	Uniform         // some input puts all elements there
	Free            // the elements can be put anywhere in the range, each by itself
)

// End is one end of a reach.
type End struct {
	At    float64
	Level Level
}

// Span is a range whose ends, and all numbers between two ends both reached, some input reaches.
type Span struct {
	Lo, Hi End
	// Deps are the inputs it depends on, one bit each. The ends of two values can be reached at once
	// only where they depend on different inputs.
	Deps uint64
}

// Known tells whether anything is reached.
func (r Span) Known() bool { return r.Lo.Level > Unreached || r.Hi.Level > Unreached }

// Level returns what both ends have in common.
func (r Span) Level() Level { return min(r.Lo.Level, r.Hi.Level) }

// within restricts a reach to the finite numbers of a format, so that what follows is judged by
// inputs that are still right.
func (r Span) within(limit float64) Span {
	r.Lo.At, r.Hi.At = math.Max(r.Lo.At, -limit), math.Min(r.Hi.At, limit)
	if r.Lo.At > limit {
		r.Lo = End{}
	}
	if r.Hi.At < -limit {
		r.Hi = End{}
	}
	return r
}

// lower returns the lower of two reached ends, the better reached one where they are equal.
func lower(a, b End) End {
	switch {
	case a.Level == Unreached:
		return b
	case b.Level == Unreached, a.At < b.At, a.At == b.At && a.Level >= b.Level:
		return a
	}
	return b
}

func upper(a, b End) End {
	a.At, b.At = -a.At, -b.At
	c := lower(a, b)
	c.At = -c.At
	return c
}

// add widens the reach by one more number that is reached.
func (r *Span) add(e End) {
	if e.Level == Unreached || math.IsNaN(e.At) {
		return
	}
	r.Lo, r.Hi = lower(r.Lo, e), upper(r.Hi, e)
}

// sure is a number that holds whatever the input.
func sure(x float64) Span { return Span{Lo: End{x, Free}, Hi: End{x, Free}} }

// between is the reach of a constant's elements, or of something else that takes both ends at some
// element in every run.
func between(lo, hi float64) Span {
	if lo == hi {
		return sure(lo)
	}
	return Span{Lo: End{lo, Some}, Hi: End{hi, Some}}
}

// capped lowers both levels to at most l.
func (r Span) capped(l Level) Span {
	r.Lo.Level, r.Hi.Level = min(r.Lo.Level, l), min(r.Hi.Level, l)
	return r
}

// monotone is the reach of f(x) for an f that rises or falls throughout.
func (r Span) monotone(f func(float64) float64) Span {
	out := Span{Deps: r.Deps}
	for _, e := range []End{r.Lo, r.Hi} {
		if e.Level > Unreached {
			out.add(End{f(e.At), e.Level})
		}
	}
	return out
}

// even is the reach of f(x) for an f that falls up to 0 and rises from there.
func (r Span) even(f func(float64) float64) Span {
	out := r.monotone(f)
	if l := r.Level(); l > Unreached && r.Lo.At < 0 && r.Hi.At > 0 {
		out.add(End{f(0), l})
	}
	return out
}

// meet tells how well two numbers are reached at once.
func meet(a, b Level) Level {
	switch {
	case a == Unreached || b == Unreached:
		return Unreached
	case a == Some && b == Some:
		return Unreached // at different elements, perhaps
	}
	return min(a, b)
}

// Pair is the reach of f(x, y) for an f that has its extremes at ends of both.
func Pair(a, b Span, f func(x, y float64) float64) Span {
	if a.Deps&b.Deps != 0 {
		return Span{}
	}
	out := Span{Deps: a.Deps | b.Deps}
	for _, x := range []End{a.Lo, a.Hi} {
		for _, y := range []End{b.Lo, b.Hi} {
			out.add(End{f(x.At, y.At), meet(x.Level, y.Level)})
		}
	}
	return out
}
