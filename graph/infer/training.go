package infer

import "github.com/amplint/amplint/graph"

// trainingOps are the gradients and optimizers of the graphs that onnxruntime trains with, and the standard's own
// preview of training.
func trainingOps() map[string]operator {
	return merged(
		each(likeInputs(0), "com.microsoft.ReluGrad", "com.microsoft.BiasGeluGrad_dX", "com.microsoft.SoftmaxGrad_13",
			"com.microsoft.LogSoftmaxGrad_13", "com.microsoft.TanhGrad", "com.microsoft.GeluGrad",
			"com.microsoft.FastGeluGrad", "com.microsoft.Scale", "com.microsoft.SoftmaxGrad", "com.microsoft.LogSoftmaxGrad",
			"com.microsoft.InPlaceAccumulator"),
		each(scalarOut, "com.microsoft.IsAllFinite"), each(fusedMatmul, "com.microsoft.FusedMatMulActivation"),
		each(likeInputs(1), "com.microsoft.SoftmaxCrossEntropyLossGrad"),
		each(likeInputs(1, 2), "com.microsoft.DivGrad"),
		each(likeInputs(1, 2, 2), "com.microsoft.LayerNormalizationGrad", "com.microsoft.BatchNormalizationGrad",
			"com.microsoft.SimplifiedLayerNormalizationGrad"),
		each(likeShapeInput(0), "com.microsoft.GatherGrad"),
		map[string]operator{
			"com.microsoft.ConvGrad": convGrad, "com.microsoft.BatchNormInternal": batchNorm,
			"com.microsoft.InPlaceAccumulatorV2": accumulate, "com.microsoft.AdamWOptimizer": adamW,
			"ai.onnx.preview.training.Adagrad": optimizer(3, 2), "ai.onnx.preview.training.Adam": optimizer(4, 3),
			"ai.onnx.preview.training.Momentum": optimizer(3, 2),
		},
	)
}

// likeInputs gives each output the type of the input at the same place of the list.
func likeInputs(inputs ...int) operator {
	return func(c *ctx) error {
		for i, j := range inputs {
			c.elem(i, c.in(j).Elem)
			c.set(i, c.shape(j))
		}
		return nil
	}
}

// likeShapeInput gives the output the shape that an input holds.
func likeShapeInput(i int) operator {
	return func(c *ctx) error {
		var s graph.Shape
		for _, x := range c.orUnknown(i) {
			d, err := c.sizeOf(x)
			if err != nil {
				return err
			}
			s = append(s, d)
		}
		c.set(0, s)
		return nil
	}
}

func convGrad(c *ctx) error {
	if err := likeInputs(1, 2)(c); err != nil {
		return err
	}
	if w := c.shape(2); len(w) > 0 {
		c.set(2, graph.Shape{w[0]})
	}
	return nil
}

func accumulate(c *ctx) error {
	c.set(0, graph.ShapeOf(1))
	c.set(1, c.shape(0))
	return nil
}

// adamW updates sequences of weights and moments.
func adamW(c *ctx) error {
	c.set(0, graph.ShapeOf(1))
	c.setType(1, c.in(2))
	c.setType(2, c.in(4))
	c.setType(3, c.in(5))
	return nil
}

func sgd(c *ctx) error {
	c.set(0, graph.ShapeOf(1))
	c.setType(1, c.in(1))
	return nil
}

// passThrough gives each output the type of its input. The gradients of the standard have the shapes of the values
// in xs, which are the first inputs.
func passThrough(c *ctx) error {
	for i := range c.out {
		c.setType(i, c.in(i))
	}
	return nil
}

func scaleAll(c *ctx) error {
	to := graph.ElemType(c.n.Int("to", 0))
	for i := range c.out {
		c.elem(i, to)
		c.set(i, c.shape(i+1))
	}
	if c.n.Int("fuse_outputs", 0) != 0 {
		c.set(0, graph.Shape{c.fresh()})
	}
	return nil
}

// optimizer has the inputs rate, step and then in groups: parameters, gradients and states; it yields the
// parameters and the states.
func optimizer(groups, results int) operator {
	return func(c *ctx) error {
		n := (len(c.n.Inputs) - 2) / groups
		if n < 1 || len(c.n.Inputs) != 2+n*groups || len(c.out) > n*results {
			return c.errorf("%d inputs and %d outputs do not divide into groups", len(c.n.Inputs), len(c.out))
		}
		for i := range c.out {
			from := 2 + i
			if i >= n {
				from += n // the gradients yield nothing
			}
			c.setType(i, c.in(from))
		}
		return nil
	}
}
