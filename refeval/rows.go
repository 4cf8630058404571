package refeval

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// floating are the elements that sums with rounding work on: float64 is never rounded.
type floating interface{ float32 | float64 }

// behind returns the axes of a rank in another order: the listed ones last.
func behind(list []int, rank int) []int {
	perm := make([]int, 0, rank)
	for i := range rank {
		if !slices.Contains(list, i) {
			perm = append(perm, i)
		}
	}
	return append(perm, list...)
}

// rows returns the elements of x so that those that differ only along the listed axes lie
// together, and how many those are.
func (c *Call) rows(x *Tensor, list []int) (*Tensor, int) {
	n := 1
	for _, a := range list {
		n *= x.Dims[a]
	}
	perm := behind(list, x.Rank())
	if slices.IsSorted(perm) {
		return x, n
	}
	own := strides(x.Dims)
	dims, from := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		dims[i], from[i] = x.Dims[p], own[p]
	}
	t := c.Raw(x.Elem, dims)
	copyBox(t, whole(t), x, layout{strides: from}, dims)
	return t, n
}

// unrows undoes rows: it makes output 0, and returns it, of the elements of t, which lie in rows
// along the listed axes of the shape dims.
func (c *Call) unrows(t *Tensor, list, dims []int) *Tensor {
	perm := behind(list, len(dims))
	if slices.IsSorted(perm) {
		c.View(0, t, dims)
		return c.out[0].Tensor
	}
	y := c.rawOut(0, t.Elem, dims)
	own := strides(dims)
	to, box := make([]int, len(perm)), make([]int, len(perm))
	for i, p := range perm {
		to[i], box[i] = own[p], dims[p]
	}
	copyBox(y, layout{strides: to}, t, layout{strides: strides(box)}, box)
	return y
}

// rowKernel sets all of dst. It works on whole rows of n that lie together; row is the number of the first.
type rowKernel[T floating] func(dst, src []T, n, row int)

// eachRow sets output 0, and returns it, to what a kernel for one of the two kinds of elements makes
// of the rows of x along the listed axes.
func (c *Call) eachRow(x *Tensor, list []int, f rowKernel[float32], d rowKernel[float64]) *Tensor {
	t, n := c.rows(x, list)
	y := c.Raw(x.Elem, t.Dims)
	if n > 0 {
		c.parallel(t.Len()/n, 8*n, func(lo, hi int) {
			switch storeOf(x.Elem) {
			case storeF:
				f(y.F[lo*n:hi*n], t.F[lo*n:hi*n], n, lo)
			case storeD:
				d(y.D[lo*n:hi*n], t.D[lo*n:hi*n], n, lo)
			default:
				refuse("%s is not of a float type", x)
			}
		})
	}
	return c.unrows(y, list, x.Dims)
}

// roundReal rounds partial results in place.
func roundReal[T floating](a accum, x []T) {
	if f, ok := any(x).([]float32); ok {
		a.roundAll(f)
	}
}

// sideBySide is how many sums run at a time: rounding one number after the other is slow.
const sideBySide = 64

// sums returns the sum of each row of n.
func sums[T floating](a accum, x []T, n int) []T {
	if n == 0 {
		refuse("a sum of rows of nothing")
	}
	out := make([]T, len(x)/n)
	switch f := any(x).(type) {
	case []float32:
		a.sums(any(out).([]float32), f, n)
	case []float64:
		for i := range out {
			for _, v := range x[i*n : (i+1)*n] {
				out[i] += v
			}
		}
	}
	return out
}

// sums sets dst to the sums of rows of n.
func (a accum) sums(dst, x []float32, n int) {
	if !a.low() || a.block > 0 {
		for i := range dst {
			dst[i] = a.sum(x[i*n : (i+1)*n])
		}
		return
	}
	for lo := 0; lo < len(dst); lo += sideBySide {
		part := dst[lo:min(lo+sideBySide, len(dst))]
		for k := range n {
			for i := range part {
				part[i] += x[(lo+i)*n+k]
			}
			a.roundAll(part)
		}
	}
}

// as returns a tensor in another element type, itself where that is its own.
func (c *Call) as(t *Tensor, e graph.ElemType) *Tensor {
	if t == nil || t.Elem == e {
		return t
	}
	r := c.Temp(e, t.Dims)
	convert(r, t, true, "up")
	return r
}
