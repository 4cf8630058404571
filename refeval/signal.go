package refeval

// signalOps are signal processing.
func signalOps() []entry {
	return nil
}
