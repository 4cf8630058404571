package rangeprop

import (
	"fmt"
	"math"
)

// Basis tells what a bound rests on. A computed bound rests on the weakest of what it was computed
// from.
type Basis uint8

// The bases, weakest first.
const (
	Unknown  Basis = iota // nothing: the value was taken as any finite number
	Default               // a guess by the way the input is used
	Observed              // the user's samples
	Declared              // what the user says
	Constant              // the model alone: constants, and operators bounded by themselves
)

// String returns the basis as reports write it.
func (b Basis) String() string {
	switch b {
	case Default:
		return "default"
	case Observed:
		return "observed"
	case Declared:
		return "declared"
	case Constant:
		return "constant"
	}
	return "unknown"
}

// Range is an interval, both ends included; its ends may be infinite.
type Range struct{ Lo, Hi float64 }

// all is the range of a value of which nothing is known.
var all = Range{math.Inf(-1), math.Inf(1)}

// String returns the range as in "[-2.64, 2.64]".
func (r Range) String() string { return fmt.Sprintf("[%.5g, %.5g]", r.Lo, r.Hi) }

// Contains tells whether every number of q lies in r.
func (r Range) Contains(q Range) bool { return r.Lo <= q.Lo && q.Hi <= r.Hi }

// MaxAbs returns the largest magnitude in the range.
func (r Range) MaxAbs() float64 { return math.Max(math.Abs(r.Lo), math.Abs(r.Hi)) }

// Bounded tells whether both ends are finite.
func (r Range) Bounded() bool { return !math.IsInf(r.Lo, 0) && !math.IsInf(r.Hi, 0) }

func (r Range) join(q Range) Range { return Range{math.Min(r.Lo, q.Lo), math.Max(r.Hi, q.Hi)} }

// meet intersects. Two bounds that are both sound can only miss each other by rounding; then r stays.
func (r Range) meet(q Range) Range {
	m := Range{math.Max(r.Lo, q.Lo), math.Min(r.Hi, q.Hi)}
	if m.Lo > m.Hi {
		return r
	}
	return m
}

// Given is the range given for an input, or for an initializer that may still move.
type Given struct {
	Range Range
	Basis Basis
	NaN   bool // an element may be NaN
	Inf   bool // an infinite end of the range is an element, not a bound that does not exist
	Note  string
	// Derived tells that the range follows from the rest of the model.
	Derived bool
}
