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
