package secondopinion

import (
	"fmt"
	"slices"

	"github.com/owulveryck/onnx-go"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"
	"gorgonia.org/tensor"
)

// Op is one node as onnx-go reads it.
type Op struct {
	Type            string
	Inputs, Outputs []string
}

// Reading is the main graph of a model as onnx-go reads it.
type Reading struct {
	Ops             []Op
	Inputs, Outputs []string                 // of the graph; what has an initializer is no input
	Tensors         map[string]tensor.Tensor // initializers and declared shapes
}

// Read reads a model with onnx-go's decoder.
func Read(model []byte) (r *Reading, err error) {
	defer guard(&err)
	rec := &recorder{WeightedDirectedGraph: simple.NewWeightedDirectedGraph(0, 0), inputs: map[int64][]string{}}
	m := onnx.NewModel(rec)
	if err := m.UnmarshalBinary(model); err != nil {
		return nil, err
	}
	r = &Reading{Ops: rec.ops, Tensors: map[string]tensor.Tensor{}}
	for _, id := range m.Input {
		r.Inputs = append(r.Inputs, rec.Node(id).(*value).name)
	}
	for _, id := range m.Output {
		r.Outputs = append(r.Outputs, rec.Node(id).(*value).name)
	}
	for nodes := rec.Nodes(); nodes.Next(); {
		if v := nodes.Node().(*value); v.t != nil {
			r.Tensors[v.name] = v.t
		}
	}
	return r, nil
}

// guard turns a panic into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("onnx-go: panic: %v", p)
	}
}

// recorder is a backend of onnx-go that notes what the decoder tells it. The decoder makes an edge
// from each output of a node to each of its inputs, weighted by the input's position, and names the
// operator afterwards.
type recorder struct {
	*simple.WeightedDirectedGraph
	inputs map[int64][]string // by the ID of an output
	ops    []Op
}

// value is what onnx-go calls a node: an edge of the ONNX graph.
type value struct {
	id   int64
	name string
	t    tensor.Tensor
}

// ID returns the number that the decoder knows the value by.
func (v *value) ID() int64 { return v.id }

// SetName is called by the decoder.
func (v *value) SetName(name string) { v.name = name }

// GetName returns the name in the model.
func (v *value) GetName() string { return v.name }

// SetTensor is called by the decoder with what it declares, then with the initializer.
func (v *value) SetTensor(t tensor.Tensor) error { v.t = t; return nil }

// GetTensor returns what SetTensor was given.
func (v *value) GetTensor() tensor.Tensor { return v.t }

// NewNode makes a value.
func (r *recorder) NewNode() graph.Node {
	return &value{id: r.WeightedDirectedGraph.NewNode().ID()}
}

// SetWeightedEdge notes one input of the node that makes a value. The graph itself could not hold
// two edges between the same values, as x·x has.
func (r *recorder) SetWeightedEdge(e graph.WeightedEdge) {
	out, in := e.From().(*value), e.To().(*value)
	list := r.inputs[out.id]
	for len(list) <= int(e.Weight()) {
		list = append(list, "")
	}
	list[int(e.Weight())] = in.name
	r.inputs[out.id] = list
}

// ApplyOperation notes a node.
func (r *recorder) ApplyOperation(o onnx.Operation, outs ...graph.Node) error {
	op := Op{Type: o.Name}
	for _, n := range outs {
		v := n.(*value)
		op.Outputs = append(op.Outputs, v.name)
		if len(op.Inputs) == 0 {
			op.Inputs = slices.Clone(r.inputs[v.id])
		}
		delete(r.inputs, v.id) // "" stands for every output that is left out
	}
	r.ops = append(r.ops, op)
	return nil
}
