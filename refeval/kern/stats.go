package kern

import (
	"math"

	"github.com/amplint/amplint/numfmt"
)

// Stats describes the numbers of a tensor.
type Stats struct {
	Min, Max  float32 // of those that are finite; +Inf and -Inf if none is
	Least     float32 // least magnitude that is finite and not 0, +Inf if there is none
	Inf, NaN  int
	Zero      int
	Subnormal int // numbers other than 0 below the least normal of the format
}

// Stats counts x; f says what is subnormal, Invalid that nothing is.
func (e *Engine) Stats(f numfmt.Format, x []float32) Stats {
	c := newCounts(f)
	done := e.level.stats(&c, x)
	for _, v := range x[done:] {
		c.add(v)
	}
	return c.stats(len(x))
}

// counts is what the kernels keep, as numbers they can compare: magnitudes by their bits.
type counts struct {
	min, max  float32
	least     uint32 // bits of the least magnitude, less one, so that 0 is the greatest
	normal    uint32 // bits of the least normal number
	finite    int
	inf       int
	zero, low int // low counts zeros too
}

func newCounts(f numfmt.Format) counts {
	inf := float32(math.Inf(1))
	c := counts{min: inf, max: -inf, least: math.MaxUint32}
	if f != numfmt.Invalid {
		c.normal = math.Float32bits(float32(f.MinNormal()))
	}
	return c
}

const infBits = 0x7f800000

func (c *counts) add(x float32) {
	a := math.Float32bits(x) &^ 0x80000000
	switch {
	case a > infBits:
		return
	case a == infBits:
		c.inf++
		return
	case a == 0:
		c.zero++
	}
	c.finite++
	if a < c.normal {
		c.low++
	}
	c.least = min(c.least, a-1)
	if x < c.min {
		c.min = x
	}
	if x > c.max {
		c.max = x
	}
}

// stats draws the numbers together.
func (c *counts) stats(n int) Stats {
	s := Stats{Min: c.min + 0, Max: c.max + 0, Inf: c.inf, NaN: n - c.finite - c.inf, Zero: c.zero}
	s.Least = float32(math.Inf(1))
	if c.least < infBits-1 {
		s.Least = math.Float32frombits(c.least + 1)
	}
	if c.normal > 0 {
		s.Subnormal = c.low - c.zero
	}
	return s
}
