package refeval

import (
	"cmp"
	"slices"

	"github.com/amplint/amplint/graph"
)

// selectOps are operators that choose elements by their values.
func selectOps() []entry {
	return []entry{
		mover("Compress", compress),
		op("NonZero", nonZero),
		mover("OneHot", oneHot),
		mover("TopK", topK),
		mover("Unique", unique),
		mover("com.microsoft.Unique", uniqueInOrder),
	}
}

// compress keeps the slices along an axis, or the elements, for which a condition holds.
func compress(c *Call) error {
	x, cond := c.In(0), c.In(1)
	if !c.hasAttr("axis") {
		x = x.view([]int{x.Len()})
	}
	at := axis(c.Int("axis"), x.Rank())
	var keep []int
	for i := range min(x.Dims[at], cond.Len()) {
		if cond.I[i] != 0 {
			keep = append(keep, i)
		}
	}
	c.pickAlong(0, x, at, keep)
	return nil
}

// pickAlong sets output i to the slices of x that stand at the given places of an axis.
func (c *Call) pickAlong(i int, x *Tensor, at int, list []int) {
	dims := slices.Clone(x.Dims)
	dims[at] = len(list)
	y := c.Out(i, x.Elem, dims)
	outer, n, inner := split3(x.Dims, at)
	for o := range outer {
		for k, from := range list {
			copyRun(y, (o*len(list)+k)*inner, x, (o*n+from)*inner, inner)
		}
	}
}

// nonZero lists the places of what is not zero, a row for each dimension.
func nonZero(c *Call) error {
	x := c.In(0)
	var list []int
	for i := range x.Len() {
		if x.S != nil && x.S[i] != "" || x.S == nil && x.at64(i) != 0 {
			list = append(list, i)
		}
	}
	y := c.Out(0, graph.Int64, []int{x.Rank(), len(list)})
	for d, s := range strides(x.Dims) {
		for k, i := range list {
			y.I[d*len(list)+k] = int64(i / s % x.Dims[d])
		}
	}
	return nil
}

// oneHot marks the place of each index; indices out of range mark none.
func oneHot(c *Call) error {
	ind, values := c.In(0), c.In(2)
	depth := int(floatToInt(c.In(1).scalar(), graph.Int64))
	at := axis(c.Int("axis"), ind.Rank()+1)
	if values.Len() != 2 {
		refuse("%s values, not two", values)
	}
	y := c.Out(0, values.Elem, slices.Insert(slices.Clone(ind.Dims), at, depth))
	copyBox(y, whole(y), values, layout{strides: make([]int, y.Rank())}, y.Dims)
	inner := size(ind.Dims[at:])
	for i := range ind.Len() {
		k := int(floatToInt(ind.at64(i), graph.Int64))
		if k < 0 {
			k += depth
		}
		if k >= 0 && k < depth {
			copyRun(y, (i/inner*depth+k)*inner+i%inner, values, 1, 1)
		}
	}
	return nil
}

// topK sorts each row and keeps its first elements; of equal ones the earlier comes first. NaN
// counts as larger than every number, as numpy sorts it.
func topK(c *Call) error {
	x := c.In(0)
	k := c.Int("k")
	if c.Has(1) {
		k = c.In(1).int()
	}
	at := axis(c.Int("axis"), x.Rank())
	outer, n, inner := split3(x.Dims, at)
	if k < 0 || k > n {
		refuse("the first %d of %d", k, n)
	}
	dims := slices.Clone(x.Dims)
	dims[at] = k
	y, where := c.Out(0, x.Elem, dims), c.Out(1, graph.Int64, dims)
	order := x.order()
	if c.IntOr("largest", 1) != 0 {
		rising := order
		order = func(i, j int) int { return rising(j, i) }
	}
	c.parallel(outer*inner, 16*n, func(lo, hi int) {
		row := make([]int, n)
		for r := lo; r < hi; r++ {
			first := r/inner*n*inner + r%inner
			for i := range row {
				row[i] = first + i*inner
			}
			slices.SortStableFunc(row, order)
			for i, from := range row[:k] {
				to := (r/inner*k+i)*inner + r%inner
				copyRun(y, to, x, from, 1)
				where.I[to] = int64((from - first) / inner)
			}
		}
	})
	return nil
}

// order returns how elements i and j of the tensor compare; NaN is the largest.
func (t *Tensor) order() func(i, j int) int {
	switch storeOf(t.Elem) {
	case storeF:
		return func(i, j int) int { return -compareFloat(float64(t.F[i]), float64(t.F[j])) }
	case storeD:
		return func(i, j int) int { return -compareFloat(t.D[i], t.D[j]) }
	case storeS:
		return func(i, j int) int { return cmp.Compare(t.S[i], t.S[j]) }
	}
	if t.Elem == graph.Uint64 {
		return func(i, j int) int { return cmp.Compare(uint64(t.I[i]), uint64(t.I[j])) }
	}
	return func(i, j int) int { return cmp.Compare(t.I[i], t.I[j]) }
}

// compareFloat orders from the largest to the least, NaN first. That is package cmp's order of the
// negated numbers, where NaN is less than all.
func compareFloat(x, y float64) int { return cmp.Compare(-x, -y) }

// unique keeps the first of equal elements, or of equal slices along an axis.
func unique(c *Call) error {
	x := c.In(0)
	if !c.hasAttr("axis") {
		x = x.view([]int{x.Len()})
	}
	at := axis(c.Int("axis"), x.Rank())
	groups := equalSlices(x, at)
	if c.Int("sorted") == 0 {
		slices.SortFunc(groups, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	}
	first := make([]int, len(groups))
	for g, list := range groups {
		first[g] = list[0]
	}
	c.pickAlong(0, x, at, first)
	where, inverse, counts := c.Out(1, graph.Int64, []int{len(groups)}),
		c.Out(2, graph.Int64, []int{x.Dims[at]}), c.Out(3, graph.Int64, []int{len(groups)})
	for g, list := range groups {
		where.I[g], counts.I[g] = int64(list[0]), int64(len(list))
		for _, i := range list {
			inverse.I[i] = int64(g)
		}
	}
	return nil
}

// uniqueInOrder is onnxruntime's own form: the elements in the order they are first met, where each
// element went, and how often it was met.
func uniqueInOrder(c *Call) error {
	x := c.In(0)
	groups := equalSlices(x.view([]int{x.Len()}), 0)
	slices.SortFunc(groups, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	y := c.Out(0, x.Elem, []int{len(groups)})
	place, counts := c.Out(1, graph.Int64, []int{x.Len()}), c.Out(2, graph.Int64, []int{len(groups)})
	for g, list := range groups {
		copyRun(y, g, x, list[0], 1)
		counts.I[g] = int64(len(list))
		for _, i := range list {
			place.I[i] = int64(g)
		}
	}
	return nil
}

// equalSlices groups the places of an axis whose slices are equal, the groups in rising order of
// the slices, the places of a group in theirs.
func equalSlices(x *Tensor, at int) [][]int {
	outer, n, inner := split3(x.Dims, at)
	order := x.order()
	compare := func(a, b int) int {
		for o := range outer {
			for i := range inner {
				if r := order((o*n+a)*inner+i, (o*n+b)*inner+i); r != 0 {
					return r
				}
			}
		}
		return 0
	}
	places := allAxes(n)
	slices.SortStableFunc(places, compare)
	var groups [][]int
	for i, p := range places {
		if i == 0 || compare(places[i-1], p) != 0 {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], p)
	}
	return groups
}
