package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// contribOps are the operators that onnxruntime's optimisers and exporters write.
func contribOps() map[string]operator {
	return merged(
		each(sameShape, "com.microsoft.Gelu", "com.microsoft.FastGelu", "com.microsoft.QuickGelu",
			"com.microsoft.BiasGelu", "com.microsoft.QLinearLeakyRelu", "com.microsoft.QLinearSigmoid"),
		map[string]operator{"com.microsoft.BiasSplitGelu": biasSplitGelu},
	)
}

// nothing leaves the outputs as they are declared.
func nothing(*ctx) error { return nil }

// bitmaskDropout packs its mask into words of 32 bits.
func bitmaskDropout(c *ctx) error {
	s := c.shape(0)
	c.set(0, s)
	if s != nil {
		c.set(1, graph.Shape{c.dim(c.ceilDivNum(c.product(s), 32))})
	}
	return nil
}

// biasSplitGelu halves the last axis.
func biasSplitGelu(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if len(s) > 0 {
		s[len(s)-1] = c.dim(c.floorDivNum(c.num(s[len(s)-1]), 2))
	}
	c.set(0, s)
	return nil
}

// swiglu takes gate and value as two inputs, or as the halves of one.
func swiglu(c *ctx) error {
	if c.has(1) {
		return sameShape(c)
	}
	return biasSplitGelu(c)
}

func torchEmbedding(c *ctx) error {
	table, at := c.shape(0), c.shape(1)
	if len(table) == 2 && at != nil {
		c.set(0, append(slices.Clone(at), table[1]))
	}
	return nil
}

// unfold cuts windows along an axis and appends their size.
func unfold(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if s == nil {
		return nil
	}
	k, err := c.axis(c.n.Int("dim", -1), len(s))
	if err != nil {
		return err
	}
	size, step := c.n.Int("size", 0), c.n.Int("step", 1)
	if size < 1 || step < 1 {
		return c.errorf("windows of %d every %d", size, step)
	}
	places := addNum(c.floorDivNum(subNum(c.num(s[k]), intNum(size)), step), intNum(1))
	if s[k], err = c.sizeOf(places); err != nil {
		return err
	}
	c.set(0, append(s, graph.Dim{N: size}))
	return nil
}

func wordConv(c *ctx) error {
	s, w := c.shape(0), c.shape(1)
	if len(s) > 1 && len(w) > 0 {
		c.set(0, append(slices.Clone(s[:len(s)-1]), w[0]))
	}
	return nil
}

func timeWarp(c *ctx) error {
	c.set(0, graph.Shape{{N: 2}, c.fresh()})
	return nil
}

// removePadding packs the tokens of all sequences.
func removePadding(c *ctx) error {
	s := c.shape(0)
	if len(s) != 3 {
		return nil
	}
	c.set(0, graph.Shape{c.fresh(), s[2]})
	c.set(1, graph.Shape{s[0], s[1]})
	c.set(2, graph.Shape{c.dim(addNum(c.num(s[0]), intNum(1)))})
	c.set(3, graph.ShapeOf(1))
	return nil
}

func restorePadding(c *ctx) error {
	s, at := c.shape(0), c.shape(1)
	if len(s) == 2 && len(at) == 2 {
		c.set(0, graph.Shape{at[0], at[1], s[1]})
	}
	return nil
}

func bifurcation(c *ctx) error {
	c.set(0, graph.Shape{c.fresh()})
	c.set(1, graph.Shape{})
	return nil
}
