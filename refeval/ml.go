package refeval

// mlOps are the domain ai.onnx.ml.
func mlOps() []entry {
	return nil
}
