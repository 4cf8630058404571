package refeval

// convOps are convolutions.
func convOps() []entry {
	return nil
}
