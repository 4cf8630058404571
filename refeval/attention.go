package refeval

// attentionOps are attention and rotary embedding.
func attentionOps() []entry {
	return nil
}
