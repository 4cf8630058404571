package secondopinion

import (
	"fmt"

	"github.com/owulveryck/onnx-go"
	"github.com/owulveryck/onnx-go/backend/x/gorgonnx"
	"gorgonia.org/tensor"
)

// Run runs a model by gorgonnx, onnx-go's backend, and returns its outputs in their order.
func Run(model []byte, inputs map[string]tensor.Tensor) (out []tensor.Tensor, err error) {
	defer guard(&err)
	backend := gorgonnx.NewGraph()
	m := onnx.NewModel(backend)
	if err := m.UnmarshalBinary(model); err != nil {
		return nil, err
	}
	for name, t := range inputs {
		// Not by Model.SetInput, which takes the position for the node's number.
		n, ok := m.GetNodeByName(name)
		if !ok {
			return nil, fmt.Errorf("onnx-go: there is no input %q", name)
		}
		if err := n.(onnx.DataCarrier).SetTensor(t); err != nil {
			return nil, err
		}
	}
	if err := backend.Run(); err != nil {
		return nil, err
	}
	return m.GetOutputTensors()
}
