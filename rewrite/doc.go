// Package rewrite changes the number formats of a model. A [Plan] says what is wanted: a target
// format, and edits such as "hold this value in FP32". [Plan.Apply] gives every float value a
// format, places the casts where two formats meet, and converts what has to be stored differently.
//
// The unit of the work is the group: the inputs and outputs of a node that must have one type.
// A group is low (the target) or wide (FP32); edits and the standard pin some of them, a minimum
// cut decides the rest so that the fewest and smallest tensors are cast. A value has the format of
// the group that makes it, and one cast serves all readers in the other format.
package rewrite
