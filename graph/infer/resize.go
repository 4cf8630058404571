package infer

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

func resizeOps() map[string]operator {
	return merged(
		each(resize, "Resize", "Upsample"),
		each(gridSample, "GridSample", "com.microsoft.GridSample"),
		map[string]operator{"AffineGrid": affineGrid},
	)
}

// resize takes scales or sizes: Upsample as attributes (opset 1 one an axis, 7 a list) or input, Resize as inputs,
// of chosen axes since opset 18.
func resize(c *ctx) error {
	s := c.shape(0)
	if s == nil {
		return nil
	}
	axes := make([]int, len(s))
	for i := range axes {
		axes[i] = i
	}
	if list := c.n.Ints("axes"); list != nil {
		axes = axes[:0]
		for _, a := range list {
			k, err := c.axis(a, len(s))
			if err != nil {
				return err
			}
			axes = append(axes, k)
		}
	}
	scales, sizes := c.resizeTargets()
	out := slices.Clone(s)
	for _, k := range axes {
		out[k] = c.fresh()
	}
	err := c.resizeAxes(s, out, axes, scales, sizes)
	c.set(0, out)
	return err
}

func (c *ctx) resizeAxes(s, out graph.Shape, axes []int, scales, sizes []num) error {
	if len(sizes) > 0 {
		if len(sizes) != len(axes) {
			return c.errorf("%d sizes for %d axes", len(sizes), len(axes))
		}
		return c.resizeTo(s, out, axes, sizes)
	}
	if len(scales) == 0 {
		return nil
	}
	if len(scales) != len(axes) {
		return c.errorf("%d scales for %d axes", len(scales), len(axes))
	}
	for i, k := range axes {
		d, err := c.sizeOf(c.scaled(c.num(s[k]), scales[i]))
		if err != nil {
			return err
		}
		out[k] = d
	}
	return nil
}

// resizeTargets returns the scales and the sizes, nil where they are unknown or not given.
func (c *ctx) resizeTargets() (scales, sizes []num) {
	if c.n.Op == "Upsample" && c.ver < 9 {
		list := c.n.Floats("scales")
		if list == nil {
			list = []float32{1, 1, c.n.Float("height_scale", 1), c.n.Float("width_scale", 1)}
		}
		for _, f := range list {
			scales = append(scales, floatNum(float64(f)))
		}
		return scales, nil
	}
	if c.n.Op == "Upsample" || c.ver < 11 {
		return c.nums(1), nil
	}
	return c.nums(2), c.nums(3)
}

// scaled is ⌊size·scale⌋ in single precision, as onnxruntime computes it.
func (c *ctx) scaled(size, scale num) num {
	f, ok := scale.float()
	switch {
	case !ok || f < 0:
		return num{}
	case size.k == numInt:
		x := math.Floor(float64(float32(size.i) * float32(f)))
		if x >= 1<<40 {
			return num{}
		}
		return intNum(int64(x))
	case f == math.Trunc(f):
		return mulNum(size, intNum(int64(f)))
	case 1/f == math.Trunc(1/f) && f > 1e-6:
		return c.floorDivNum(size, int64(1/f))
	}
	return num{}
}

// resizeTo takes sizes; a policy other than "stretch" keeps the aspect ratio by one scale for all axes.
func (c *ctx) resizeTo(s, out graph.Shape, axes []int, sizes []num) error {
	policy := c.n.Str("keep_aspect_ratio_policy", "stretch")
	if policy == "stretch" {
		for i, k := range axes {
			d, err := c.sizeOf(sizes[i])
			if err != nil {
				return err
			}
			out[k] = d
		}
		return nil
	}
	scale := float32(0)
	for i, k := range axes {
		if !s[k].Known() || sizes[i].k != numInt || s[k].N == 0 {
			return nil
		}
		f := float32(sizes[i].i) / float32(s[k].N)
		if i == 0 || (policy == "not_larger") == (f < scale) {
			scale = f
		}
	}
	for _, k := range axes {
		out[k] = graph.Dim{N: int64(math.Floor(float64(scale*float32(s[k].N)) + 0.5))}
	}
	return nil
}

// gridSample takes the spatial sizes from the grid.
func gridSample(c *ctx) error {
	s, grid := c.shape(0), c.shape(1)
	if s == nil || grid == nil {
		return nil
	}
	if len(s) != len(grid) || len(s) < 3 {
		return c.errorf("data %s and grid %s do not fit", s, grid)
	}
	c.set(0, concatShapes(s[:2], grid[1:len(grid)-1]))
	return nil
}

// affineGrid yields a vector for each place of an image of size (N, C, …).
func affineGrid(c *ctx) error {
	size := c.orUnknown(1)
	if size == nil {
		return nil
	}
	if len(size) != 4 && len(size) != 5 {
		return c.errorf("a size of %d numbers", len(size))
	}
	out := graph.Shape{c.dim(size[0])}
	for _, x := range size[2:] {
		out = append(out, c.dim(x))
	}
	c.set(0, append(out, graph.Dim{N: int64(len(size) - 2)}))
	return nil
}
