package refeval

import (
	"fmt"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval/kern"
)

// Tensor is a dense array in row-major order. The one field that belongs to Elem holds the elements:
// F for float, float16, bfloat16 and the float8 and float4 types (values on the grid of the type),
// D for double, I for integers of any width and bool (uint64 as its bits), S for strings, C for
// both complex types. Tensors are shared freely and never change once a node has returned them.
type Tensor struct {
	Elem graph.ElemType
	Dims []int
	F    []float32
	D    []float64
	I    []int64
	S    []string
	C    []complex128

	weights *weights // the layout for products, of constants
	block   *block   // what the run counts for its elements; nil for constants and inputs
}

// store is the field of a Tensor that holds the elements of a type.
type store uint8

const (
	noStore store = iota
	storeF
	storeD
	storeI
	storeS
	storeC
)

func storeOf(e graph.ElemType) store {
	switch {
	case e == graph.Double:
		return storeD
	case e.IsFloat():
		return storeF
	case e.IsInt() || e == graph.Bool:
		return storeI
	case e == graph.String:
		return storeS
	case e == graph.Complex64 || e == graph.Complex128:
		return storeC
	}
	return noStore
}

// elemBytes is the memory that one element takes in a Tensor.
func elemBytes(e graph.ElemType) int64 {
	switch storeOf(e) {
	case storeF:
		return 4
	case storeS, storeC:
		return 16
	}
	return 8
}

// count multiplies dimensions; it refuses negative ones and products no memory could hold.
func count(dims []int) (int, error) {
	n, zero := 1, false
	for _, d := range dims {
		switch {
		case d < 0:
			return 0, fmt.Errorf("negative dimension %d in the shape %v", d, dims)
		case d == 0:
			zero = true
		case n > math.MaxInt64/32/d:
			return 0, fmt.Errorf("the shape %v is too large", dims)
		default:
			n *= d
		}
	}
	if zero {
		return 0, nil
	}
	return n, nil
}

// size is the product of dimensions that are known to be sound.
func size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// newTensor makes a tensor of zeros that no run counts. Kernels use [Call.Out] and [Call.Temp].
func newTensor(e graph.ElemType, dims []int) (*Tensor, error) {
	n, err := count(dims)
	if err != nil {
		return nil, err
	}
	t := &Tensor{Elem: e, Dims: slices.Clone(dims)}
	return t, t.fill(n)
}

// fill makes n zeros.
func (t *Tensor) fill(n int) error {
	switch storeOf(t.Elem) {
	case storeF:
		t.F = make([]float32, n)
	case storeD:
		t.D = make([]float64, n)
	case storeI:
		t.I = make([]int64, n)
	case storeS:
		t.S = make([]string, n)
	case storeC:
		t.C = make([]complex128, n)
	default:
		return fmt.Errorf("no tensors of type %s", t.Elem)
	}
	return nil
}

// FloatTensor makes a tensor of type float that holds x.
func FloatTensor(dims []int, x ...float32) *Tensor {
	return &Tensor{Elem: graph.Float, Dims: dims, F: x}
}

// IntTensor makes a tensor of type int64 that holds x.
func IntTensor(dims []int, x ...int64) *Tensor {
	return &Tensor{Elem: graph.Int64, Dims: dims, I: x}
}

// BoolTensor makes a scalar of type bool.
func BoolTensor(x bool) *Tensor {
	return &Tensor{Elem: graph.Bool, Dims: []int{}, I: []int64{bit(x)}}
}

func bit(x bool) int64 {
	if x {
		return 1
	}
	return 0
}

// Len returns the number of elements.
func (t *Tensor) Len() int { return size(t.Dims) }

// Rank returns the number of dimensions.
func (t *Tensor) Rank() int { return len(t.Dims) }

// view returns the same elements in another shape of as many elements.
func (t *Tensor) view(dims []int) *Tensor {
	v := *t
	v.Dims, v.weights = slices.Clone(dims), nil
	return &v
}

// String returns the type as the textual syntax writes it, such as "float[2,3]".
func (t *Tensor) String() string {
	dims := make([]int64, len(t.Dims))
	for i, d := range t.Dims {
		dims[i] = int64(d)
	}
	return graph.TensorOf(t.Elem, graph.ShapeOf(dims...)).String()
}

// at64 returns element i of a tensor of real numbers or bool as a float64.
func (t *Tensor) at64(i int) float64 {
	switch {
	case t.F != nil:
		return float64(t.F[i])
	case t.D != nil:
		return t.D[i]
	case t.Elem == graph.Uint64:
		return float64(uint64(t.I[i]))
	}
	return float64(t.I[i])
}

// put64 sets element i of a tensor of real numbers or bool; integers are cut off.
func (t *Tensor) put64(i int, x float64) {
	switch {
	case t.F != nil:
		t.F[i] = float32(x)
	case t.D != nil:
		t.D[i] = x
	default:
		t.I[i] = floatToInt(x, t.Elem)
	}
}

// floats64 returns the elements of a tensor of real numbers or bool as float64.
func (t *Tensor) floats64() []float64 {
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = t.at64(i)
	}
	return out
}

// ints returns the elements of an integer tensor (an axis, a shape) as int.
func (t *Tensor) ints() []int {
	if t.Len() > 0 && t.I == nil {
		refuse("%s elements are no integers", t.Elem)
	}
	out := make([]int, len(t.I))
	for i, v := range t.I {
		out[i] = int(v)
	}
	return out
}

// Stats counts the elements of a tensor of a float type but double.
func (t *Tensor) Stats() kern.Stats { return serial().Stats(numfmt.Invalid, t.F) }

// scalar returns the only element of a tensor of real numbers.
func (t *Tensor) scalar() float64 {
	if t.Len() != 1 {
		refuse("%s is no scalar", t)
	}
	return t.at64(0)
}

// int returns the only element of an integer tensor.
func (t *Tensor) int() int {
	if t.Len() != 1 {
		refuse("%s is no scalar", t)
	}
	return t.ints()[0]
}
