package rewrite

import (
	"fmt"

	"github.com/amplint/amplint/graph"
)

// Edit is one wanted change of a model, as data: nothing happens before [Plan.Apply]. Values and
// nodes are those of the model that the plan is applied to.
type Edit interface {
	// Describe says what the edit does, as a verb phrase.
	Describe() string
	// Safe tells whether results in FP32 stay the same.
	Safe() bool
}

// Widen holds a value in FP32 from its maker to all its readers: all of them compute in FP32.
// Where a reader only moves elements (Reshape, Gather, Concat) its result is held in FP32 too,
// since the same numbers stand in it.
type Widen struct{ Value *graph.Value }

// Describe says what the edit does.
func (e Widen) Describe() string {
	return fmt.Sprintf("hold %q in fp32 from its maker to its readers", e.Value.Key())
}

// Safe returns true: nothing but precision is gained.
func (e Widen) Safe() bool { return true }

// ToBF16 is [Widen] to BF16 instead of FP32, for values that are too large and need no more digits.
// What another edit holds in FP32, or BF16 is not allowed for, is FP32.
type ToBF16 struct{ Value *graph.Value }

// Describe says what the edit does.
func (e ToBF16) Describe() string {
	return fmt.Sprintf("hold %q in bf16 from its maker to its readers", e.Value.Key())
}

// Safe returns true: the FP32 form is not touched.
func (e ToBF16) Safe() bool { return true }

// KeepFP32 makes one node compute in FP32. Its results are cast down for readers in the low
// format, so it does not help against a result that overflows: see [Widen].
type KeepFP32 struct{ Node *graph.Node }

// Describe says what the edit does.
func (e KeepFP32) Describe() string {
	return fmt.Sprintf("compute node %q (%s) in fp32", e.Node.Key(), e.Node.OpName())
}

// Safe returns true: nothing but precision is gained.
func (e KeepFP32) Safe() bool { return true }

// Unquantize takes the rounding of a value to an 8-bit float out: what was rounded goes on as it was,
// to all that would have made numbers of more bits of it again.
type Unquantize struct{ Value *graph.Value }

// Describe says what the edit does.
func (e Unquantize) Describe() string {
	return fmt.Sprintf("take the rounding of %q to %s out", e.Value.Key(), elemOf(e.Value.Type))
}

// Safe returns true: nothing but precision is gained.
func (e Unquantize) Safe() bool { return true }

// Clamp limits the elements of a constant to [Lo, Hi] where it is stored in a low format: a mask
// of -1e9 becomes -65504 and not -Inf. What FP32 nodes read stays as it is. NaN is kept.
type Clamp struct {
	Const  *graph.Value
	Lo, Hi float64
}

// Describe says what the edit does.
func (e Clamp) Describe() string {
	return fmt.Sprintf("clamp constant %q to [%.5g, %.5g]", e.Const.Key(), e.Lo, e.Hi)
}

// Safe returns true: the FP32 form of the constant is not touched.
func (e Clamp) Safe() bool { return true }

// SetConst replaces the elements of a constant that equal From by To, in every format.
type SetConst struct {
	Const    *graph.Value
	From, To float64
}

// Describe says what the edit does.
func (e SetConst) Describe() string {
	return fmt.Sprintf("change %.5g to %.5g in constant %q", e.From, e.To, e.Const.Key())
}

// Safe returns false: the number is another one in FP32 as well.
func (e SetConst) Safe() bool { return false }

// SetAttr gives an attribute of a node another value; see [SetFloat] and [SetInt].
type SetAttr struct {
	Node  *graph.Node
	Name  string
	Value graph.Attr // its Type and the field that goes with it
}

// SetFloat is the edit that sets a float attribute, such as epsilon.
func SetFloat(n *graph.Node, name string, x float32) SetAttr {
	return SetAttr{n, name, graph.Attr{Type: graph.AttrFloat, F: x}}
}

// SetInt is the edit that sets an integer attribute, such as stash_type.
func SetInt(n *graph.Node, name string, x int64) SetAttr {
	return SetAttr{n, name, graph.Attr{Type: graph.AttrInt, I: x}}
}

// Describe says what the edit does.
func (e SetAttr) Describe() string {
	value := fmt.Sprintf("%d", e.Value.I)
	if e.Value.Type == graph.AttrFloat {
		value = fmt.Sprintf("%.5g", e.Value.F)
	}
	return fmt.Sprintf("set %s of node %q (%s) to %s", e.Name, e.Node.Key(), e.Node.OpName(), value)
}

// Safe tells whether the attribute only chooses a precision inside the operator.
func (e SetAttr) Safe() bool {
	return e.Name == "stash_type" || e.Name == "softmax_precision"
}
