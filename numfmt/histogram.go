package numfmt

import (
	"math"
	"slices"
)

// Histogram counts values by magnitude, finely enough to tell exactly how many of them
// overflow, vanish or become subnormal in each of the formats. The zero value is empty.
// It takes about 2 KB, however many values it counts.
type Histogram struct {
	zones     [zoneCount]int64
	exponents [256]int64 // by exponent + 127; the first holds all below 2^-126
	nans      int64
	neg, pos  float64 // greatest finite magnitude of either sign, 0 if none
	least     float64 // least non-zero finite magnitude, 0 if none
}

// zoneCount leaves room for three thresholds a format, the least float64, +Inf and 0; some
// coincide.
const zoneCount = 3*(int(formatCount)-1) + 3

// thresholds are the magnitudes, ascending, at which the fate of a value changes in some
// format. Zone i of a Histogram counts the magnitudes from thresholds[i-1] up to, but
// without, thresholds[i]; zone 0 counts zeros, the last infinities.
var thresholds = newThresholds()

func newThresholds() []float64 {
	t := []float64{math.SmallestNonzeroFloat64, math.Inf(1)}
	for f := FP64; f < formatCount; f++ {
		t = append(t, f.OverflowAt(), f.survivesAt(), f.normalAt())
	}
	slices.Sort(t)
	return slices.Compact(t)
}

// survivesAt returns the least magnitude that does not round to 0.
func (f Format) survivesAt() float64 { return math.Nextafter(f.ZeroAt(), math.Inf(1)) }

// normalAt returns the least magnitude that rounds to a normal value: the tie below
// MinNormal goes up, for the greatest subnormal is odd.
func (f Format) normalAt() float64 { return f.MinNormal() - f.ZeroAt() }

// Add counts one value.
func (h *Histogram) Add(x float64) {
	if math.IsNaN(x) {
		h.nans++
		return
	}
	a := math.Abs(x)
	h.zones[zone(a)]++
	if a == 0 || a > math.MaxFloat64 {
		return
	}
	e := int(math.Float64bits(a)>>52) - 1023
	h.exponents[min(max(e, -127), 127)+127]++
	h.stretch(x)
}

// zone returns the number of thresholds at or below the magnitude a.
func zone(a float64) int {
	i, found := slices.BinarySearch(thresholds, a)
	if found {
		i++
	}
	return i
}

// stretch extends the extremes to the finite, non-zero x.
func (h *Histogram) stretch(x float64) {
	if x < 0 {
		h.neg = max(h.neg, -x)
	} else {
		h.pos = max(h.pos, x)
	}
	h.least = leastOf(h.least, math.Abs(x))
}

// leastOf returns the lesser of two magnitudes, of which 0 stands for none.
func leastOf(a, b float64) float64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Merge adds the counts of o.
func (h *Histogram) Merge(o *Histogram) {
	for i, n := range o.zones {
		h.zones[i] += n
	}
	for i, n := range o.exponents {
		h.exponents[i] += n
	}
	h.nans += o.nans
	h.neg = max(h.neg, o.neg)
	h.pos = max(h.pos, o.pos)
	h.least = leastOf(h.least, o.least)
}

// Count returns the number of all values, NaN and Inf included.
func (h *Histogram) Count() int64 { return h.Zeros() + h.nonZero() + h.Infs() + h.nans }

// Zeros returns the number of zeros of either sign.
func (h *Histogram) Zeros() int64 { return h.zones[0] }

// Infs returns the number of infinities of either sign.
func (h *Histogram) Infs() int64 { return h.zones[len(thresholds)] }

// NaNs returns the number of NaNs.
func (h *Histogram) NaNs() int64 { return h.nans }

// Exponent returns how many values have a magnitude from 2^e up to, but without, 2^(e+1).
// The bin of -127 also holds all smaller ones, that of 127 all greater ones; others are 0.
func (h *Histogram) Exponent(e int) int64 {
	if e < -127 || e > 127 {
		return 0
	}
	return h.exponents[e+127]
}

// Min returns the least finite value, NaN if there is none.
func (h *Histogram) Min() float64 { return leastNumber(h.neg, h.least, h.Zeros() > 0) }

// Max returns the greatest finite value, NaN if there is none.
func (h *Histogram) Max() float64 { return greatestNumber(h.pos, h.least, h.Zeros() > 0) }

// leastNumber returns the least of numbers of which the greatest negative and the least magnitude are
// given, 0 where there is none, NaN if there is no number.
func leastNumber(neg, least float64, zero bool) float64 {
	switch {
	case neg > 0:
		return -neg
	case zero:
		return 0
	case least > 0:
		return least
	}
	return math.NaN()
}

// greatestNumber mirrors leastNumber.
func greatestNumber(pos, least float64, zero bool) float64 { return -leastNumber(pos, least, zero) + 0 }

// MinMagnitude returns the least magnitude of the finite non-zero values, 0 if there is
// none.
func (h *Histogram) MinMagnitude() float64 { return h.least }

// MaxMagnitude returns the greatest magnitude of the finite values, 0 if there is none.
func (h *Histogram) MaxMagnitude() float64 { return max(h.neg, h.pos) }

// Overflow returns how many finite values round past Max of f.
func (h *Histogram) Overflow(f Format) int64 { return h.reach(f.OverflowAt()) }

// Underflow returns how many non-zero values f rounds to 0.
func (h *Histogram) Underflow(f Format) int64 { return h.nonZero() - h.reach(f.survivesAt()) }

// Subnormal returns how many values f rounds to a non-zero subnormal.
func (h *Histogram) Subnormal(f Format) int64 { return h.reach(f.survivesAt()) - h.reach(f.normalAt()) }

func (h *Histogram) nonZero() int64 { return h.reach(math.SmallestNonzeroFloat64) }

// reach counts the finite magnitudes from t on, which is one of the thresholds.
func (h *Histogram) reach(t float64) int64 {
	var n int64
	for i, low := range thresholds[:len(thresholds)-1] {
		if low >= t {
			n += h.zones[i+1]
		}
	}
	return n
}
