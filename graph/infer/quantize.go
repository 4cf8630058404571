package infer

import "github.com/amplint/amplint/graph"

func quantizeOps() map[string]operator {
	return merged(
		each(quantize, "QuantizeLinear", "com.microsoft.QuantizeLinear"),
		each(dequantize, "DequantizeLinear", "com.microsoft.DequantizeLinear"),
		map[string]operator{"DynamicQuantizeLinear": dynamicQuantize},
	)
}

// quantize takes the type of the zero point, of output_dtype, or uint8.
func quantize(c *ctx) error {
	c.set(0, c.shape(0))
	e := graph.ElemType(c.n.Int("output_dtype", 0))
	if c.has(2) {
		e = c.in(2).Elem
	} else if e == graph.Undefined {
		e = graph.Uint8
	}
	c.elem(0, e)
	return nil
}

// dequantize takes the type of output_dtype or the scale.
func dequantize(c *ctx) error {
	c.set(0, c.shape(0))
	c.elem(0, c.in(1).Elem)
	c.elem(0, graph.ElemType(c.n.Int("output_dtype", 0)))
	return nil
}

func dynamicQuantize(c *ctx) error {
	c.set(0, c.shape(0))
	c.set(1, graph.Shape{})
	c.set(2, graph.Shape{})
	return nil
}
