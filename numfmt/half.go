package numfmt

// Float16 is what whole models are converted to and read from, so processors that convert it by an
// instruction do. What these make of overflows and NaN is not ours: blocks that hold one are done
// again, which a look at the greatest magnitude tells.

// halfBlock is how many elements are converted at a time.
const halfBlock = 1024

// narrowHalves writes as many of src from the front as the processor can, and returns their number.
func (s *spec) narrowHalves(out []byte, src []float32, over uint32) int {
	if s != &specs[FP16] || !hasHalves() {
		return 0
	}
	n := len(src) &^ 7
	for at := 0; at < n; at += halfBlock {
		x, y := src[at:min(at+halfBlock, n)], out[2*at:2*min(at+halfBlock, n)]
		if narrowBlock(y, x) >= s.overflowAt32 {
			s.put16Slowly(y, x, over)
		}
	}
	return n
}

// roundHalves is narrowHalves and back. Rounding once more changes nothing, so dst may be src.
func roundHalves(dst, src []float32) int {
	if !hasHalves() {
		return 0
	}
	n := len(src) &^ 7
	for at := 0; at < n; at += halfBlock {
		x, y := src[at:min(at+halfBlock, n)], dst[at:min(at+halfBlock, n)]
		if roundBlock(y, x) >= specs[FP16].overflowAt32 {
			roundFP16Slowly(y, x)
		}
	}
	return n
}

// widenHalves reads as many elements from the front of raw as the processor can.
func (s *spec) widenHalves(dst []float32, raw []byte) int {
	if s != &specs[FP16] || !hasHalves() {
		return 0
	}
	n := len(dst) &^ 7
	for at := 0; at < n; at += halfBlock {
		x, y := raw[2*at:2*min(at+halfBlock, n)], dst[at:min(at+halfBlock, n)]
		if widenBlock(y, x) > s.infEnd {
			s.get16Slowly(y, x)
		}
	}
	return n
}
