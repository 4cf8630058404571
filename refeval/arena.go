package refeval

import "math/bits"

// arena keeps the buffers that a run is done with, for its next results: fresh memory costs more
// than most kernels do. It belongs to one run at a time.
type arena struct {
	free map[int][][]float32 // by length
	held int64               // bytes in free
}

// leastPooled is the length below which a buffer is not worth keeping.
const leastPooled = 64

// classLen returns the length of the buffers that serve n elements, at most an eighth more.
func classLen(n int) int {
	shift := max(bits.Len(uint(n-1))-4, 0)
	return (n + 1<<shift - 1) >> shift << shift
}

// get returns a buffer for n elements that hold anything, nil if there is none.
func (a *arena) get(n int) []float32 {
	k := classLen(n)
	list := a.free[k]
	if len(list) == 0 {
		return nil
	}
	buf := list[len(list)-1]
	a.free[k] = list[:len(list)-1]
	a.held -= 4 * int64(k)
	return buf
}

func (a *arena) put(buf []float32) {
	a.free[len(buf)] = append(a.free[len(buf)], buf)
	a.held += 4 * int64(len(buf))
}

// drop gives all buffers up.
func (a *arena) drop() {
	clear(a.free)
	a.held = 0
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
	// What lies unused must not grow past what is in use.
	if x.arena.held > x.peak || x.live+x.arena.held > x.max {
		x.arena.drop()
	}
	buf = make([]float32, classLen(n))
	return buf[:n:n], buf
}
