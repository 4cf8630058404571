package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// pads returns what Pad adds at both ends of each axis: an attribute before opset 11, an input since, of chosen
// axes since 18. Nil is unknown.
func (c *ctx) pads(rank int) ([]num, error) {
	list := intNums(c.n.Ints("pads"))
	if c.n.Attr("pads") == nil {
		list = intNums(c.n.Ints("paddings")) // opset 1
		if c.n.Attr("paddings") == nil {
			list = c.nums(1)
		}
	}
	if list == nil {
		return nil, nil
	}
	axes, known := c.consts(3)
	if !c.has(3) {
		if len(list) != 2*rank {
			return nil, c.errorf("%d pads for rank %d", len(list), rank)
		}
		return list, nil
	}
	if !known {
		return nil, nil
	}
	if len(list) != 2*len(axes) {
		return nil, c.errorf("%d pads for %d axes", len(list), len(axes))
	}
	out := slices.Repeat([]num{intNum(0)}, 2*rank)
	for i, a := range axes {
		k, err := c.axis(a, rank)
		if err != nil {
			return nil, err
		}
		out[k], out[rank+k] = list[i], list[len(axes)+i]
	}
	return out, nil
}

func pad(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if s == nil {
		return nil
	}
	pads, err := c.pads(len(s))
	if err != nil {
		return err
	}
	if pads == nil {
		c.set(0, c.freshShape(len(s)))
		return nil
	}
	for i := range s {
		sum := addNum(pads[i], pads[len(s)+i])
		if s[i], err = c.sizeOf(addNum(c.num(s[i]), sum)); err != nil {
			return err
		}
	}
	c.set(0, s)
	return nil
}

// crop is the deprecated experimental operator: border (left, top, right, bottom), or border and scale.
func crop(c *ctx) error {
	s := slices.Clone(c.shape(0))
	border, scale := c.n.Ints("border"), c.n.Ints("scale")
	if len(s) != 4 || len(border) != 4 || scale != nil && len(scale) != 2 {
		return nil
	}
	for i := range 2 {
		n := subNum(c.num(s[2+i]), intNum(border[1-i]+border[3-i]))
		if scale != nil {
			n = intNum(scale[i])
		}
		d, err := c.sizeOf(n)
		if err != nil {
			return err
		}
		s[2+i] = d
	}
	c.set(0, s)
	return nil
}

// centerCropPad sets the sizes of the chosen axes.
func centerCropPad(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if s == nil {
		return nil
	}
	axes := c.n.Ints("axes")
	if c.n.Attr("axes") == nil {
		for i := range s {
			axes = append(axes, int64(i))
		}
	}
	target := c.nums(1)
	if target != nil && len(target) != len(axes) {
		return c.errorf("%d sizes for %d axes", len(target), len(axes))
	}
	for i, a := range axes {
		k, err := c.axis(a, len(s))
		if err != nil {
			return err
		}
		s[k] = c.fresh()
		if target == nil {
			continue
		}
		if s[k], err = c.sizeOf(target[i]); err != nil {
			return err
		}
	}
	c.set(0, s)
	return nil
}

// split divides an axis: by the attribute (before opset 13), by the input, or evenly.
func split(c *ctx) error {
	s := c.shape(0)
	if s == nil {
		return nil
	}
	axis, err := c.axis(c.n.Int("axis", 0), len(s))
	if err != nil {
		return err
	}
	sizes := intNums(c.n.Ints("split"))
	if c.n.Attr("split") == nil {
		sizes = c.orUnknown(1)
		if !c.has(1) {
			sizes = c.evenly(s[axis])
		}
	}
	if len(sizes) != len(c.out) && sizes != nil {
		return c.errorf("%d parts for %d outputs", len(sizes), len(c.out))
	}
	if err := c.sumsTo(sizes, s[axis]); err != nil {
		return err
	}
	for i := range c.out {
		part := slices.Clone(s)
		part[axis] = c.fresh()
		if sizes != nil {
			if part[axis], err = c.sizeOf(sizes[i]); err != nil {
				return err
			}
		}
		c.set(i, part)
	}
	return nil
}

// evenly returns the sizes of equal parts; since opset 18 the last may be smaller.
func (c *ctx) evenly(d graph.Dim) []num {
	n := int64(len(c.out))
	out := make([]num, n)
	size := c.num(d)
	each := c.floorDivNum(size, n)
	if c.ver >= 18 {
		each = c.ceilDivNum(size, n)
	}
	for i := range out {
		out[i] = each
	}
	if size.k == numInt && each.k == numInt && c.ver >= 18 {
		for i := range out {
			out[i] = intNum(clamp(size.i-int64(i)*each.i, 0, each.i))
		}
	}
	return out
}

// sumsTo fails where known parts do not make up the whole.
func (c *ctx) sumsTo(sizes []num, d graph.Dim) error {
	sum := intNum(0)
	for _, x := range sizes {
		sum = addNum(sum, x)
	}
	if len(sizes) > 0 && sum.k == numInt && d.Known() && sum.i != d.N {
		return c.errorf("parts of %d in all of a dimension of %d", sum.i, d.N)
	}
	return nil
}

// depthToSpace moves blocksize² channels into the plane.
func depthToSpace(c *ctx) error { return c.blocks(true) }

// spaceToDepth is the inverse.
func spaceToDepth(c *ctx) error { return c.blocks(false) }

func (c *ctx) blocks(toSpace bool) error {
	if err := c.wantRank(0, 4); err != nil {
		return err
	}
	s, b := c.shape(0), c.n.Int("blocksize", 0)
	if b <= 0 || b > 1<<20 {
		return c.errorf("blocksize %d", b)
	}
	if s == nil {
		c.set(0, c.freshShape(4))
		return nil
	}
	out := slices.Clone(s)
	if toSpace {
		out[1] = c.dim(c.floorDivNum(c.num(s[1]), b*b))
		out[2], out[3] = c.dim(mulNum(c.num(s[2]), intNum(b))), c.dim(mulNum(c.num(s[3]), intNum(b)))
	} else {
		out[1] = c.dim(mulNum(c.num(s[1]), intNum(b*b)))
		out[2], out[3] = c.dim(c.floorDivNum(c.num(s[2]), b)), c.dim(c.floorDivNum(c.num(s[3]), b))
	}
	c.set(0, out)
	return nil
}
