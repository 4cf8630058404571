package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func movementOps() map[string]operator {
	return merged(
		map[string]operator{
			"Reshape": reshape, "Transpose": transpose, "Concat": concat, "Slice": slice, "Split": split,
			"Squeeze": squeeze, "Unsqueeze": unsqueeze, "Flatten": flatten, "Expand": expand, "Tile": tile, "Pad": pad,
			"DepthToSpace": depthToSpace, "SpaceToDepth": spaceToDepth, "CenterCropPad": centerCropPad,
			"Identity": identity, "com.microsoft.Pad": pad, "com.microsoft.QLinearConcat": concat,
			"com.microsoft.ExpandDims": expandDims,
		},
		each(sameShape, "Trilu", "ReverseSequence", "com.microsoft.Trilu"),
	)
}

func identity(c *ctx) error {
	c.setType(0, c.in(0))
	return nil
}

// reshape reads the target shape from the attribute (before opset 5) or from input 1.
func reshape(c *ctx) error {
	target := intNums(c.n.Ints("shape"))
	if c.n.Attr("shape") == nil {
		if target = c.nums(1); target == nil {
			if n := c.count(1); n >= 0 && n <= maxRank {
				c.set(0, c.freshShape(n))
			}
			return nil
		}
	}
	if len(target) > 64 {
		return c.errorf("a target of rank %d", len(target))
	}
	s, err := c.reshapeTo(c.shape(0), target)
	c.set(0, s)
	return err
}

func intNums(list []int64) []num {
	out := make([]num, len(list))
	for i, x := range list {
		out[i] = intNum(x)
	}
	return out
}

// reshapeTo fills in the entries 0 (as in the source, unless allowzero) and -1 (what is left).
func (c *ctx) reshapeTo(s graph.Shape, target []num) (graph.Shape, error) {
	out := make(graph.Shape, len(target))
	open := -1
	for i, x := range target {
		switch {
		case x.is(0) && c.n.Int("allowzero", 0) == 0:
			if s != nil && i >= len(s) {
				return nil, c.errorf("target entry %d is 0, the shape %s has no such dimension", i, s)
			}
			out[i] = c.fresh()
			if s != nil {
				out[i] = s[i]
			}
		case x.is(-1):
			if open >= 0 {
				return nil, c.errorf("the target has two entries of -1")
			}
			open = i
		default:
			d, err := c.sizeOf(x)
			if err != nil {
				return nil, err
			}
			out[i] = d
		}
	}
	return c.reshapeRest(s, out, target, open)
}

// reshapeRest finds the size of the entry -1, or of the only unknown one, and compares the numbers of elements.
func (c *ctx) reshapeRest(s, out graph.Shape, target []num, open int) (graph.Shape, error) {
	given := open >= 0
	if open < 0 {
		if open = loneUnknown(target); open < 0 {
			return out, c.sameSize(s, out)
		}
	}
	out[open] = c.fresh()
	if s == nil {
		return out, nil
	}
	left, right := cancel(s, slices.Delete(slices.Clone(out), open, open+1))
	n, m := c.product(left), c.product(right)
	if n.k == numInt && m.k == numInt {
		if m.i == 0 || n.i%m.i != 0 {
			if given && (m.i != 0 || n.i != 0) {
				return nil, c.errorf("the shape %s does not fit %s", s, numsString(target))
			}
			return out, nil
		}
	}
	if m.is(0) {
		return out, nil
	}
	if given || exactly(n, m) {
		out[open] = c.dim(c.div(n, m))
	}
	return out, nil
}

// exactly tells whether m divides n.
func exactly(n, m num) bool {
	a, ok := n.poly()
	b, both := m.poly()
	if !ok || !both {
		return false
	}
	_, ok = a.over(b)
	return ok
}

// loneUnknown returns the position of the only unknown entry, -1 where there are none or more.
func loneUnknown(target []num) int {
	at := -1
	for i, x := range target {
		if x.k == numUnknown {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

func numsString(list []num) string {
	s := make(graph.Shape, len(list))
	for i, x := range list {
		s[i] = graph.UnknownDim
		switch x.k {
		case numInt:
			if s[i] = (graph.Dim{N: x.i}); x.i < 0 {
				s[i] = graph.Dim{Sym: constPoly(x.i).String()}
			}
		case numPoly:
			s[i] = graph.Dim{Sym: x.p.String()}
		}
	}
	return s.String()
}

// cancel removes dimensions that occur in both shapes: what cannot be multiplied out may still cancel.
func cancel(a, b graph.Shape) (left, right graph.Shape) {
	right = slices.Clone(b)
	for _, d := range a {
		if i := slices.Index(right, d); i >= 0 && !(d.Known() && d.N == 0) {
			right = slices.Delete(right, i, i+1)
		} else {
			left = append(left, d)
		}
	}
	return left, right
}

// sameSize fails where two known shapes hold different numbers of elements.
func (c *ctx) sameSize(a, b graph.Shape) error {
	n, ok := elements(a)
	m, both := elements(b)
	if ok && both && n != m {
		return c.errorf("%s has %d elements, %s has %d", a, n, b, m)
	}
	return nil
}

func transpose(c *ctx) error {
	s := c.shape(0)
	perm := c.n.Ints("perm")
	if s == nil {
		if len(perm) > 0 && len(perm) <= maxRank {
			c.set(0, c.freshShape(len(perm)))
		}
		return nil
	}
	if perm == nil {
		for i := len(s) - 1; i >= 0; i-- {
			perm = append(perm, int64(i))
		}
	}
	if len(perm) != len(s) {
		return c.errorf("perm %v for shape %s", perm, s)
	}
	if _, err := c.axes(perm, len(s)); err != nil || slices.Min(append(perm, 0)) < 0 {
		return c.errorf("perm %v is no permutation", perm)
	}
	c.set(0, reorder(s, perm))
	return nil
}

// concatAxis is 1 where opset 1 leaves it out.
func (c *ctx) concatAxis() int64 { return c.n.Int("axis", 1) }

// concatInputs lists the positions of the tensors; the quantized form has three inputs a tensor.
func (c *ctx) concatInputs() []int {
	first, step := 0, 1
	if c.n.Op == "QLinearConcat" {
		first, step = 2, 3
	}
	var list []int
	for i := first; i < len(c.n.Inputs); i += step {
		list = append(list, i)
	}
	return list
}

func concat(c *ctx) error {
	inputs := c.concatInputs()
	var out graph.Shape
	for _, i := range inputs {
		if s := c.shape(i); s != nil {
			out = slices.Clone(s)
			break
		}
	}
	if out == nil {
		return nil
	}
	axis, err := c.axis(c.concatAxis(), len(out))
	if err != nil {
		return err
	}
	sum := intNum(0)
	for _, i := range inputs {
		s := c.shape(i)
		if s == nil {
			sum = num{}
			continue
		}
		if err := c.concatOne(out, s, axis); err != nil {
			return err
		}
		sum = addNum(sum, c.num(s[axis]))
	}
	out[axis] = c.dim(sum)
	c.set(0, out)
	return nil
}

func (c *ctx) concatOne(out, s graph.Shape, axis int) error {
	if len(s) != len(out) {
		return c.errorf("shapes %s and %s do not concatenate", out, s)
	}
	for i := range out {
		if i == axis {
			continue
		}
		d, err := c.unify(out[i], s[i])
		if err != nil {
			return err
		}
		out[i] = d
	}
	return nil
}

func squeeze(c *ctx) error {
	s := c.shape(0)
	axes := c.n.Ints("axes")
	known := true
	if c.has(1) {
		axes, known = c.consts(1)
	}
	if s == nil {
		return nil
	}
	if !known {
		if n := c.count(1); n >= 0 && n <= len(s) {
			c.set(0, c.freshShape(len(s)-n))
		}
		return nil
	}
	gone, err := c.squeezed(s, axes, c.has(1) || c.n.Attr("axes") != nil)
	if gone == nil || err != nil {
		return err
	}
	c.set(0, reducedShape(s, gone, false))
	return nil
}

// squeezed marks the dimensions that go: the named ones, or all of size 1, which is unknown where one is symbolic.
func (c *ctx) squeezed(s graph.Shape, axes []int64, given bool) ([]bool, error) {
	if !given {
		gone := make([]bool, len(s))
		for i, d := range s {
			if !d.Known() {
				return nil, nil
			}
			gone[i] = d.N == 1
		}
		return gone, nil
	}
	gone, err := c.axes(axes, len(s))
	if err != nil {
		return nil, err
	}
	for i, d := range s {
		if gone[i] && d.Known() && d.N != 1 {
			return nil, c.errorf("dimension %d of %s is not 1", i, s)
		}
	}
	return gone, nil
}

func unsqueeze(c *ctx) error {
	axes := c.n.Ints("axes")
	known := true
	if c.has(1) {
		axes, known = c.consts(1)
	}
	s := c.shape(0)
	if s == nil {
		return nil
	}
	if !known {
		if n := c.count(1); n >= 0 && n <= maxRank {
			c.set(0, c.freshShape(len(s)+n))
		}
		return nil
	}
	return c.unsqueezeAt(s, axes)
}

func (c *ctx) unsqueezeAt(s graph.Shape, axes []int64) error {
	added, err := c.axes(axes, len(s)+len(axes))
	if err != nil {
		return err
	}
	out := make(graph.Shape, 0, len(added))
	for _, one := range added {
		if one {
			out = append(out, graph.Dim{N: 1})
			continue
		}
		out, s = append(out, s[0]), s[1:]
	}
	c.set(0, out)
	return nil
}

// expandDims is unsqueeze at one axis, an input.
func expandDims(c *ctx) error {
	s := c.shape(0)
	axis := c.scalar(1)
	if s == nil {
		return nil
	}
	if axis.k != numInt {
		c.set(0, c.freshShape(len(s)+1))
		return nil
	}
	return c.unsqueezeAt(s, []int64{axis.i})
}

func flatten(c *ctx) error {
	s := c.shape(0)
	if s == nil {
		c.set(0, c.freshShape(2))
		return nil
	}
	axis := c.n.Int("axis", 1)
	r := int64(len(s))
	if axis < -r || axis > r {
		return c.errorf("axis %d is outside rank %d", axis, r)
	}
	if axis < 0 {
		axis += r
	}
	c.set(0, graph.Shape{c.dim(c.product(s[:axis])), c.dim(c.product(s[axis:]))})
	return nil
}

func expand(c *ctx) error {
	target := c.nums(1)
	s := c.shape(0)
	if target == nil {
		if n := c.count(1); n >= 0 && s != nil && n <= maxRank {
			c.set(0, c.freshShape(max(n, len(s))))
		}
		return nil
	}
	to := make(graph.Shape, len(target))
	for i, x := range target {
		d, err := c.sizeOf(x)
		if err != nil {
			return err
		}
		to[i] = d
	}
	out, err := c.broadcast(s, to)
	c.set(0, out)
	return err
}

// tile multiplies sizes; opset 1 repeats one axis.
func tile(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if s == nil {
		if n := c.count(1); n >= 0 && n <= maxRank && c.ver >= 6 {
			c.set(0, c.freshShape(n))
		}
		return nil
	}
	if c.ver < 6 {
		return c.tileAxis(s)
	}
	repeats := c.nums(1)
	if repeats == nil {
		c.set(0, c.freshShape(len(s)))
		return nil
	}
	if len(repeats) != len(s) {
		return c.errorf("%d repeats for shape %s", len(repeats), s)
	}
	for i, x := range repeats {
		d, err := c.sizeOf(mulNum(c.num(s[i]), x))
		if err != nil {
			return err
		}
		s[i] = d
	}
	c.set(0, s)
	return nil
}

func (c *ctx) tileAxis(s graph.Shape) error {
	axis := c.scalar(2).integral()
	if axis.k != numInt {
		c.set(0, c.freshShape(len(s)))
		return nil
	}
	i, err := c.axis(axis.i, len(s))
	if err != nil {
		return err
	}
	s[i] = c.dim(mulNum(c.num(s[i]), c.scalar(1).integral()))
	c.set(0, s)
	return nil
}
