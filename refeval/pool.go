package refeval

// poolOps are pooling.
func poolOps() []entry {
	return nil
}
