package infer

import (
	"strings"

	"github.com/amplint/amplint/graph"
)

func elementwiseOps() map[string]operator {
	return merged(
		each(sameShape, "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Ceil", "Celu", "Clip",
			"Cos", "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "IsInf", "IsNaN",
			"LeakyRelu", "Log", "Mish", "Neg", "Not", "PRelu", "Reciprocal", "Relu", "Round", "Selu", "Shrink",
			"Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh",
			"ThresholdedRelu"),
		each(broadcasting, "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal",
			"Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "Pow",
			"Sub", "Sum", "SwiGLU", "Where", "Xor"),
		map[string]operator{"Cast": castTo, "CastLike": castLike, "BitCast": castTo, "Dropout": dropout},
	)
}

// sameShape gives output 0 the shape of input 0.
func sameShape(c *ctx) error {
	c.set(0, c.shape(0))
	return nil
}

// broadcasting gives output 0 the shape that the inputs broadcast to. Before opset 7 (8 for the variadic ones)
// the first input has it already.
func broadcasting(c *ctx) error {
	if c.n.Domain == "" && c.ver < 7 && c.n.Op != "Where" {
		return sameShape(c)
	}
	s, err := c.broadcastAll(0)
	c.set(0, s)
	return err
}

func castTo(c *ctx) error {
	c.set(0, c.shape(0))
	to := c.n.Int("to", 0)
	if a := c.n.Attr("to"); a != nil && a.Type == graph.AttrString { // opset 1 to 5
		if e, ok := graph.ParseElem(strings.ToLower(a.S)); ok {
			to = int64(e)
		}
	}
	if to <= 0 || to > int64(graph.Int2) {
		return c.errorf("there is no element type %d", to)
	}
	c.elem(0, graph.ElemType(to))
	return nil
}

func castLike(c *ctx) error {
	c.set(0, c.shape(0))
	c.elem(0, c.in(1).Elem)
	return nil
}

// dropout keeps the shape; the mask, bool since opset 10, has it too.
func dropout(c *ctx) error {
	c.set(0, c.shape(0))
	c.set(1, c.shape(0))
	return nil
}
