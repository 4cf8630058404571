package refeval

import (
	"fmt"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// FromGraph reads a tensor of a model or a data file.
func FromGraph(g *graph.Tensor) (*Tensor, error) {
	return fromGraph(g, []float32{})
}

// fromGraph is FromGraph with memory for floats, which are put there if it is large enough.
func fromGraph(g *graph.Tensor, memory []float32) (*Tensor, error) {
	dims := make([]int, len(g.Dims))
	for i, d := range g.Dims {
		dims[i] = int(d)
	}
	n, err := count(dims)
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", g.Name, err)
	}
	t := &Tensor{Elem: g.Elem, Dims: dims}
	switch storeOf(g.Elem) {
	case storeF:
		t.F, err = readFloats(g, n, memory)
	case storeD:
		t.D, err = g.Float64s()
	case storeI:
		t.I, err = g.Int64s()
	case storeS:
		t.S, err = g.Strings()
	case storeC:
		err = t.readComplex(g)
	default:
		err = fmt.Errorf("tensor %q: no values of type %s", g.Name, g.Elem)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// readFloats gathers the blocks of a tensor, in the memory it is given if that is enough. The slice
// is made at the first one: only then it is known that the file has the elements that the shape
// speaks of.
func readFloats(g *graph.Tensor, n int, memory []float32) ([]float32, error) {
	list := memory[:0]
	err := g.Floats(func(chunk []float32) error {
		if len(list) == 0 && cap(list) < n {
			list = make([]float32, 0, n)
		}
		list = append(list, chunk...)
		return nil
	})
	return list, err
}

func (t *Tensor) readComplex(g *graph.Tensor) error {
	raw, err := g.Bytes()
	if err != nil {
		return err
	}
	t.C = make([]complex128, 0, size(t.Dims))
	return t.setRaw(raw)
}

// ToGraph returns the tensor as a model or a data file holds it.
func (t *Tensor) ToGraph(name string) *graph.Tensor {
	dims := make([]int64, len(t.Dims))
	for i, d := range t.Dims {
		dims[i] = int64(d)
	}
	if t.Elem == graph.String {
		return graph.NewStrings(name, dims, slices.Clone(t.S))
	}
	return graph.NewTensor(name, t.Elem, dims, t.raw())
}

// denseOf spreads a sparse initializer over zeros.
func denseOf(s *graph.SparseInit) (*Tensor, error) {
	dims := make([]int, len(s.Dims))
	for i, d := range s.Dims {
		dims[i] = int(d)
	}
	values, err := FromGraph(s.Values)
	if err != nil {
		return nil, err
	}
	index, err := FromGraph(s.Indices)
	if err != nil {
		return nil, err
	}
	if n, err := count(dims); err != nil || int64(n) > defaultMaxMemory/16 {
		return nil, fmt.Errorf("sparse tensor %q: the shape %v is too large", s.Values.Name, dims)
	}
	t, err := newTensor(values.Elem, dims)
	if err != nil {
		return nil, err
	}
	return t, t.scatter(values, index)
}

// scatter sets the elements that a sparse tensor names, by flat index or by one index a dimension.
func (t *Tensor) scatter(values, index *Tensor) error {
	n, step := values.Len(), strides(t.Dims)
	flat := len(index.Dims) == 1
	if !flat && (len(index.Dims) != 2 || index.Dims[1] != len(t.Dims)) || index.Dims[0] != n || index.I == nil {
		return fmt.Errorf("a sparse %s has %d values and indices %v", t, n, index.Dims)
	}
	for i := range n {
		at := 0
		if flat {
			at = int(index.I[i])
		} else {
			for k, s := range step {
				at += int(index.I[i*len(step)+k]) * s
			}
		}
		if at < 0 || at >= t.Len() {
			return fmt.Errorf("a sparse %s has index %d", t, at)
		}
		copyRun(t, at, values, i, 1)
	}
	return nil
}

// EqualBits tells whether two tensors are of one type and shape and hold the same elements, NaN
// equal to NaN.
func (t *Tensor) EqualBits(u *Tensor) bool {
	if t.Elem != u.Elem || !slices.Equal(t.Dims, u.Dims) {
		return false
	}
	same := func(x, y float64) bool {
		return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y
	}
	return slices.EqualFunc(t.F, u.F, func(x, y float32) bool { return same(float64(x), float64(y)) }) &&
		slices.EqualFunc(t.D, u.D, same) && slices.Equal(t.I, u.I) && slices.Equal(t.S, u.S) &&
		slices.EqualFunc(t.C, u.C, func(x, y complex128) bool {
			return same(real(x), real(y)) && same(imag(x), imag(y))
		})
}
