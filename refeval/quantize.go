package refeval

// quantizeOps are quantised operators.
func quantizeOps() []entry {
	return nil
}
