package refeval

// textOps are strings.
func textOps() []entry {
	return nil
}
