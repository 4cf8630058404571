package refeval

import (
	"math"
	"math/bits"
)

// arena keeps the buffers that a run is done with, for its next results: fresh memory costs more
// than most kernels do. It belongs to one run at a time.
type arena struct {
	free map[int][][]float32 // by length
	held int64               // bytes in free
	peak int64               // the most bytes that were in use at a time, in earlier runs too
}

// leastPooled is the length below which a buffer is not worth keeping.
const leastPooled = 64

// classLen returns the length of the buffers that serve n elements, at most an eighth more.
func classLen(n int) int {
	shift := max(bits.Len(uint(n-1))-4, 0)
	return (n + 1<<shift - 1) >> shift << shift
}

// mostWaste is how many times larger than needed a buffer may be.
const mostWaste = 4

// get returns the smallest buffer for n elements that hold anything, nil if there is none.
func (a *arena) get(n int) []float32 {
	best := mostWaste*n + 1
	for k, list := range a.free {
		if k >= n && k < best && len(list) > 0 {
			best = k
		}
	}
	list := a.free[best]
	if len(list) == 0 {
		return nil
	}
	buf := list[len(list)-1]
	a.free[best] = list[:len(list)-1]
	a.held -= 4 * int64(best)
	return buf
}

func (a *arena) put(buf []float32) {
	a.free[len(buf)] = append(a.free[len(buf)], buf)
	a.held += 4 * int64(len(buf))
}

// drop gives the buffers up that are shorter than n.
func (a *arena) drop(n int) {
	for k, list := range a.free {
		if k < n {
			a.held -= 4 * int64(k) * int64(len(list))
			delete(a.free, k)
		}
	}
}

// floats returns a tensor's elements, and the buffer that they lie in if it is the arena's.
func (x *run) floats(n int, zero bool) (f, buf []float32) {
	if x.arena == nil || n < leastPooled {
		return make([]float32, n), nil
	}
	if buf = x.arena.get(n); buf != nil {
		if zero {
			clear(buf[:n])
		}
		return buf[:n:n], buf
	}
	// All memory together must not pass twice the most that was in use. Longer buffers serve
	// shorter results too, so these go first.
	x.arena.peak = max(x.arena.peak, x.peak)
	for _, less := range []int{n, math.MaxInt} {
		if most := min(2*x.arena.peak, x.max); x.live+x.arena.held > most {
			x.arena.drop(less)
		}
	}
	buf = make([]float32, classLen(n))
	return buf[:n:n], buf
}
