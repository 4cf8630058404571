package refeval

// contribOps are onnxruntime's own fused operators.
func contribOps() []entry {
	return nil
}
