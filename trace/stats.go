package trace

import (
	"math"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
)

// Stats are what is counted of the elements of a value.
type Stats struct {
	Elements int64
	Min, Max float64 // of the finite elements; NaN where there are none
	Tiny     float64 // the least magnitude that is not zero, 0 where there is none
	Inf, NaN int64
	Zero     int64
	// Subnormal counts what lies below the normal numbers of the format the value is held in.
	Subnormal int64
}

// noStats is what nothing was counted of.
func noStats() Stats { return Stats{Min: math.NaN(), Max: math.NaN()} }

// add counts the elements of a tensor of real numbers that is held in a format.
func (s *Stats) add(t *refeval.Tensor, f numfmt.Format) {
	normal := f.MinNormal()
	s.Elements += int64(t.Len())
	for _, x := range t.F {
		s.count(float64(x), normal)
	}
	for _, x := range t.D {
		s.count(x, normal)
	}
}

func (s *Stats) count(x, normal float64) {
	a := math.Abs(x)
	switch {
	case x != x:
		s.NaN++
		return
	case a > math.MaxFloat64:
		s.Inf++
		return
	case a == 0:
		s.Zero++
	default:
		if a < normal {
			s.Subnormal++
		}
		if s.Tiny == 0 || a < s.Tiny {
			s.Tiny = a
		}
	}
	if !(x >= s.Min) { // also while Min is NaN
		s.Min = x
	}
	if !(x <= s.Max) {
		s.Max = x
	}
}

// Bad tells whether an element is no finite number.
func (s Stats) Bad() bool { return s.Inf+s.NaN > 0 }
