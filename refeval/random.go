package refeval

// randomOps are operators that draw random numbers, and Dropout.
func randomOps() []entry {
	return nil
}
