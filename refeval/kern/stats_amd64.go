//go:build amd64 && !noasm

package kern

import "math"

// laneCounts is what the kernel of stats counts in each of eight lanes.
type laneCounts [7][8]uint32

// statsStep bounds what a lane counts, and how long the kernel runs.
const statsStep = 1 << 13

func (l Level) stats(c *counts, x []float32) int {
	n := l.asmLen(len(x), 8)
	for i := 0; i < n; i += statsStep {
		var lanes laneCounts
		for j := range 8 {
			lanes[0][j], lanes[1][j] = infBits, math.Float32bits(float32(math.Inf(-1)))
			lanes[2][j] = math.MaxUint32
		}
		statsAVX2(min(statsStep, n-i), &x[i], c.normal, (*[7][8]uint32)(&lanes))
		c.merge(&lanes)
	}
	return n
}

func (c *counts) merge(lanes *laneCounts) {
	for j := range 8 {
		c.min = min(c.min, math.Float32frombits(lanes[0][j]))
		c.max = max(c.max, math.Float32frombits(lanes[1][j]))
		c.least = min(c.least, lanes[2][j])
		c.finite += int(lanes[3][j])
		c.inf += int(lanes[4][j])
		c.zero += int(lanes[5][j])
		c.low += int(lanes[6][j])
	}
}
