package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func poolOps() map[string]operator {
	return merged(
		each(pool, "MaxPool", "AveragePool", "LpPool", "com.microsoft.QLinearAveragePool", "com.microsoft.NhwcMaxPool"),
		each(globalPool, "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool",
			"com.microsoft.QLinearGlobalAveragePool"),
		map[string]operator{"MaxUnpool": maxUnpool, "MaxRoiPool": maxRoiPool, "RoiAlign": roiAlign},
	)
}

// pool keeps batch and channels; MaxPool also yields indices.
func pool(c *ctx) error {
	s := c.shape(0)
	if err := c.wantRankAtLeast(0, 2); err != nil || s == nil {
		return err
	}
	last := c.n.Int("channels_last", 0) != 0 || c.n.Op == "NhwcMaxPool"
	spatial := s[2:]
	if last {
		spatial = s[1 : len(s)-1]
	}
	if c.n.Attr("kernel_shape") == nil {
		return c.errorf("attribute %q is missing", "kernel_shape")
	}
	w, err := c.window(len(spatial), nil)
	if err != nil {
		return err
	}
	out, err := w.over(c, spatial)
	if err != nil {
		return err
	}
	whole := concatShapes(s[:2], out)
	if last {
		whole = concatShapes(s[:1], out, s[len(s)-1:])
	}
	c.set(0, whole)
	c.set(1, whole)
	return nil
}

func globalPool(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if s == nil {
		return nil
	}
	if len(s) < 2 {
		return c.errorf("input 0 has shape %s, rank 2 or more is wanted", s)
	}
	from, to := 2, len(s)
	if c.n.Int("channels_last", 0) != 0 {
		from, to = 1, len(s)-1
	}
	for i := from; i < to; i++ {
		s[i] = graph.Dim{N: 1}
	}
	c.set(0, s)
	return nil
}

// maxUnpool inverts the arithmetic of a pool, or takes the shape of input 2.
func maxUnpool(c *ctx) error {
	s := c.shape(0)
	if s == nil {
		return nil
	}
	if err := c.wantRankAtLeast(0, 3); err != nil {
		return err
	}
	if c.has(2) {
		sizes := c.orUnknown(2)
		if sizes == nil {
			sizes = make([]num, len(s))
		}
		out := make(graph.Shape, len(sizes))
		for i, x := range sizes {
			out[i] = c.dim(x)
		}
		c.set(0, out)
		return nil
	}
	w, err := c.window(len(s)-2, nil)
	if err != nil {
		return err
	}
	spatial, err := c.transposedSizes(w, s[2:])
	c.set(0, concatShapes(s[:2], spatial))
	return err
}

// regions returns the number of regions and the channels.
func (c *ctx) regions() (n, channels graph.Dim) {
	n, channels = c.fresh(), c.fresh()
	if s := c.shape(1); len(s) > 0 {
		n = s[0]
	}
	if s := c.shape(0); len(s) > 1 {
		channels = s[1]
	}
	return n, channels
}

func maxRoiPool(c *ctx) error {
	n, channels := c.regions()
	size := c.n.Ints("pooled_shape")
	if len(size) != 2 || slices.Min(size) < 0 {
		return c.errorf("pooled_shape %v", size)
	}
	c.set(0, append(graph.Shape{n, channels}, graph.ShapeOf(size...)...))
	return nil
}

func roiAlign(c *ctx) error {
	n, channels := c.regions()
	h, w := c.n.Int("output_height", 1), c.n.Int("output_width", 1)
	if h < 0 || w < 0 {
		return c.errorf("output of %d by %d", h, w)
	}
	c.set(0, graph.Shape{n, channels, {N: h}, {N: w}})
	return nil
}

func cropAndResize(c *ctx) error {
	n, channels := c.regions()
	out := append(graph.Shape{n, channels}, c.freshShape(2)...)
	if size := c.nums(3); len(size) == 2 {
		out[2], out[3] = c.dim(size[0]), c.dim(size[1])
	}
	c.set(0, out)
	return nil
}
