package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func normalizeOps() map[string]operator {
	return merged(
		each(sameShape, "GroupNormalization", "InstanceNormalization", "LRN", "MeanVarianceNormalization",
			"RMSNormalization", "com.microsoft.BiasSoftmax", "com.microsoft.QLinearSoftmax",
			"com.microsoft.GroupNorm", "com.microsoft.BiasAdd"),
		each(alongAxisOp, "Softmax", "LogSoftmax", "Hardmax", "LpNormalization"),
		each(layerNorm, "LayerNormalization", "SimplifiedLayerNormalization", "com.microsoft.LayerNormalization",
			"com.microsoft.SimplifiedLayerNormalization"),
		each(skipNorm, "com.microsoft.SkipLayerNormalization", "com.microsoft.SkipSimplifiedLayerNormalization"),
		map[string]operator{"BatchNormalization": batchNorm, "com.microsoft.SkipGroupNorm": skipGroupNorm,
			"com.microsoft.EmbedLayerNormalization": embedNorm},
	)
}

// alongAxisOp keeps the shape and checks the axis.
func alongAxisOp(c *ctx) error {
	c.set(0, c.shape(0))
	def := int64(-1)
	if c.ver < 13 && c.n.Op != "LpNormalization" {
		def = 1
	}
	if r := c.rank(0); r > 0 && c.n.Attr("axis") != nil {
		if axis := c.n.Int("axis", def); axis != int64(r) { // opset 1 allows the rank itself
			_, err := c.axis(axis, r)
			return err
		}
	}
	return nil
}

// batchNorm yields statistics a channel beside the result: four before opset 9, two in training since 14.
func batchNorm(c *ctx) error {
	s := c.shape(0)
	c.set(0, s)
	channel := c.fresh()
	if len(s) > 1 {
		channel = s[1]
	}
	for i := 1; i < 5; i++ {
		if p := c.shape(i); len(p) == 1 {
			d, err := c.unify(channel, p[0])
			if err != nil {
				return c.errorf("input %d has shape %s, the input has %s channels", i, p, channel)
			}
			channel = d
		}
	}
	for i := 1; i < len(c.out); i++ {
		c.set(i, graph.Shape{channel})
	}
	return nil
}

// layerNorm yields mean and inverse deviation in the type of stash_type, with 1 for each normalised axis.
func layerNorm(c *ctx) error {
	s := c.shape(0)
	c.set(0, s)
	stash := graph.ElemType(c.n.Int("stash_type", int64(graph.Float)))
	for i := 1; i < len(c.out); i++ {
		c.elem(i, stash)
	}
	if s == nil {
		return nil
	}
	axis, err := c.axis(c.n.Int("axis", -1), len(s))
	if err != nil {
		return err
	}
	for i := 1; i < len(c.out); i++ {
		c.set(i, onesFrom(s, axis))
	}
	return nil
}

// onesFrom replaces the sizes from an axis on by 1.
func onesFrom(s graph.Shape, axis int) graph.Shape {
	s = slices.Clone(s)
	for i := axis; i < len(s); i++ {
		s[i] = graph.Dim{N: 1}
	}
	return s
}

// skipNorm also yields mean, inverse deviation and the sum before the norm.
func skipNorm(c *ctx) error {
	s := c.shape(0)
	c.set(0, s)
	c.set(3, s)
	for i := 1; i < 3; i++ {
		c.elem(i, graph.Float)
		if len(s) > 0 {
			c.set(i, onesFrom(s, len(s)-1))
		}
	}
	return nil
}

func skipGroupNorm(c *ctx) error {
	c.set(0, c.shape(0))
	c.set(1, c.shape(0))
	return nil
}

// embedNorm adds the width of the table of words to the ids' shape.
func embedNorm(c *ctx) error {
	ids, table := c.shape(0), c.shape(2)
	if err := c.wantRank(0, 2); err != nil {
		return err
	}
	batch, hidden := c.freshShape(2), c.fresh()
	if ids != nil {
		batch = ids
	}
	if len(table) == 2 {
		hidden = table[1]
	}
	out := graph.Shape{batch[0], batch[1], hidden}
	c.set(0, out)
	c.set(1, graph.Shape{batch[0]})
	c.set(2, out)
	return nil
}
