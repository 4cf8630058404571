package ort

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"github.com/amplint/amplint/graph"
)

// value makes an OrtValue that holds a copy of a tensor.
func (e *Engine) value(t *graph.Tensor) (uintptr, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	v := new(uintptr)
	if err := e.do(createTensorAsOrtValue, e.alloc, first(&pin, t.Dims), uintptr(len(t.Dims)), uintptr(t.Elem), addr(&pin, v)); err != nil {
		return 0, err
	}
	if err := e.fill(*v, t); err != nil {
		e.free(releaseValue, *v)
		return 0, err
	}
	return *v, nil
}

// fill copies a tensor's elements into an OrtValue of its type and shape.
func (e *Engine) fill(v uintptr, t *graph.Tensor) error {
	if t.Elem == graph.String {
		return e.fillStrings(v, t)
	}
	b, err := t.Bytes()
	if err != nil || len(b) == 0 {
		return err
	}
	to, err := e.data(v, len(b))
	if err == nil {
		copy(to, b)
	}
	return err
}

func (e *Engine) fillStrings(v uintptr, t *graph.Tensor) error {
	list, err := t.Strings()
	if err != nil {
		return err
	}
	for _, s := range list {
		if strings.ContainsRune(s, 0) {
			return errors.New("a string with a zero in it")
		}
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	return e.do(fillStringTensor, v, cStrings(&pin, list), uintptr(len(list)))
}

// data returns the n bytes of the elements of an OrtValue. They are the library's.
func (e *Engine) data(v uintptr, n int) ([]byte, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	p := new(uintptr)
	if err := e.do(getTensorMutableData, v, addr(&pin, p)); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(pointer(*p)), n), nil
}

// tensor copies an OrtValue.
func (e *Engine) tensor(name string, v uintptr) (*graph.Tensor, error) {
	if v == 0 || !e.isTensor(v) {
		return nil, errors.New("only tensors can be taken from onnxruntime; run the model without --engine ort")
	}
	elem, dims, err := e.typeOf(v)
	if err != nil {
		return nil, err
	}
	t := graph.NewTensor(name, elem, dims, nil)
	n := t.Len()
	if elem == graph.String {
		list, err := e.strings(v, int(n))
		return graph.NewStrings(name, dims, list), err
	}
	if elem.Bits() == 0 {
		return nil, fmt.Errorf("elements of type %s", elem)
	}
	raw := make([]byte, t.RawLen())
	if len(raw) > 0 {
		from, err := e.data(v, len(raw))
		if err != nil {
			return nil, err
		}
		copy(raw, from)
	}
	return graph.NewTensor(name, elem, dims, raw), nil
}

func (e *Engine) isTensor(v uintptr) bool {
	var pin runtime.Pinner
	defer pin.Unpin()
	is := new(int32)
	return e.do(isTensor, v, addr(&pin, is)) == nil && *is != 0
}

// typeOf returns the element type and the shape of an OrtValue.
func (e *Engine) typeOf(v uintptr) (graph.ElemType, []int64, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	info, elem, rank := new(uintptr), new(int32), new(uintptr)
	if err := e.do(getTensorTypeAndShape, v, addr(&pin, info)); err != nil {
		return 0, nil, err
	}
	defer e.free(releaseTensorTypeAndShapeInfo, *info)
	if err := e.do(getTensorElementType, *info, addr(&pin, elem)); err != nil {
		return 0, nil, err
	}
	if err := e.do(getDimensionsCount, *info, addr(&pin, rank)); err != nil {
		return 0, nil, err
	}
	dims := make([]int64, *rank)
	err := e.do(getDimensions, *info, first(&pin, dims), *rank)
	return graph.ElemType(*elem), dims, err
}

// strings copies the elements of an OrtValue of strings.
func (e *Engine) strings(v uintptr, n int) ([]string, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	list, size := make([]string, n), new(uintptr)
	for i := range list {
		if err := e.do(getStringTensorElementLength, v, uintptr(i), addr(&pin, size)); err != nil {
			return nil, err
		}
		b := make([]byte, *size+1) // never empty, so that it has an address
		if err := e.do(getStringTensorElement, v, *size, uintptr(i), addr(&pin, &b[0])); err != nil {
			return nil, err
		}
		list[i] = string(b[:*size])
	}
	return list, nil
}
