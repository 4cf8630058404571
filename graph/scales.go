package graph

import "math"

// ScaleAt returns the function that tells which of some scales belongs to element i of a tensor of these
// dimensions: one for all, one for each index of the axis, or, where block > 0, one for each block of that many along
// the axis, as QuantizeLinear and DequantizeLinear have them. It returns nil where their number does
// not fit.
func ScaleAt(dims []int64, scales int64, axis int, block int64) func(i int64) int64 {
	if scales == 1 {
		return func(int64) int64 { return 0 }
	}
	if axis < 0 {
		axis += len(dims)
	}
	if axis < 0 || axis >= len(dims) || scales == 0 {
		return nil
	}
	outer, err := elements(dims[:axis])
	inner, err2 := elements(dims[axis+1:])
	if err != nil || err2 != nil {
		return nil
	}
	n := dims[axis]
	if block <= 0 {
		if scales != n {
			return nil
		}
		return func(i int64) int64 { return i / inner % n }
	}
	blocks := (n + block - 1) / block
	if scales != outer*blocks*inner {
		return nil
	}
	return func(i int64) int64 { return (i/(inner*n)*blocks+i/inner%n/block)*inner + i%inner }
}

// Channels says which of the scales of a tensor belongs to an element: one for each index of an axis, or one for all.
type Channels struct {
	n, inner int64 // scales, and elements from one index of the axis to the next
}

// ChannelsOf returns the channels along an axis of a tensor of these dimensions, counted from the front; one for the
// whole tensor where axis is negative.
func ChannelsOf(dims []int64, axis int) Channels {
	if axis < 0 || dims[axis] == 1 {
		return Channels{1, math.MaxInt64}
	}
	inner, _ := elements(dims[axis+1:]) // of a tensor that was read, and so has a size
	return Channels{dims[axis], max(inner, 1)}
}

// Len returns the number of scales.
func (c Channels) Len() int { return int(c.n) }

// runs visits elements from one of the tensor on, run by run: all of one scale, or, where each has another one than
// its neighbours, with as many scales from one on.
func (c Channels) runs(at int64, x []float32, all func(scale int, run []float32), each func(from int, run []float32)) {
	for len(x) > 0 {
		n := min(c.inner-at%c.inner, int64(len(x)))
		k := at / c.inner % c.n
		if c.inner == 1 {
			n = min(c.n-k, int64(len(x)))
			each(int(k), x[:n])
		} else {
			all(int(k), x[:n])
		}
		at, x = at+n, x[n:]
	}
}

// Divide divides elements from one of the tensor on by their scales.
func (c Channels) Divide(scales []float32, at int64, x []float32) {
	c.runs(at, x, func(k int, run []float32) {
		for i := range run {
			run[i] /= scales[k]
		}
	}, func(k int, run []float32) {
		s := scales[k : k+len(run)]
		for i := range run {
			run[i] /= s[i]
		}
	})
}

// Multiply multiplies elements from one of the tensor on with their scales.
func (c Channels) Multiply(scales []float32, at int64, x []float32) {
	c.runs(at, x, func(k int, run []float32) {
		for i := range run {
			run[i] *= scales[k]
		}
	}, func(k int, run []float32) {
		s := scales[k : k+len(run)]
		for i := range run {
			run[i] *= s[i]
		}
	})
}

// Largest raises the largest magnitude of each channel by that of elements from one of the tensor on. NaN is larger than all.
func (c Channels) Largest(most []float32, at int64, x []float32) {
	c.runs(at, x, func(k int, run []float32) {
		for _, v := range run {
			most[k] = max(most[k], v, -v)
		}
	}, func(k int, run []float32) {
		m := most[k : k+len(run)]
		for i, v := range run {
			m[i] = max(m[i], v, -v)
		}
	})
}
