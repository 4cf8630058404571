package rangeprop

func sequenceOps() map[string]op {
	return map[string]op{
		"SequenceConstruct": exact(allJoined), "SequenceEmpty": exact(nothingOp), "SequenceAt": exact(flatOp),
		"SequenceInsert": exact(joinOp), "SequenceErase": exact(flatOp), "SequenceLength": choice(lengthOp),
		"SplitToSequence": exact(flatOp), "ConcatFromSequence": exact(flatOp), "Optional": exact(optionalOp),
		"OptionalGetElement": exact(firstOp), "OptionalHasElement": choice(hasElementOp),
	}
}

// A sequence is bounded by one bound for all its tensors.

func allJoined(c *call) *Val {
	if len(c.in) == 0 {
		return nothing()
	}
	return c.joinInputs()
}

// nothing bounds a container without elements.
func nothing() *Val {
	return &Val{dims: []int{0}, basis: Constant, integer: true}
}

func nothingOp(c *call) *Val { return nothing() }

func optionalOp(c *call) *Val {
	if c.has(0) {
		return c.in[0]
	}
	return nothing()
}

func lengthOp(c *call) *Val { return c.index(0, false) }

func hasElementOp(c *call) *Val { return c.condition() }
