package refeval

// layout is where the elements of a box lie in a tensor: an offset and a stride (also 0 or
// negative) for each dimension of the box.
type layout struct {
	off     int
	strides []int
}

// whole is the layout of all elements of a tensor.
func whole(t *Tensor) layout { return layout{strides: strides(t.Dims)} }

// copyBox copies a box of elements from one tensor to another of the same element type. It is what
// Transpose, Slice, Concat, Pad, Expand and their like are made of.
func copyBox(dst *Tensor, to layout, src *Tensor, from layout, dims []int) {
	switch storeOf(dst.Elem) {
	case storeF:
		copyBoxOf(dst.F, to, src.F, from, dims)
	case storeD:
		copyBoxOf(dst.D, to, src.D, from, dims)
	case storeI:
		copyBoxOf(dst.I, to, src.I, from, dims)
	case storeS:
		copyBoxOf(dst.S, to, src.S, from, dims)
	case storeC:
		copyBoxOf(dst.C, to, src.C, from, dims)
	}
}

func copyBoxOf[T any](dst []T, to layout, src []T, from layout, dims []int) {
	if size(dims) == 0 {
		return
	}
	md, ml := merge(dims, to.strides, from.strides)
	last := len(md) - 1
	dStep, sStep := ml[0][last], ml[1][last]
	walk(md, func(off []int, n int) {
		d, s := to.off+off[0], from.off+off[1]
		if dStep == 1 && sStep == 1 {
			copy(dst[d:d+n], src[s:s+n])
			return
		}
		for range n {
			dst[d] = src[s]
			d, s = d+dStep, s+sStep
		}
	}, ml...)
}

// copyRun copies n elements that lie together.
func copyRun(dst *Tensor, d int, src *Tensor, s, n int) {
	switch storeOf(dst.Elem) {
	case storeF:
		copy(dst.F[d:d+n], src.F[s:s+n])
	case storeD:
		copy(dst.D[d:d+n], src.D[s:s+n])
	case storeI:
		copy(dst.I[d:d+n], src.I[s:s+n])
	case storeS:
		copy(dst.S[d:d+n], src.S[s:s+n])
	case storeC:
		copy(dst.C[d:d+n], src.C[s:s+n])
	}
}

// take sets element i of dst to element from[i] of src; a negative index leaves it.
func take(dst, src *Tensor, from []int) {
	switch storeOf(dst.Elem) {
	case storeF:
		takeOf(dst.F, src.F, from)
	case storeD:
		takeOf(dst.D, src.D, from)
	case storeI:
		takeOf(dst.I, src.I, from)
	case storeS:
		takeOf(dst.S, src.S, from)
	case storeC:
		takeOf(dst.C, src.C, from)
	}
}

func takeOf[T any](dst, src []T, from []int) {
	for i, k := range from {
		if k >= 0 {
			dst[i] = src[k]
		}
	}
}

// pickBox sets dst to the elements of src that lie at the given places along every dimension.
func pickBox(dst, src *Tensor, maps [][]int) {
	switch storeOf(dst.Elem) {
	case storeF:
		pickOf(dst.F, src.F, maps, src.Dims)
	case storeD:
		pickOf(dst.D, src.D, maps, src.Dims)
	case storeI:
		pickOf(dst.I, src.I, maps, src.Dims)
	case storeS:
		pickOf(dst.S, src.S, maps, src.Dims)
	case storeC:
		pickOf(dst.C, src.C, maps, src.Dims)
	}
}

func pickOf[T any](dst, src []T, maps [][]int, dims []int) {
	if len(maps) == 0 {
		copy(dst, src)
		return
	}
	if len(maps) == 1 {
		for i, k := range maps[0] {
			dst[i] = src[k]
		}
		return
	}
	n, from := len(dst)/len(maps[0]), len(src)/dims[0]
	for i, k := range maps[0] {
		part := dst[i*n : (i+1)*n]
		if i > 0 && k == maps[0][i-1] { // enlarging repeats
			copy(part, dst[(i-1)*n:])
			continue
		}
		pickOf(part, src[k*from:(k+1)*from], maps[1:], dims[1:])
	}
}

// fill sets all elements of dst to the only element of src, which is of the same type.
func fill(dst, src *Tensor) {
	if src.Len() != 1 {
		refuse("%s is no scalar", src)
	}
	copyBox(dst, whole(dst), src, layout{strides: make([]int, len(dst.Dims))}, dst.Dims)
}
