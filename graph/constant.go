package graph

import (
	"encoding/binary"
	"math"
)

// setConstant gives the output of a Constant node its value.
func (n *Node) setConstant() {
	if n.Op != "Constant" || n.Domain != "" || len(n.Outputs) == 0 || n.Outputs[0] == nil {
		return
	}
	for _, a := range n.Attrs {
		if a.Ref != "" {
			continue
		}
		if t := a.constant(); t != nil {
			v := n.Outputs[0]
			v.Const, v.Type = t, t.Type()
		}
	}
}

// constant returns the tensor that an attribute of a Constant node stands for.
func (a *Attr) constant() *Tensor {
	switch a.Name {
	case "value":
		return a.Tensor
	case "value_float":
		return FloatTensor("", []int64{}, a.F)
	case "value_floats":
		return FloatTensor("", []int64{int64(len(a.Floats))}, a.Floats...)
	case "value_int":
		return IntTensor("", []int64{}, a.I)
	case "value_ints":
		return IntTensor("", []int64{int64(len(a.Ints))}, a.Ints...)
	case "value_string":
		return NewStrings("", []int64{}, []string{a.S})
	case "value_strings":
		return NewStrings("", []int64{int64(len(a.Strings))}, a.Strings)
	}
	return nil
}

// FloatTensor makes a tensor of type float in memory.
func FloatTensor(name string, dims []int64, x ...float32) *Tensor {
	raw := make([]byte, 0, 4*len(x))
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return NewTensor(name, Float, dims, raw)
}

// IntTensor makes a tensor of type int64 in memory.
func IntTensor(name string, dims []int64, x ...int64) *Tensor {
	raw := make([]byte, 0, 8*len(x))
	for _, v := range x {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	return NewTensor(name, Int64, dims, raw)
}
