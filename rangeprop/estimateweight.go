package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// weights are the constant factor of a product as estimates read it.
type weights struct {
	t    *graph.Tensor
	flip bool                           // its two axes are exchanged
	turn func(i int, x float64) float64 // what a stored element stands for, nil where it is that itself
}

// likeWeights finds the constant that a factor is, or about is: one stored in 8 bits, by its scale, and one
// that the graph itself rounds, before it is rounded. Without, all behind a quantised layer would be
// estimated by its bounds, which grow from layer to layer. It is nil for any other factor.
func (p *pass) likeWeights(v *graph.Value) *weights {
	w := &weights{}
	for range 4 {
		from, flip := p.carried(v)
		w.flip = w.flip != flip
		switch {
		case from == nil:
			return nil
		case from.Const != nil:
			w.t = from.Const
			return w
		}
		n := from.Producer
		if n != nil && n.OpName() == "Mul" {
			w.t, _ = p.dequantized(from)
		}
		if w.t != nil {
			return w
		}
		if n == nil || n.OpName() != "DequantizeLinear" || n.In(0) == nil {
			return nil
		}
		if s := p.stored(n, w.flip); s != nil {
			return s
		}
		if v = rounded8(n); v == nil {
			return nil
		}
	}
	return nil
}

// exactWeights returns the constant that a factor is, one stored in 8 bits included, and how far an element may be
// from it relative to its size; nil for any other factor. Products with an FP32 scale far from subnormal
// are rounded once, whole numbers of 32 bits once more; scales that are to be held lower are not followed.
func (p *pass) exactWeights(v *graph.Value) (w *weights, held float64) {
	if t, flip, ok := p.weight(v); ok {
		return &weights{t: t, flip: flip}, p.weightUnit(v)
	}
	return nil, 0
}

// ample tells whether scales are so large that no product with an 8-bit number other than 0 is subnormal.
func ample(t *graph.Tensor) bool {
	if t == nil {
		return false
	}
	least := math.Inf(1)
	err := stream(t, func(_ int, x float64) { least = math.Min(least, math.Abs(x)) })
	return err == nil && least > 0x1p-100 // false for NaN
}

// stored returns the constant that a DequantizeLinear reads as what it stands for, nil where it is none or its scales
// are not known.
func (p *pass) stored(n *graph.Node, flip bool) *weights {
	t := n.In(0).Const
	if t == nil || p.moving[n.In(0)] {
		return nil
	}
	turn := dequantizer(n, t)
	if turn == nil {
		return nil
	}
	return &weights{t: t, flip: flip, turn: turn}
}

// rounded8 returns what was quantised by the scale that a DequantizeLinear undoes, nil where nothing was.
func rounded8(n *graph.Node) *graph.Value {
	q := n.In(0).Producer
	if q == nil || q.OpName() != "QuantizeLinear" || q.In(0) == nil || q.In(1) != n.In(1) || q.In(2) != n.In(2) {
		return nil
	}
	return q.In(0)
}

// dequantizer returns the function from the elements of a constant to what they stand for, nil where
// scales or zero points are not known.
func dequantizer(n *graph.Node, t *graph.Tensor) func(i int, x float64) float64 {
	s, z := n.In(1), n.In(2)
	if s == nil || s.Const == nil || z != nil && z.Const == nil {
		return nil
	}
	axis := int(n.Int("axis", 1))
	if len(t.Dims) == 1 { // a list has but one axis, whatever the attribute says
		axis = 0
	}
	scale, err := s.Const.Float64s()
	at := graph.ScaleAt(t.Dims, int64(len(scale)), axis, n.Int("block_size", 0))
	if err != nil || at == nil {
		return nil
	}
	zero := make([]float64, len(scale))
	if z != nil {
		if zero, err = z.Const.Float64s(); err != nil || len(zero) != len(scale) {
			return nil
		}
	}
	return func(i int, x float64) float64 {
		k := at(int64(i))
		return (x - zero[k]) * scale[k]
	}
}

// stream visits the elements one by one.
func (w *weights) stream(visit func(i int, x float64)) error {
	if w.turn == nil {
		return stream(w.t, visit)
	}
	return stream(w.t, func(i int, x float64) { visit(i, w.turn(i, x)) })
}

// streamRows is [streamRows] for the elements.
func (w *weights) streamRows(width int, visit visitor) error {
	if w.turn == nil {
		return streamRows(w.t, width, visit)
	}
	var buf []float64
	return streamRows(w.t, width, func(row, from int, part []float64) {
		buf = buf[:0]
		for k, x := range part {
			buf = append(buf, w.turn(row*width+from+k, x))
		}
		visit(row, from, buf)
	})
}
