package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func indexOps() map[string]operator {
	return merged(
		map[string]operator{
			"Gather": gather, "GatherElements": gatherElements, "GatherND": gatherND, "Compress": compress,
			"Unique": unique, "NonZero": nonZero, "TopK": topK, "OneHot": oneHot, "NonMaxSuppression": nonMaxSuppression,
			"com.microsoft.GatherND": gatherND, "com.microsoft.Unique": unique,
		},
		each(sameShape, "Scatter", "ScatterElements", "ScatterND", "TensorScatter"),
	)
}

func gather(c *ctx) error {
	s, at := c.shape(0), c.shape(1)
	if s == nil || at == nil {
		return c.wantRankAtLeast(0, 1)
	}
	if len(s) == 0 {
		return c.errorf("the data are a scalar")
	}
	axis, err := c.axis(c.n.Int("axis", 0), len(s))
	if err != nil {
		return err
	}
	c.set(0, concatShapes(s[:axis], at, s[axis+1:]))
	return nil
}

func gatherElements(c *ctx) error {
	s, at := c.shape(0), c.shape(1)
	if s != nil && at != nil && len(s) != len(at) {
		return c.errorf("data %s and indices %s have different ranks", s, at)
	}
	if s != nil {
		if _, err := c.axis(c.n.Int("axis", 0), len(s)); err != nil {
			return err
		}
	}
	c.set(0, at)
	return nil
}

// gatherND keeps the indices' leading dimensions and what the index tuples leave of the data.
func gatherND(c *ctx) error {
	s, at := c.shape(0), c.shape(1)
	if s == nil || at == nil {
		return nil
	}
	if len(at) == 0 || len(s) == 0 {
		return c.errorf("data %s or indices %s are a scalar", s, at)
	}
	tuple := at[len(at)-1]
	if !tuple.Known() {
		return nil
	}
	from := c.n.Int("batch_dims", 0) + tuple.N
	if from < 0 || from > int64(len(s)) {
		return c.errorf("index tuples of %d for data %s", tuple.N, s)
	}
	c.set(0, concatShapes(at[:len(at)-1], s[from:]))
	return nil
}

func compress(c *ctx) error {
	s := slices.Clone(c.shape(0))
	if c.n.Attr("axis") == nil {
		c.set(0, graph.Shape{c.fresh()})
		return nil
	}
	if s == nil {
		return nil
	}
	axis, err := c.axis(c.n.Int("axis", 0), len(s))
	if err != nil {
		return err
	}
	s[axis] = c.fresh()
	c.set(0, s)
	return nil
}

func unique(c *ctx) error {
	n := c.fresh()
	c.set(0, graph.Shape{n})
	s := slices.Clone(c.shape(0))
	back := c.fresh()
	if c.n.Attr("axis") == nil {
		if s != nil {
			back = c.dim(c.product(s))
		}
	} else if s == nil {
		c.set(0, nil)
	} else {
		axis, err := c.axis(c.n.Int("axis", 0), len(s))
		if err != nil {
			return err
		}
		back, s[axis] = s[axis], n
		c.set(0, s)
	}
	c.uniqueIndices(n, back)
	return nil
}

// uniqueIndices sets the outputs for first places, inverse and counts. The contrib form has inverse and counts.
func (c *ctx) uniqueIndices(n, back graph.Dim) {
	if c.n.Domain != "" {
		c.set(1, graph.Shape{back})
		c.set(2, graph.Shape{n})
		return
	}
	c.set(1, graph.Shape{n})
	c.set(2, graph.Shape{back})
	c.set(3, graph.Shape{n})
}

// nonZero yields one row an axis, none for a scalar.
func nonZero(c *ctx) error {
	rows := c.fresh()
	if r := c.rank(0); r >= 0 {
		rows = graph.Dim{N: int64(r)}
	}
	c.set(0, graph.Shape{rows, c.fresh()})
	return nil
}

// topK takes k from an attribute before opset 10.
func topK(c *ctx) error {
	s := slices.Clone(c.shape(0))
	k := intNum(c.n.Int("k", -1))
	if c.n.Attr("k") == nil {
		k = c.scalar(1)
	}
	if s == nil {
		return nil
	}
	axis, err := c.axis(c.n.Int("axis", -1), len(s))
	if err != nil {
		return err
	}
	if s[axis].Known() && k.k == numInt && k.i > s[axis].N {
		return c.errorf("the %d greatest of %d", k.i, s[axis].N)
	}
	if s[axis], err = c.sizeOf(k); err != nil {
		return err
	}
	c.set(0, s)
	c.set(1, s)
	return nil
}

func oneHot(c *ctx) error {
	s := c.shape(0)
	depth, err := c.sizeOf(c.scalar(1).integral())
	if s == nil || err != nil {
		return err
	}
	axis, err := c.axis(c.n.Int("axis", -1), len(s)+1)
	if err != nil {
		return err
	}
	c.set(0, slices.Insert(slices.Clone(s), axis, depth))
	return nil
}

func nonMaxSuppression(c *ctx) error {
	c.set(0, graph.Shape{c.fresh(), {N: 3}})
	return nil
}
