package rangeprop

func trainingOps() map[string]op {
	return map[string]op{
		"ai.onnx.preview.training.Adam": {f: stepsOp}, "ai.onnx.preview.training.Adagrad": {f: stepsOp},
		"ai.onnx.preview.training.Momentum": {f: stepsOp}, "ai.onnx.preview.training.Gradient": {f: stepsOp},
	}
}

// stepsOp is a step of an optimiser: what it makes of weights and moments is not followed.
func stepsOp(c *call) []*Val {
	outs := make([]*Val, len(c.n.Outputs))
	for i := range outs {
		outs[i] = anyOf(c)
		outs[i].posInf, outs[i].negInf = true, true
	}
	return outs
}
