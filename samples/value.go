package samples

import "github.com/amplint/amplint/graph"

// TensorValue wraps a tensor in memory.
func TensorValue(t *graph.Tensor) *Value {
	return &Value{Kind: graph.KindTensor, Tensor: &Array{Elem: t.Elem, Dims: t.Dims, tensor: t}}
}

// Named is a value to write: its name, and the type that the model declares for it.
type Named struct {
	Name  string
	Type  graph.Type
	Value *Value
}
