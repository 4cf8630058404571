package refeval

import "github.com/amplint/amplint/graph"

// Value is what an edge of the graph carries: a tensor, a sequence, a map, or an empty optional.
// An optional that is not empty is what it holds. Sparse tensors are held dense.
type Value struct {
	Kind   graph.Kind // KindTensor, KindSequence, KindMap, or KindOptional for an empty one
	Tensor *Tensor
	Items  []*Value // of a sequence; the values of a map
	Keys   *Tensor  // of a map, int64 or string, as many as Items
}

// TensorValue wraps a tensor.
func TensorValue(t *Tensor) *Value { return &Value{Kind: graph.KindTensor, Tensor: t} }

// SequenceValue makes a sequence.
func SequenceValue(items ...*Value) *Value {
	return &Value{Kind: graph.KindSequence, Items: items}
}

// EmptyOptional is the optional without a value.
func EmptyOptional() *Value { return &Value{Kind: graph.KindOptional} }

// Tensors returns the tensors of the value, those of a sequence in its order.
func (v *Value) Tensors() []*Tensor {
	switch {
	case v == nil:
		return nil
	case v.Tensor != nil:
		return []*Tensor{v.Tensor}
	}
	var list []*Tensor
	for _, i := range v.Items {
		list = append(list, i.Tensors()...)
	}
	return list
}

// kindName is how messages call a kind.
func kindName(k graph.Kind) string {
	switch k {
	case graph.KindTensor:
		return "a tensor"
	case graph.KindSequence:
		return "a sequence"
	case graph.KindMap:
		return "a map"
	case graph.KindOptional:
		return "an empty optional"
	}
	return "nothing"
}
