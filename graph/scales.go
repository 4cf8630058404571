package graph

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
