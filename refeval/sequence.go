package refeval

// sequenceOps are sequences and optionals.
func sequenceOps() []entry {
	return nil
}
