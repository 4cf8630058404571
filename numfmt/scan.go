package numfmt

import (
	"encoding/binary"
	"math"
)

// The scan counts float32 values in bins of a sixteenth of a binade, found by one shift.
// All but a few bins lie in a single zone of the Histogram; in those that hold a threshold
// inside, the elements from it on (about 1 in 300 of usual weights) are added one by one.
const (
	binShift   = 19
	binCount   = 1 << (31 - binShift)
	perBinade  = 1 << (23 - binShift)
	infBits    = 0x7f800000
	signBit32  = 0x80000000
	blockLen   = 4096
	scanFrom   = 1024    // below it clearing and folding the bins costs more than it saves
	flushEvery = 1 << 31 // elements; the bins are 32 bits wide
)

// bins says for each bin from which bits on its elements go one by one, and which zone the
// others are in.
var bins = newBins()

type binTable struct {
	limit [binCount]uint32
	zone  [binCount]uint8
}

func newBins() (t binTable) {
	for i := range t.limit {
		low := uint32(i) << binShift
		if low > infBits { // NaN, limit 0
			continue
		}
		z := zone(float64(math.Float32frombits(low)))
		t.zone[i] = uint8(z)
		t.limit[i] = infBits + 1
		if z < len(thresholds) {
			t.limit[i] = min(t.limit[i], math.Float32bits(ceil32(thresholds[z])))
		}
	}
	return t
}

// scan collects counts of bins on their way into a Histogram.
type scan struct {
	h     *Histogram
	count [binCount]uint32
	n     int
}

// Counter makes a histogram of elements that come in small portions: it sums up once, at the end.
type Counter struct{ s scan }

// NewCounter returns an empty counter.
func NewCounter() *Counter { return &Counter{scan{h: new(Histogram)}} }

// Add counts all of x.
func (c *Counter) Add(x []float32) {
	for len(x) > 0 {
		n := min(len(x), blockLen)
		c.s.floats(x[:n])
		x = x[n:]
	}
}

// Histogram returns what was counted so far.
func (c *Counter) Histogram() *Histogram {
	c.s.fold()
	return c.s.h
}

// AddFloats counts all of x.
func (h *Histogram) AddFloats(x []float32) {
	if len(x) < scanFrom {
		for _, v := range x {
			h.Add(float64(v))
		}
		return
	}
	s := scan{h: h}
	for len(x) > 0 {
		n := min(len(x), blockLen)
		s.floats(x[:n])
		x = x[n:]
	}
	s.fold()
}

// AddRaw counts the elements of raw, stored in format f, little-endian; an incomplete last
// element is left out. It takes constant memory.
func (h *Histogram) AddRaw(f Format, raw []byte) {
	size := f.Bits() / 8
	switch {
	case size == 0:
	case f == FP64:
		for ; len(raw) >= 8; raw = raw[8:] {
			h.Add(math.Float64frombits(binary.LittleEndian.Uint64(raw)))
		}
	case len(raw) < scanFrom*size:
		var buf [scanFrom]float32
		h.AddFloats(buf[:f.DecodeFloats(buf[:], raw)])
	case f == FP32:
		h.scanFP32(raw)
	default:
		h.scanNarrow(f, raw)
	}
}

func (h *Histogram) scanFP32(raw []byte) {
	s := scan{h: h}
	for len(raw) >= 4 {
		n := min(len(raw)&^3, 4*blockLen)
		s.bytes(raw[:n])
		raw = raw[n:]
	}
	s.fold()
}

func (h *Histogram) scanNarrow(f Format, raw []byte) {
	s := scan{h: h}
	var buf [blockLen]float32
	for len(raw)*8 >= f.Bits() {
		n := f.DecodeFloats(buf[:], raw)
		s.floats(buf[:n])
		raw = raw[n*f.Bits()/8:]
	}
	s.fold()
}

// floats counts at most blockLen elements.
func (s *scan) floats(x []float32) {
	s.room()
	e, n := extremes{least: noLeast}.ends(x)
	for _, v := range x[n:] {
		e = e.with(math.Float32bits(v))
	}
	for _, v := range x {
		if !s.tally(math.Float32bits(v)) {
			s.h.Add(float64(v))
		}
	}
	if !s.stretch(e) {
		for _, v := range x {
			s.stretchBits(math.Float32bits(v))
		}
	}
}

// bytes counts at most blockLen elements as they are stored. The capped slices spare the
// loop a bounds check, the second load a register: a quarter of the time.
func (s *scan) bytes(raw []byte) {
	s.room()
	e := extremes{least: noLeast}
	for i := 0; i < len(raw)-3; i += 4 {
		b := binary.LittleEndian.Uint32(raw[i : i+4 : i+4])
		e = e.with(b)
		if !s.tally(b) {
			s.h.Add(float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[i:]))))
		}
	}
	if !s.stretch(e) {
		for i := 0; i < len(raw)-3; i += 4 {
			s.stretchBits(binary.LittleEndian.Uint32(raw[i:]))
		}
	}
}

// room keeps the bins from running over with the next block.
func (s *scan) room() {
	if s.n > flushEvery-blockLen {
		s.fold()
	}
	s.n += blockLen
}

// tally counts the float32 with bits b, unless it is one of those to add one by one.
func (s *scan) tally(b uint32) bool {
	bin := b >> binShift % binCount
	if b&^signBit32 >= bins.limit[bin] {
		return false
	}
	s.count[bin]++
	return true
}

// extremes are those of the bits of float32 values. As signed integers the greatest bits
// are the greatest positive value, as unsigned ones the most negative. One is taken off
// the magnitudes before the least is found, so that zero wraps around.
type extremes struct {
	top    int32
	bottom uint32
	least  uint32
}

const noLeast = math.MaxUint32

func (e extremes) with(b uint32) extremes {
	return extremes{max(e.top, int32(b)), max(e.bottom, b), min(e.least, b&^signBit32-1)}
}

// stretch extends the Histogram's extremes, unless NaN or Inf took the place of one.
func (s *scan) stretch(e extremes) bool {
	if e.top >= infBits || e.bottom >= signBit32|infBits {
		return false
	}
	s.stretchBits(uint32(e.top))
	s.stretchBits(e.bottom)
	if least := e.least + 1; least != 0 && least < infBits {
		s.h.least = leastOf(s.h.least, float64(math.Float32frombits(least)))
	}
	return true
}

// stretchBits extends the extremes to the float32 with bits b if it is finite and not 0.
func (s *scan) stretchBits(b uint32) {
	if a := b &^ signBit32; a != 0 && a < infBits {
		s.h.stretch(float64(math.Float32frombits(b)))
	}
}

// fold moves the counts into the Histogram.
func (s *scan) fold() {
	for i := range s.count {
		n := s.count[i]
		if n == 0 {
			continue
		}
		s.h.zones[bins.zone[i]] += int64(n)
		if i > 0 && i < infBits>>binShift { // no zeros, no infinities
			s.h.exponents[i/perBinade] += int64(n)
		}
	}
	clear(s.count[:])
	s.n = 0
}
