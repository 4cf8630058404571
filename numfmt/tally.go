package numfmt

import (
	"math"
	"slices"
)

// Tally counts float32 numbers by what becomes of them in one format. It tells what a [Histogram]
// tells of that format and costs a tenth of it, for what it counts a processor compares in vectors.
type Tally struct {
	f                   Format
	limits              marks
	count, nans, infs   int64
	reached             [4]int64 // finite magnitudes from the limits on
	neg, pos            float64  // greatest finite magnitude of either sign, 0 if none
	least, leastSurvive float64  // least magnitude of the non-zero and of those that do not round to 0, 0 if none
}

// marks are the bits of the least float32 magnitudes that are not 0, that do not round to 0 in a
// format, that round to a normal number of it, and that round past its largest.
type marks [4]uint32

// NewTally returns an empty tally of what becomes of numbers in a format of at most 32 bits.
func NewTally(f Format) *Tally {
	bits := func(x float64) uint32 { return math.Float32bits(ceil32(x)) }
	return &Tally{f: f, limits: marks{1, bits(f.survivesAt()), bits(f.normalAt()), min(bits(f.OverflowAt()), infBits)}}
}

// Format returns the format that numbers are counted for.
func (t *Tally) Format() Format { return t.f }

// tallied is what a block adds to a tally.
type tallied struct {
	ends    extremes
	survive uint32 // bits of the least magnitude that does not round to 0, less those of the limit
	reached [4]int64
}

// Add counts all of x.
func (t *Tally) Add(x []float32) { t.add(nil, x) }

// AddEncoded counts all of x and appends it as [Format.AppendEncoded] does. Of FP16 that costs little more than
// one of the two.
func (t *Tally) AddEncoded(dst []byte, x []float32, saturate bool) []byte {
	if t.f != FP16 {
		t.add(nil, x)
		return t.f.AppendEncoded(dst, x, saturate)
	}
	at := len(dst)
	dst = slices.Grow(dst, 2*len(x))[:at+2*len(x)]
	done := t.add(dst[at:], x)
	return FP16.AppendEncoded(dst[:at+2*done], x[done:], saturate)
}

// add counts all of x. Where out is not nil it writes float16 as far as numbers from the front are such that
// nothing is special in them, and returns how many it wrote.
func (t *Tally) add(out []byte, x []float32) (written int) {
	usual := hasHalves()
	for len(x) > 0 {
		n := min(len(x), blockLen)
		if usual && n >= 8 {
			n &^= 7
			var b tallied
			if b, usual = t.limits.quick(out, x[:n]); usual {
				t.count += int64(n)
				t.take(&b)
				if x = x[n:]; out != nil {
					out, written = out[2*n:], written+n
				}
				continue
			}
		}
		t.block(x[:n])
		x = x[n:]
	}
	return written
}

// block counts at most blockLen numbers.
func (t *Tally) block(x []float32) {
	b := tallied{ends: extremes{least: noLeast}, survive: noLeast}
	n := t.limits.vectors(&b, x)
	special := b.ends.top >= infBits || b.ends.bottom >= signBit32|infBits
	if special { // they are in the way of the extremes
		b, n = tallied{ends: extremes{least: noLeast}, survive: noLeast}, 0
	}
	for _, v := range x[n:] {
		switch a := math.Float32bits(v) &^ signBit32; {
		case a > infBits:
			t.nans++
		case a == infBits:
			t.infs++
		default:
			t.limits.count(&b, math.Float32bits(v))
		}
	}
	t.count += int64(len(x))
	t.take(&b)
}

// count adds the finite number of the bits.
func (l *marks) count(b *tallied, bits uint32) {
	b.ends = b.ends.with(bits)
	a := bits &^ signBit32
	b.survive = min(b.survive, a-l[1])
	for i, low := range l {
		if a >= low {
			b.reached[i]++
		}
	}
}

// take adds what was counted in a block of finite numbers.
func (t *Tally) take(b *tallied) {
	value := func(bits uint32) float64 { return float64(math.Float32frombits(bits)) }
	if b.ends.top > 0 {
		t.pos = max(t.pos, value(uint32(b.ends.top)))
	}
	if b.ends.bottom > signBit32 {
		t.neg = max(t.neg, -value(b.ends.bottom))
	}
	for i, n := range b.reached {
		t.reached[i] += n
	}
	if b.reached[0] > 0 {
		t.least = leastOf(t.least, value(b.ends.least+1))
	}
	if b.reached[1] > 0 {
		t.leastSurvive = leastOf(t.leastSurvive, value(b.survive+t.limits[1]))
	}
}

// Merge adds the counts of a tally for the same format.
func (t *Tally) Merge(o *Tally) {
	t.count, t.nans, t.infs = t.count+o.count, t.nans+o.nans, t.infs+o.infs
	for i, n := range o.reached {
		t.reached[i] += n
	}
	t.neg, t.pos = max(t.neg, o.neg), max(t.pos, o.pos)
	t.least, t.leastSurvive = leastOf(t.least, o.least), leastOf(t.leastSurvive, o.leastSurvive)
}

// Rounded returns the tally of the same numbers rounded to the format; ok is false where one of them
// is not finite then, or is not now.
func (t *Tally) Rounded() (r *Tally, ok bool) {
	if t.nans+t.infs+t.reached[3] > 0 {
		return nil, false
	}
	r = &Tally{f: t.f, limits: t.limits, count: t.count}
	r.reached = [4]int64{t.reached[1], t.reached[1], t.reached[2], 0}
	r.neg, r.pos = math.Abs(t.f.Round(t.neg)), math.Abs(t.f.Round(t.pos))
	r.least = math.Abs(t.f.Round(t.leastSurvive))
	r.leastSurvive = r.least
	return r, true
}

// Count returns the number of all numbers, NaN and Inf included.
func (t *Tally) Count() int64 { return t.count }

// Zeros returns how many are zero, of either sign.
func (t *Tally) Zeros() int64 { return t.count - t.nans - t.infs - t.reached[0] }

// Infs returns how many are infinite.
func (t *Tally) Infs() int64 { return t.infs }

// NaNs returns how many are NaN.
func (t *Tally) NaNs() int64 { return t.nans }

// Min returns the least finite number, NaN if there is none.
func (t *Tally) Min() float64 { return leastNumber(t.neg, t.least, t.Zeros() > 0) }

// Max returns the greatest finite number, NaN if there is none.
func (t *Tally) Max() float64 { return greatestNumber(t.pos, t.least, t.Zeros() > 0) }

// MinMagnitude returns the least magnitude of the finite non-zero numbers, 0 if there is none.
func (t *Tally) MinMagnitude() float64 { return t.least }

// MaxMagnitude returns the greatest magnitude of the finite numbers, 0 if there is none.
func (t *Tally) MaxMagnitude() float64 { return max(t.neg, t.pos) }

// Overflow returns how many finite numbers round past the format's largest.
func (t *Tally) Overflow() int64 { return t.reached[3] }

// Underflow returns how many numbers other than 0 the format rounds to 0.
func (t *Tally) Underflow() int64 { return t.reached[0] - t.reached[1] }

// Subnormal returns how many numbers the format rounds to a subnormal other than 0.
func (t *Tally) Subnormal() int64 { return t.reached[1] - t.reached[2] }
