package numfmt

import (
	"encoding/binary"
	"errors"
	"math"
)

// histogramBytes is the length of a histogram as it is kept.
const histogramBytes = 8 * (zoneCount + 256 + 4)

// MarshalBinary returns all counts, in an order of their own.
func (h Histogram) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, histogramBytes)
	for _, n := range h.zones {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	for _, n := range h.exponents {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(h.nans))
	for _, x := range []float64{h.neg, h.pos, h.least} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b, nil
}

// UnmarshalBinary reads what MarshalBinary wrote.
func (h *Histogram) UnmarshalBinary(b []byte) error {
	if len(b) != histogramBytes {
		return errors.New("not a histogram")
	}
	next := func() uint64 {
		x := binary.LittleEndian.Uint64(b)
		b = b[8:]
		return x
	}
	for i := range h.zones {
		h.zones[i] = int64(next())
	}
	for i := range h.exponents {
		h.exponents[i] = int64(next())
	}
	h.nans = int64(next())
	for _, x := range []*float64{&h.neg, &h.pos, &h.least} {
		*x = math.Float64frombits(next())
	}
	return nil
}
