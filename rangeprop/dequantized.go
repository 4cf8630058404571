package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// turnedKey tells weights stored in 8 bits apart by what they are computed from.
type turnedKey struct {
	n    *graph.Node
	q, s *graph.Tensor
}

// dequantized returns the weights that a node makes of a constant in 8 bits and constant scales, as numbers of FP32
// that are computed as they are read, and how far those of a run may be from them relative to their size. It is nil
// for any other node, and where a number is to be held in a format that its scales or products do not fit.
func (p *pass) dequantized(v *graph.Value) (t *graph.Tensor, held float64) {
	n := v.Producer
	if n == nil || n.Domain != "" || v.Type.Elem != graph.Float {
		return nil, 0
	}
	q, s, turn := p.byScale(n)
	if turn == nil || q.Const.Elem.Bits() > 8 || s.Type.Elem != graph.Float || p.moving[q] || p.moving[s] || !ample(s.Const) {
		return nil, 0
	}
	held = 4 * accumUnit
	if p.opt.Hold != nil {
		for _, x := range []*graph.Value{v, s} {
			if p.heldUnit(x) == 0 {
				continue
			}
			f := p.opt.Hold(x)
			if f.Bits() < 16 || !normalIn(s.Const, q.Const.Elem, f) || !(p.val(v).Hull().MaxAbs() < f.Max()) {
				return nil, 0
			}
			held += 1.01 * f.Unit()
		}
	}
	key := turnedKey{n: n, q: q.Const, s: s.Const}
	if t = p.memo.turned[key]; t == nil {
		t = q.Const.Turned(func(from int64, chunk []float32) {
			for i, x := range chunk {
				chunk[i] = float32(turn(int(from)+i, float64(x)))
			}
		})
		p.memo.turned[key] = t
	}
	return t, held
}

// byScale returns the constant in 8 bits and the scales that a node reads, and what it makes of an element: a
// DequantizeLinear, or a product with what a Cast made of the constant, less its zero points.
func (p *pass) byScale(n *graph.Node) (q, s *graph.Value, turn func(i int, x float64) float64) {
	switch n.Op {
	case "DequantizeLinear":
		if q, s = n.In(0), n.In(1); q == nil || q.Const == nil || p.moving[n.In(2)] {
			return nil, nil, nil
		}
		return q, s, dequantizer(n, q.Const)
	case "Mul":
		for i := range 2 {
			if q, s = castOf(n.In(i)), n.In(1-i); q != nil && s != nil && s.Const != nil {
				return q, s, scaler(q.Const.Dims, s.Const)
			}
		}
	}
	return nil, nil, nil
}

// castOf returns the constant of whole numbers that a value is as floats, nil where it is none.
func castOf(v *graph.Value) *graph.Value {
	if v == nil || v.Producer == nil || v.Producer.OpName() != "Cast" {
		return nil
	}
	if q := v.Producer.In(0); q != nil && q.Const != nil && q.Const.Elem.IsInt() {
		return q
	}
	return nil
}

// scaler returns the product of an element with its scale, one of a single number or of a vector along one axis.
func scaler(dims []int64, s *graph.Tensor) func(i int, x float64) float64 {
	if len(s.Dims) > len(dims) {
		return nil
	}
	axis := -1
	front := len(dims) - len(s.Dims)
	for i, d := range s.Dims {
		switch {
		case d == 1:
		case axis >= 0 || d != dims[front+i]:
			return nil
		default:
			axis = front + i
		}
	}
	scale, err := s.Float64s()
	if err != nil || len(scale) == 0 {
		return nil
	}
	c := graph.ScaleAt(dims, int64(len(scale)), max(axis, 0), 0)
	if c == nil {
		return nil
	}
	return func(i int, x float64) float64 { return x * scale[c(int64(i))] }
}

// normalIn tells whether no scale, and no product of one with a number of a type other than 0, is subnormal in a format.
func normalIn(t *graph.Tensor, e graph.ElemType, f numfmt.Format) bool {
	smallest := 1.0
	if own, ok := e.Format(); ok {
		smallest = own.MinSubnormal()
	}
	least := math.Inf(1)
	err := stream(t, func(_ int, x float64) { least = math.Min(least, math.Abs(x)) })
	return err == nil && min(least, least*smallest) >= f.MinNormal()
}
