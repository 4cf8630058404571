package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

func movementOps() map[string]op {
	ops := map[string]op{
		"Identity": {f: identityOp, exact: true}, "Dropout": {f: dropoutOp, exact: true}, "Reshape": exact(reshapeOp), "Squeeze": exact(reshapeOp),
		"Unsqueeze": exact(reshapeOp), "Flatten": exact(reshapeOp), "Transpose": exact(transposeOp), "Expand": exact(expandOp),
		"Tile": exact(tileOp), "Concat": exact(concatOp), "Split": {f: splitOp, exact: true}, "Slice": exact(sliceOp), "Gather": exact(gatherOp),
		"GatherElements": exact(gatherElementsOp), "GatherND": exact(flatOp), "ScatterElements": rounded(scatterOp), "Scatter": rounded(scatterOp),
		"ScatterND": rounded(scatterOp), "TensorScatter": exact(joinOp), "Pad": exact(padOp), "Trilu": exact(triluOp), "Compress": exact(flatOp),
		"DepthToSpace": exact(flatOp), "SpaceToDepth": exact(flatOp), "ReverseSequence": exact(flatOp), "CenterCropPad": exact(withZero),
		"Unique": {f: uniqueOp, exact: true}, "Cast": {f: castOp}, "CastLike": {f: castOp},
		"BitCast": exact(bitCastOp), "com.microsoft.Unique": {f: uniqueOp, exact: true}, "com.microsoft.ExpandDims": exact(flatOp), "com.microsoft.Pad": exact(padOp), "com.microsoft.GatherND": exact(flatOp),
		"com.microsoft.Trilu": exact(triluOp),
	}
	return ops
}

// with returns the value with other bounds, everything else as it is.
func (v *Val) with(dims []int, lo, hi []float64) *Val {
	w := v.clone().plain()
	w.dims, w.lo, w.hi = dims, lo, hi
	return w
}

func identityOp(c *call) []*Val { return []*Val{c.x(0)} }

// dropoutOp passes its input on, scaled in training; its mask is a condition.
func dropoutOp(c *call) []*Val {
	v := c.x(0)
	if t, known := c.number(2); c.has(2) && !(known && t == 0) {
		ratio := Range{0.5, 0.5}
		if c.has(1) {
			ratio = c.in[1].Hull()
		}
		top := math.Inf(1)
		if ratio.Hi < 1 {
			top = math.Max(1, 1/(1-ratio.Hi))
		}
		v = map1(v.flat(), func(x Range) Range { return mul(x, Range{0, top}) })
		v = v.roundedIn(c.elem(0))
	}
	return []*Val{v, c.condition()}
}

// roundedIn rounds the result of an operator that is otherwise exact.
func (v *Val) roundedIn(e graph.ElemType) *Val {
	if f, ok := held(e); ok {
		return roundTo(f, v, 1)
	}
	return v
}

// condition is a result of truth values.
func (c *call) condition() *Val {
	v := scalar(maybe)
	v.integer = true
	return v
}

func firstOp(c *call) *Val { return c.x(0) }

// expandOp repeats elements; weights no longer sum to 1.
func expandOp(c *call) *Val { return c.x(0).clone().plain() }

// flatOp rearranges or picks elements in a way that is not followed.
func flatOp(c *call) *Val { return c.x(0).flat() }

// joinOp mixes the elements of its first inputs.
func joinOp(c *call) *Val { return joined(c.x(0).flat(), c.x(1).flat()) }

// croppedOp interpolates between elements, or gives a constant outside of them.
func croppedOp(c *call) *Val {
	e := float64(c.n.Float("extrapolation_value", 0))
	return blended(joined(c.x(0).flat(), scalar(Range{e, e})))
}

// maskedPoolOp is a maximum of what stands before the end that the mask sets: of a window behind it onnxruntime
// returns the lowest number.
func maskedPoolOp(c *call) *Val {
	return joined(c.x(0).flat(), scalar(Range{-math.MaxFloat32, -math.MaxFloat32}))
}

func withZero(c *call) *Val { return joined(c.x(0).flat(), scalar(Range{})) }

// shapeOut returns the shape of an output.
func (c *call) shapeOut(i int) graph.Shape {
	if v := c.n.Out(i); v != nil {
		return v.Type.Shape
	}
	return nil
}

func reshapeOp(c *call) *Val { return reshape(c.x(0), c.shape(0), c.shapeOut(0)) }

// reshape carries bounds from one shape to another. Dimensions are matched in groups of equal
// products; a group whose elements are all kept apart keeps them, any other becomes one bound.
func reshape(v *Val, from, to graph.Shape) *Val {
	if from == nil || to == nil || len(v.dims) > len(from) || len(v.lo) == 0 {
		return v.flat()
	}
	shares := v.shares
	v = v.with(pad(v.dims, len(from)), v.lo, v.hi)
	keep := make([]bool, len(from))
	var dims []int
	for _, g := range groups(from, to) {
		whole := g.exact
		for i := g.in; i < g.inEnd; i++ {
			whole = whole && from[i].Known() && int64(v.dims[i]) == from[i].N
		}
		one := g.exact && g.inEnd-g.in == 1 && g.outEnd-g.out == 1
		for i := g.in; i < g.inEnd; i++ {
			keep[i] = whole || one
		}
		for o := g.out; o < g.outEnd; o++ {
			switch {
			case one:
				dims = append(dims, v.dims[g.in])
			case whole:
				dims = append(dims, int(to[o].N))
			default:
				dims = append(dims, 1)
			}
		}
	}
	w := v.collapse(keep)
	if size(dims) != len(w.lo) {
		return v.flat()
	}
	out := w.with(dims, w.lo, w.hi)
	out.shares = shares.carried(from, to)
	return out
}

// carried follows the axis of weights to another shape, where it is an axis of its own there too, axes
// of length 1 aside.
func (s simplex) carried(from, to graph.Shape) simplex {
	if s.grid != 0 {
		return s.moved(from, to)
	}
	at := len(from) - s.axis
	for _, g := range groups(from, to) {
		if s.axis == 0 || at < g.in || at >= g.inEnd || !g.exact {
			continue
		}
		if i, o := only(from, g.in, g.inEnd), only(to, g.out, g.outEnd); i == at && o >= 0 {
			return simplex{axis: len(to) - o, most: s.most, unit: s.unit}
		}
	}
	if s.axis > 0 && at >= 0 && from[at].Known() && from[at].N > 1 {
		return s.moved(from, to)
	}
	return simplex{}
}

// only returns the axis between two that is not of length 1, the only axis where there is just one, and
// -1 where there are several.
func only(s graph.Shape, from, to int) int {
	if to-from == 1 {
		return from
	}
	at := -1
	for i := from; i < to; i++ {
		if s[i] == (graph.Dim{N: 1}) {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// group matches input dimensions [in, inEnd) with output dimensions [out, outEnd).
type group struct {
	in, inEnd, out, outEnd int
	exact                  bool // they hold the same elements
}

// groups matches the dimensions of two shapes from the front, then from the back; what is left in
// the middle is one group that is not exact.
func groups(from, to graph.Shape) []group {
	var front, back []group
	i, o := 0, 0
	for i < len(from) && o < len(to) {
		g, ok := match(from[i:], to[o:], false)
		if !ok {
			break
		}
		front = append(front, group{i, i + g.inEnd, o, o + g.outEnd, true})
		i, o = i+g.inEnd, o+g.outEnd
	}
	iEnd, oEnd := len(from), len(to)
	for i < iEnd && o < oEnd {
		g, ok := match(from[i:iEnd], to[o:oEnd], true)
		if !ok {
			break
		}
		back = append(back, group{iEnd - g.inEnd, iEnd, oEnd - g.outEnd, oEnd, true})
		iEnd, oEnd = iEnd-g.inEnd, oEnd-g.outEnd
	}
	slices.Reverse(back)
	if i < iEnd || o < oEnd {
		front = append(front, group{i, iEnd, o, oEnd, ones(from[i:iEnd]) && ones(to[o:oEnd])})
	}
	return append(front, back...)
}

func ones(s graph.Shape) bool {
	for _, d := range s {
		if d != (graph.Dim{N: 1}) {
			return false
		}
	}
	return true
}

// match finds the smallest group of equal products at the front of two shapes, or at their back.
func match(from, to graph.Shape, back bool) (group, bool) {
	pick := func(s graph.Shape, i int) graph.Dim {
		if back {
			return s[len(s)-1-i]
		}
		return s[i]
	}
	a, b := pick(from, 0), pick(to, 0)
	if a == b && (a.Known() || a.Sym != "") {
		return group{inEnd: 1, outEnd: 1}, true
	}
	if !a.Known() || !b.Known() || a.N == 0 || b.N == 0 {
		return group{}, false
	}
	p, q, i, o := a.N, b.N, 1, 1
	for p != q {
		s, k := from, &i
		if q < p {
			s, k = to, &o
		}
		if *k >= len(s) || !pick(s, *k).Known() || pick(s, *k).N == 0 {
			return group{}, false
		}
		if q < p {
			q *= pick(s, *k).N
		} else {
			p *= pick(s, *k).N
		}
		*k++
	}
	return group{inEnd: i, outEnd: o}, true
}

func transposeOp(c *call) *Val {
	v, ok := c.full(0)
	if !ok {
		return v.flat()
	}
	perm := c.n.Ints("perm")
	if perm == nil {
		for i := range v.dims {
			perm = append(perm, int64(len(v.dims)-1-i))
		}
	}
	return transpose(v, perm)
}

// transpose permutes the axes of a value.
func transpose(v *Val, perm []int64) *Val {
	if len(perm) != len(v.dims) {
		return v.flat()
	}
	dims, steps, from := make([]int, len(perm)), make([]int, len(perm)), strides(v.dims)
	for i, p := range perm {
		if p < 0 || int(p) >= len(perm) {
			return v.flat()
		}
		dims[i], steps[i] = v.dims[p], from[p]
	}
	if size(dims) != len(v.lo) {
		return v.flat()
	}
	lo, hi := make([]float64, len(v.lo)), make([]float64, len(v.hi))
	walk(dims, [][]int{steps}, func(i int, at []int) { lo[i], hi[i] = v.lo[at[0]], v.hi[at[0]] })
	out := v.with(dims, lo, hi)
	var to grid
	for i, p := range perm {
		if v.shares.axes().has(len(perm) - int(p)) {
			to = to.with(len(perm) - i)
		}
	}
	if to != 0 {
		out.shares = v.shares.over(to)
	}
	return out
}

// tileOp repeats axes: one that is repeated loses its order.
func tileOp(c *call) *Val {
	v, ok := c.full(0)
	n, known := c.ints(1)
	if !ok || !known || len(n) != len(v.dims) {
		return v.flat()
	}
	keep := make([]bool, len(v.dims))
	for i := range keep {
		keep[i] = n[i] == 1
	}
	return v.collapse(keep)
}

// pick takes the elements at some places along an axis; an axis that is not kept apart stays so.
func (v *Val) pick(axis int, at []int) *Val {
	n := v.dims[axis]
	if n == 1 {
		return v.clone().plain()
	}
	dims := slices.Clone(v.dims)
	dims[axis] = len(at)
	inner := size(v.dims[axis+1:])
	lo, hi := make([]float64, 0, size(dims)), make([]float64, 0, size(dims))
	for o := 0; o < len(v.lo); o += n * inner {
		for _, i := range at {
			if i < 0 || i >= n {
				return v.flat()
			}
			lo = append(lo, v.lo[o+i*inner:o+(i+1)*inner]...)
			hi = append(hi, v.hi[o+i*inner:o+(i+1)*inner]...)
		}
	}
	return v.with(dims, lo, hi)
}

// joinAxis makes one bound of an axis.
func (v *Val) joinAxis(axis int) *Val {
	keep := make([]bool, len(v.dims))
	for i := range keep {
		keep[i] = i != axis
	}
	return v.collapse(keep)
}

func seq(from, to int) []int {
	var s []int
	for i := from; i < to; i++ {
		s = append(s, i)
	}
	return s
}

// concatOp puts the bounds side by side where all lengths along the axis are known and few.
func concatOp(c *call) *Val {
	rank := c.rank(0)
	axis, ok := c.axis("axis", 1, rank)
	parts, total := make([]*Val, len(c.in)), 0
	for i := range c.in {
		v, full := c.full(i)
		s := c.shape(i)
		if ok = ok && full && len(s) == rank; !ok {
			break
		}
		known := s[axis].Known()
		if known && s[axis].N == 0 {
			continue
		}
		if total += int(s[axis].N); !known || total > maxChannels {
			ok = false
			break
		}
		parts[i] = v
	}
	if !ok {
		return c.joinInputs()
	}
	return c.concat(parts, axis, total)
}

// joinInputs makes one bound of all inputs.
func (c *call) joinInputs() *Val {
	v := c.x(0).flat()
	for i := 1; i < len(c.in); i++ {
		v = joined(v, c.x(i).flat())
	}
	return v
}

func (c *call) concat(parts []*Val, axis, total int) *Val {
	rest := make([]*Val, 0, len(parts))
	for _, v := range parts {
		if v != nil {
			rest = append(rest, v.joinAxis(axis))
		}
	}
	dims, ok := broadcast(rest...)
	if len(rest) == 0 || !ok || countUpTo(append(slices.Clone(dims), total), 1<<20) > 1<<20 {
		return c.joinInputs()
	}
	out := c.joinInputs()
	dims = slices.Clone(dims)
	dims[axis] = total
	if countUpTo(dims, maxKept) > maxKept {
		keep := layout(dims)
		for i := range dims {
			if !keep[i] && i != axis {
				dims[i] = 1
			}
		}
	}
	lo, hi := make([]float64, size(dims)), make([]float64, size(dims))
	at := 0
	for i, v := range parts {
		if v != nil {
			n := int(c.shape(i)[axis].N)
			place(lo, hi, dims, v, axis, at, n)
			at += n
		}
	}
	return out.with(dims, lo, hi)
}

// place writes a value's bounds into a slab of a larger one.
func place(lo, hi []float64, dims []int, v *Val, axis, at, n int) {
	keep := make([]bool, len(dims))
	for i, d := range dims {
		keep[i] = d != 1 || i == axis
	}
	v = v.collapse(keep)
	slab := slices.Clone(dims)
	slab[axis] = n
	to := strides(dims)
	if dims[axis] == 1 {
		to[axis] = 0
	}
	walk(slab, [][]int{strides(v.dims), to}, func(_ int, k []int) {
		j := k[1] + at*to[axis]
		lo[j], hi[j] = v.lo[k[0]], v.hi[k[0]]
	})
}
