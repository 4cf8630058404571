//go:build amd64 && !noasm

package numfmt

import (
	"slices"
	"sync"

	"golang.org/x/sys/cpu"
)

// hasHalves tells whether the processor converts float16.
var hasHalves = sync.OnceValue(func() bool { return cpu.X86.HasAVX2 && cpu.X86.HasF16C })

// narrowBlock converts a multiple of 8 elements and returns the bits of the greatest magnitude.
func narrowBlock(out []byte, src []float32) uint32 {
	var top [8]uint32
	narrowAVX2(len(src), &out[0], &src[0], &top)
	return slices.Max(top[:])
}

// roundBlock is narrowBlock and back.
func roundBlock(dst, src []float32) uint32 {
	var top [8]uint32
	roundAVX2(len(src), &dst[0], &src[0], &top)
	return slices.Max(top[:])
}

// widenBlock reads a multiple of 8 elements and returns the greatest magnitude's code.
func widenBlock(dst []float32, raw []byte) uint32 {
	var top [8]uint16
	widenAVX2(len(dst), &dst[0], &raw[0], &top)
	return uint32(slices.Max(top[:]))
}

// ends takes as many of x from the front as the processor can into the extremes, and returns their
// number.
func (e extremes) ends(x []float32) (extremes, int) {
	n := len(x) &^ 7
	if n == 0 || !hasHalves() {
		return e, 0
	}
	var top [8]int32
	var bottom, least [8]uint32
	for i := range top {
		top[i], bottom[i], least[i] = e.top, e.bottom, e.least
	}
	endsAVX2(n, &x[0], &top, &bottom, &least)
	return extremes{slices.Max(top[:]), slices.Max(bottom[:]), slices.Min(least[:])}, n
}

// vectors counts as many of x from the front as the processor can, and returns their number. What it
// counts is of no use where one of them is not finite.
func (l *marks) vectors(b *tallied, x []float32) int {
	n := len(x) &^ 7
	if n == 0 || !hasHalves() {
		return 0
	}
	var lanes [8][8]uint32
	for i := range 8 {
		lanes[2][i], lanes[3][i] = b.ends.least, b.survive
	}
	tallyAVX2(n, &x[0], (*[4]uint32)(l), &lanes)
	for i := range 8 {
		b.ends.top, b.ends.bottom = max(b.ends.top, int32(lanes[0][i])), max(b.ends.bottom, lanes[1][i])
		b.ends.least, b.survive = min(b.ends.least, lanes[2][i]), min(b.survive, lanes[3][i])
		for k := range b.reached {
			b.reached[k] += int64(lanes[4+k][i])
		}
	}
	return n
}

// quick counts a multiple of 8 numbers where each is finite, does not round to 0 and is not past the largest of the
// format; else ok is false. Where out is not nil it writes them as float16, which is right where ok is true.
func (l *marks) quick(out []byte, x []float32) (b tallied, ok bool) {
	var lanes [4][8]uint32
	for i := range lanes[2] {
		lanes[2][i] = noLeast
	}
	if out != nil {
		quickNarrowAVX2(len(x), &out[0], &x[0], l[2], &lanes)
	} else {
		quickAVX2(len(x), &x[0], l[2], &lanes)
	}
	bottom, least := slices.Max(lanes[1][:]), slices.Min(lanes[2][:])
	for i := range 8 {
		b.ends.top = max(b.ends.top, int32(lanes[0][i]))
		b.reached[2] += int64(lanes[3][i])
	}
	if most := max(uint32(b.ends.top), bottom&^signBit32); most >= l[3] || least < max(l[0], l[1]) {
		return b, false
	}
	b.ends.bottom, b.ends.least, b.survive = bottom, least-1, least-l[1]
	b.reached[0], b.reached[1] = int64(len(x)), int64(len(x))
	return b, true
}
