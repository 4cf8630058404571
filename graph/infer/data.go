package infer

import (
	"encoding/binary"
	"math"

	"github.com/amplint/amplint/graph"
)

// data holds the elements of a small tensor: integers and bools that may be symbolic, or floats.
type data struct {
	elem graph.ElemType
	dims []int64
	at   []num
}

// maxSmall is the number of elements up to which a tensor is kept as data.
const maxSmall = 1024

func (d *data) len() int64 { return int64(len(d.at)) }

// known tells whether all elements are numbers.
func (d *data) known() bool {
	for _, x := range d.at {
		if !x.known() {
			return false
		}
	}
	return true
}

// dataOf returns the elements of a value, nil where they are unknown or too many.
func (w *walk) dataOf(v *graph.Value, most int64) *data {
	if v == nil {
		return nil
	}
	if d := w.small[v]; d != nil {
		return d
	}
	t := v.Const
	if t == nil || t.Len() > most || len(t.Dims) > maxRank {
		return nil
	}
	d := w.read(v.Name, t)
	if d != nil && len(d.at) <= maxSmall {
		w.small[v] = d
	}
	return d
}

// maxRank bounds the ranks that are folded.
const maxRank = 16

// read reads a tensor's elements. A tensor out of reach (external data that is missing) is only unknown here: who
// needs the weights themselves will say so.
func (w *walk) read(name string, t *graph.Tensor) *data {
	if _, ok := elements(graph.ShapeOf(t.Dims...)); !ok {
		return nil
	}
	d := &data{elem: t.Elem, dims: t.Dims, at: make([]num, 0, t.Len())}
	switch {
	case t.Elem.IsInt() || t.Elem == graph.Bool:
		list, err := t.Int64s()
		if err != nil || t.Elem == graph.Uint64 && negative(list) {
			return w.unread(name, err)
		}
		for _, i := range list {
			d.at = append(d.at, intNum(i))
		}
	case t.Elem.IsFloat():
		list, err := t.Float64s()
		if err != nil {
			return w.unread(name, err)
		}
		for _, f := range list {
			d.at = append(d.at, floatNum(f))
		}
	default:
		return nil
	}
	if d.len() != t.Len() {
		return nil
	}
	return d
}

func negative(list []int64) bool {
	for _, i := range list {
		if i < 0 {
			return true
		}
	}
	return false
}

func (w *walk) unread(name string, err error) *data {
	if err != nil {
		w.note("constant %q: %v", name, err)
	}
	return nil
}

// keep stores folded elements: as a constant where all are known.
func (w *walk) keep(v *graph.Value, d *data) {
	if t := d.tensor(v.Name); t != nil {
		v.Const = t
	}
	if d.len() <= maxSmall {
		w.small[v] = d
	}
}

// tensor makes a tensor of known elements, nil where some are not, or of a type that only an evaluator rounds to.
func (d *data) tensor(name string) *graph.Tensor {
	bits := d.elem.Bits()
	if !d.known() || bits < 8 || d.elem.IsFloat() && d.elem != graph.Float && d.elem != graph.Double {
		return nil
	}
	raw := make([]byte, 0, len(d.at)*bits/8)
	for _, x := range d.at {
		u := uint64(x.i)
		if d.elem.IsFloat() {
			u = floatBits(d.elem, x)
		}
		switch bits {
		case 8:
			raw = append(raw, byte(u))
		case 16:
			raw = binary.LittleEndian.AppendUint16(raw, uint16(u))
		case 32:
			raw = binary.LittleEndian.AppendUint32(raw, uint32(u))
		default:
			raw = binary.LittleEndian.AppendUint64(raw, u)
		}
	}
	return graph.NewTensor(name, d.elem, d.dims, raw)
}

// nums returns the elements of input i where it is a small tensor, nil where they are unknown.
func (c *ctx) nums(i int) []num {
	if d := c.dataOf(c.n.In(i), maxSmall); d != nil {
		return d.at
	}
	return nil
}

// consts returns the elements of input i where it is a small integer tensor and all are known.
func (c *ctx) consts(i int) ([]int64, bool) {
	list := c.nums(i)
	out := make([]int64, len(list))
	for j, x := range list {
		if x.k != numInt {
			return nil, false
		}
		out[j] = x.i
	}
	return out, list != nil
}

// scalar returns the only element of input i, unknown where it has another number of them.
func (c *ctx) scalar(i int) num {
	if list := c.nums(i); len(list) == 1 {
		return list[0]
	}
	return num{}
}

// count returns the number of elements of input i where it is a vector of known length, -1 else.
func (c *ctx) count(i int) int {
	if s := c.shape(i); len(s) == 1 && s[0].Known() && s[0].N <= math.MaxInt32 {
		return int(s[0].N)
	}
	return -1
}

func floatBits(e graph.ElemType, x num) uint64 {
	f, _ := x.float()
	if e == graph.Float {
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}
