package analyze

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/samples"
)

// maxByValue is the number of elements up to which an input that is no float is taken by value:
// axes and shapes are small, token ids are data.
const maxByValue = 1024

// data bounds the inputs by the user's samples.
func (in *inputs) data(m *graph.Model, paths []string) error {
	var list []*samples.Sample
	for _, path := range paths {
		l, err := samples.Load(path, realInputs(m))
		if err != nil {
			return &DataError{err}
		}
		list = append(list, l...)
	}
	in.given = list
	for _, s := range list {
		for _, v := range realInputs(m) {
			if s.Inputs[v.Name] == nil && v.Type.Kind != graph.KindOptional {
				in.notes = append(in.notes, fmt.Sprintf("%s holds no %q: the range of that input comes from elsewhere", s.Name, v.Name))
			}
		}
	}
	for _, v := range realInputs(m) {
		if err := in.observe(v, list); err != nil {
			return &DataError{fmt.Errorf("%s: input %q: %w", strings.Join(paths, ", "), v.Name, err)}
		}
	}
	return nil
}

// DataError is a failure to read what --data names.
type DataError struct{ Err error }

func (e *DataError) Error() string { return e.Err.Error() }
func (e *DataError) Unwrap() error { return e.Err }

// observe takes the hull, the shape and, where it is small and no float, the value of one input
// over all samples.
func (in *inputs) observe(v *graph.Value, list []*samples.Sample) error {
	h := samples.NoHull
	var arrays []*samples.Array
	for _, s := range list {
		if x := s.Inputs[v.Name]; x != nil {
			arrays = append(arrays, x.Tensors()...)
		}
	}
	for _, a := range arrays {
		o, err := a.Hull()
		if err != nil {
			return err
		}
		h = h.Join(o)
	}
	if !h.Empty() || h.NaN {
		in.ranges[v.Name] = observed(h)
	}
	if len(arrays) == 0 || v.Type.Kind != graph.KindTensor {
		return nil
	}
	if s := commonShape(arrays, v.Type.Shape); s != nil {
		in.shapes[v.Name] = s
	}
	return in.byValue(v, arrays)
}

// observed turns a hull into a range. Data that are all NaN have an empty hull.
func observed(h samples.Hull) rangeprop.Given {
	if h.Empty() {
		h.Lo, h.Hi = 0, 0
	}
	return rangeprop.Given{Range: rangeprop.Range{Lo: h.Lo, Hi: h.Hi}, Basis: rangeprop.Observed, NaN: h.NaN, Inf: true}
}

// commonShape returns the shape of the samples. Dimensions in which they differ stay as the model
// declares them; nil where the ranks differ.
func commonShape(arrays []*samples.Array, declared graph.Shape) graph.Shape {
	s := graph.ShapeOf(arrays[0].Dims...)
	for _, a := range arrays[1:] {
		if len(a.Dims) != len(s) {
			return nil
		}
		for i, d := range a.Dims {
			if s[i].Known() && s[i].N == d {
				continue
			}
			s[i] = graph.UnknownDim
			if len(declared) == len(s) {
				s[i] = declared[i]
			}
		}
	}
	return s
}

// byValue notes the value of an input that is no float and the same in all samples.
func (in *inputs) byValue(v *graph.Value, arrays []*samples.Array) error {
	if arrays[0].Elem.IsFloat() || arrays[0].Len() > maxByValue {
		return nil
	}
	var first *graph.Tensor
	for _, a := range arrays {
		t, err := a.Tensor()
		if err != nil {
			return err
		}
		if t, err = convert(t, v.Type.Elem); err != nil {
			return err
		}
		if first == nil {
			first = t
			continue
		}
		same, err := equal(first, t)
		if err != nil || !same {
			return err
		}
	}
	in.values[v.Name] = first
	return nil
}

// convert gives an integer tensor the type that the input declares: numpy's default is int64.
func convert(t *graph.Tensor, e graph.ElemType) (*graph.Tensor, error) {
	if t.Elem == e || t.Elem == graph.String || e.Bits() < 8 || !e.IsInt() && e != graph.Bool {
		return t, nil
	}
	list, err := t.Int64s()
	if err != nil {
		return nil, err
	}
	var raw []byte
	for _, x := range list {
		raw = append(raw, binary.LittleEndian.AppendUint64(nil, uint64(x))[:e.Bits()/8]...)
	}
	return graph.NewTensor(t.Name, e, t.Dims, raw), nil
}

func equal(a, b *graph.Tensor) (bool, error) {
	if a.Elem != b.Elem || !slices.Equal(a.Dims, b.Dims) {
		return false, nil
	}
	if a.Elem == graph.String {
		x, err := a.Strings()
		if err != nil {
			return false, err
		}
		y, err := b.Strings()
		return slices.Equal(x, y), err
	}
	x, err := bytesOf(a)
	if err != nil {
		return false, err
	}
	y, err := bytesOf(b)
	return bytes.Equal(x, y), err
}

func bytesOf(t *graph.Tensor) (raw []byte, err error) {
	err = t.Raw(func(b []byte) error { raw = append(raw, b...); return nil })
	return raw, err
}
