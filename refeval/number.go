package refeval

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// wrap cuts an integer to the bits of its type, as the processor's registers do.
func wrap(x int64, e graph.ElemType) int64 {
	switch e {
	case graph.Uint8:
		return int64(uint8(x))
	case graph.Int8:
		return int64(int8(x))
	case graph.Uint16:
		return int64(uint16(x))
	case graph.Int16:
		return int64(int16(x))
	case graph.Uint32:
		return int64(uint32(x))
	case graph.Int32:
		return int64(int32(x))
	case graph.Uint4:
		return x & 15
	case graph.Int4:
		return x << 60 >> 60
	case graph.Uint2:
		return x & 3
	case graph.Int2:
		return x << 62 >> 62
	case graph.Bool:
		return bit(x != 0)
	}
	return x
}

// wrapAll wraps every element where the type is narrower than what holds it.
func wrapAll(x []int64, e graph.ElemType) {
	if e == graph.Int64 || e == graph.Uint64 {
		return
	}
	for i, v := range x {
		x[i] = wrap(v, e)
	}
}

// intRange returns the least and the largest integer of a type; for uint64 what int64 can say.
func intRange(e graph.ElemType) (lo, hi int64) {
	bits := e.Bits()
	switch e {
	case graph.Bool:
		return 0, 1
	case graph.Uint64:
		return 0, math.MaxInt64
	case graph.Uint2, graph.Uint4, graph.Uint8, graph.Uint16, graph.Uint32:
		return 0, 1<<bits - 1
	}
	return -1 << (bits - 1), 1<<(bits-1) - 1
}

// floatToInt cuts a real number off toward zero. Numbers past the range, on which the standard is
// silent, become what x86 makes of them: the least int32 or int64, of which narrow types keep the
// low bits. So does onnxruntime.
func floatToInt(x float64, e graph.ElemType) int64 {
	switch e {
	case graph.Bool:
		return bit(x != 0)
	case graph.Uint64:
		if x >= 1<<63 && x < 1<<64 {
			return int64(uint64(x))
		}
		return cut64(x)
	case graph.Int64:
		return cut64(x)
	case graph.Uint32:
		return wrap(cut64(x), e)
	}
	if !(x > -(1<<31)-1 && x < 1<<31) {
		return wrap(math.MinInt32, e)
	}
	return wrap(int64(x), e)
}

func cut64(x float64) int64 {
	if !(x >= -(1<<63) && x < 1<<63) {
		return math.MinInt64
	}
	return int64(x)
}

// intToFloat returns an integer as float32, rounded once.
func intToFloat(x int64, e graph.ElemType) float32 {
	if e == graph.Uint64 {
		return float32(uint64(x))
	}
	return float32(x)
}

// lessInt compares integers of a type.
func lessInt(x, y int64, e graph.ElemType) bool {
	if e == graph.Uint64 {
		return uint64(x) < uint64(y)
	}
	return x < y
}
