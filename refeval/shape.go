package refeval

import "slices"

// strides returns the row-major strides of a shape.
func strides(dims []int) []int {
	s := make([]int, len(dims))
	n := 1
	for i, d := range slices.Backward(dims) {
		s[i] = n
		n *= d
	}
	return s
}

// axis returns an axis as a number from 0 on; ranks give the negative ones their meaning.
func axis(a, rank int) int {
	if a < -rank || a >= rank {
		refuse("axis %d of a tensor of rank %d", a, rank)
	}
	if a < 0 {
		a += rank
	}
	return a
}

// axes normalises a list of axes and sorts it. Two of the same are refused.
func axes(list []int, rank int) []int {
	out := make([]int, len(list))
	for i, a := range list {
		out[i] = axis(a, rank)
	}
	slices.Sort(out)
	for i := 1; i < len(out); i++ {
		if out[i] == out[i-1] {
			refuse("axis %d stands twice in %v", out[i], list)
		}
	}
	return out
}

// allAxes lists the axes of a rank.
func allAxes(rank int) []int {
	out := make([]int, rank)
	for i := range out {
		out[i] = i
	}
	return out
}

// split3 cuts a shape at an axis: the elements before it, along it, and behind it.
func split3(dims []int, axis int) (outer, n, inner int) {
	return size(dims[:axis]), dims[axis], size(dims[axis+1:])
}

// reducedDims returns the shape after a reduction over sorted axes.
func reducedDims(dims, axes []int, keep bool) []int {
	out := []int{}
	for i, d := range dims {
		switch {
		case !slices.Contains(axes, i):
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}

// broadcast returns the shape that tensors of these shapes have together, by numpy's rules.
func broadcast(shapes ...[]int) []int {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := make([]int, rank)
	for i := range out {
		out[i] = 1
	}
	for _, s := range shapes {
		for i, d := range s {
			at := &out[rank-len(s)+i]
			switch {
			case *at == 1:
				*at = d
			case d != 1 && d != *at:
				refuse("shapes %v do not broadcast", shapes)
			}
		}
	}
	return out
}

// spread returns the strides by which a tensor of one shape is read as if it had the broadcast
// shape: 0 along the dimensions it is repeated in.
func spread(dims, to []int) []int {
	s := make([]int, len(to))
	own := strides(dims)
	for i, d := range dims {
		if d != 1 {
			s[len(to)-len(dims)+i] = own[i]
		}
	}
	return s
}

// walk calls f for the runs of a shape along its last dimension, in row-major order: off holds
// the offset of the run's start under each of the stride lists, n its length. The offset in the
// shape itself is that of its row-major strides.
func walk(dims []int, f func(off []int, n int), lists ...[]int) {
	if size(dims) == 0 {
		return
	}
	off := make([]int, len(lists))
	last := len(dims) - 1
	if last < 0 {
		f(off, 1)
		return
	}
	at := make([]int, last)
	for {
		f(off, dims[last])
		i := last - 1
		for ; i >= 0; i-- {
			at[i]++
			for k, s := range lists {
				off[k] += s[i]
			}
			if at[i] < dims[i] {
				break
			}
			for k, s := range lists {
				off[k] -= s[i] * dims[i]
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// merge joins dimensions that all stride lists walk through without a gap, so that [walk] has
// long runs. It changes nothing in the order of the elements.
func merge(dims []int, lists ...[]int) ([]int, [][]int) {
	var md []int
	ml := make([][]int, len(lists))
	for i, d := range dims {
		if d == 1 {
			continue
		}
		if k := len(md) - 1; k >= 0 && joins(lists, ml, i, k, d) {
			md[k] *= d
			for j, s := range lists {
				ml[j][k] = s[i]
			}
			continue
		}
		md = append(md, d)
		for j, s := range lists {
			ml[j] = append(ml[j], s[i])
		}
	}
	if len(md) == 0 {
		md = []int{1}
		for j := range ml {
			ml[j] = []int{0}
		}
	}
	return md, ml
}

// joins tells whether dimension i continues the merged dimension k in every list.
func joins(lists, merged [][]int, i, k, d int) bool {
	for j, s := range lists {
		if merged[j][k] != s[i]*d {
			return false
		}
	}
	return true
}
