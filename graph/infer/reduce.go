package infer

import "github.com/amplint/amplint/graph"

func reduceOps() map[string]operator {
	return merged(
		each(reduce, "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
			"ReduceProd", "ReduceSum", "ReduceSumSquare", "com.microsoft.QLinearReduceMean"),
		each(argReduce, "ArgMax", "ArgMin"),
		each(sameShape, "CumSum", "CumProd"),
	)
}

// reducedAxes marks the axes that a reduction takes away; known is false where they depend on a value that is not
// constant. Axes are an attribute, or since opset 13 (ReduceSum) and 18 an input.
func (c *ctx) reducedAxes(rank int) (reduced []bool, known bool, err error) {
	axes := c.n.Ints("axes")
	if axes == nil && c.has(1) && c.n.Domain == "" {
		list, ok := c.consts(1)
		if !ok {
			if c.count(1) != 0 {
				return nil, false, nil
			}
		}
		axes = list
	}
	if len(axes) > 0 {
		reduced, err = c.axes(axes, rank)
		return reduced, true, err
	}
	reduced = make([]bool, rank)
	for i := range reduced {
		reduced[i] = c.n.Int("noop_with_empty_axes", 0) == 0
	}
	return reduced, true, nil
}

func reduce(c *ctx) error {
	s := c.shape(0)
	keep := c.n.Int("keepdims", 1) != 0
	if s == nil {
		if !keep && c.n.Attr("axes") == nil && !c.has(1) {
			c.set(0, graph.Shape{})
		}
		return nil
	}
	reduced, known, err := c.reducedAxes(len(s))
	if err != nil {
		return err
	}
	if !known {
		c.reduceUnknown(len(s), keep)
		return nil
	}
	c.set(0, reducedShape(s, reduced, keep))
	return nil
}

// reduceUnknown leaves the sizes open; the rank follows from the number of axes.
func (c *ctx) reduceUnknown(rank int, keep bool) {
	n := c.count(1)
	switch {
	case keep:
		c.set(0, c.freshShape(rank))
	case n > 0 && n <= rank:
		c.set(0, c.freshShape(rank-n))
	}
}

func reducedShape(s graph.Shape, reduced []bool, keep bool) graph.Shape {
	out := graph.Shape{}
	for i, d := range s {
		switch {
		case !reduced[i]:
			out = append(out, d)
		case keep:
			out = append(out, graph.Dim{N: 1})
		}
	}
	return out
}

func argReduce(c *ctx) error {
	s := c.shape(0)
	if s == nil {
		return nil
	}
	axis, err := c.axis(c.n.Int("axis", 0), len(s))
	if err != nil {
		return err
	}
	reduced := make([]bool, len(s))
	reduced[axis] = true
	c.set(0, reducedShape(s, reduced, c.n.Int("keepdims", 1) != 0))
	return nil
}
