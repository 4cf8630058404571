package rewrite

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// quantized is an 8-bit float on its way through a model: what rounds numbers to it, what moves it,
// and what makes numbers of more bits of it again.
type quantized struct {
	first *graph.Node    // QuantizeLinear or Cast
	moved []*graph.Value // results of operators that only move elements
	last  []*graph.Node  // DequantizeLinear or Cast
}

// quantizedOf follows an 8-bit float back to what rounds it and on to its readers; why says what
// stands in the way of taking the rounding out, "" where nothing does.
func quantizedOf(v *graph.Value, yields map[*graph.Value]bool) (q *quantized, why string) {
	for v.Producer != nil && movesOne(v.Producer) {
		v = eightBit(v.Producer.Inputs)[0]
	}
	q = &quantized{first: v.Producer}
	if q.first == nil || q.first.Domain != "" || q.first.Op != "QuantizeLinear" && q.first.Op != "Cast" || q.first.In(0) == nil {
		return nil, "nothing in the model rounds it to 8 bits"
	}
	for todo := []*graph.Value{v}; len(todo) > 0; todo = todo[1:] {
		if yields[todo[0]] {
			return nil, "it is an output"
		}
		for _, u := range todo[0].Uses {
			switch {
			case movesOne(u.Node):
				outs := eightBit(u.Node.Outputs)
				q.moved, todo = append(q.moved, outs...), append(todo, outs...)
			case q.undoes(u):
				q.last = append(q.last, u.Node)
			default:
				return nil, "a reader needs it in 8 bits, or with another scale"
			}
		}
	}
	return q, ""
}

// eightBit returns the values of a list that are floats of 8 bits.
func eightBit(list []*graph.Value) (found []*graph.Value) {
	for _, v := range list {
		if v != nil && isEightBit(elemOf(v.Type)) {
			found = append(found, v)
		}
	}
	return found
}

func isEightBit(e graph.ElemType) bool { return e.IsFloat() && e.Bits() == 8 }

// movesOne tells whether the node hands the elements of one 8-bit tensor on.
func movesOne(n *graph.Node) bool {
	return n.Domain == "" && moveOps[n.Op] && !isCast(n) && len(n.Subgraphs()) == 0 && len(eightBit(n.Inputs)) == 1 &&
		eightBit(n.Inputs)[0] == n.In(0)
}

// undoes tells whether a reader gives back the number that was rounded.
func (q *quantized) undoes(u graph.Use) bool {
	n := u.Node
	switch {
	case n.Domain != "" || u.Index != 0 || n.Out(0) == nil || isEightBit(elemOf(n.Out(0).Type)):
		return false
	case q.first.Op == "Cast":
		return n.Op == "Cast" && n.Out(0).Type.Elem.IsFloat()
	}
	return n.Op == "DequantizeLinear" && q.sameScale(n)
}

// sameScale tells whether a DequantizeLinear multiplies by what the QuantizeLinear divided by. Behind
// an operator that moves elements only a scalar is sure to meet the same ones.
func (q *quantized) sameScale(n *graph.Node) bool {
	a, b := q.first, n
	if !sameConst(a.In(1), b.In(1)) || !zeroOrNone(a.In(2)) || !zeroOrNone(b.In(2)) {
		return false
	}
	if s := a.In(1); s.Const != nil && s.Const.Len() == 1 {
		return true
	}
	return len(q.moved) == 0 && a.Int("axis", 1) == b.Int("axis", 1) && a.Int("block_size", 0) == b.Int("block_size", 0)
}

func sameConst(a, b *graph.Value) bool {
	if a == b {
		return a != nil
	}
	if a == nil || b == nil || a.Const == nil || b.Const == nil || a.Const.Len() != b.Const.Len() {
		return false
	}
	x, errX := a.Const.Float64s()
	y, errY := b.Const.Float64s()
	return errX == nil && errY == nil && slices.Equal(x, y)
}

func zeroOrNone(v *graph.Value) bool {
	if v == nil {
		return true
	}
	if v.Const == nil {
		return false
	}
	x, err := v.Const.Float64s()
	return err == nil && !slices.ContainsFunc(x, func(z float64) bool { return z != 0 })
}

// bypass takes the rounding out: all behind it works on the numbers that went in.
func (w *worker) bypass(q *quantized) {
	x, v := q.first.In(0), q.first.Out(0)
	v.ReplaceUses(x, nil)
	w.remove(q.first)
	for _, m := range q.moved {
		m.SetElem(elemOf(x.Type))
	}
	for _, n := range q.last {
		in, out := n.In(0), n.Out(0)
		if in.Type.Elem == out.Type.Elem && !w.yields[out] {
			w.replace(n, in)
			continue
		}
		scales := slices.Clone(n.Inputs[1:])
		become(n, in.Type.Elem, out.Type.Elem)
		for _, s := range scales {
			w.drop(s)
		}
	}
}

// become makes a node hand its first input on, cast where the types differ.
func become(n *graph.Node, from, to graph.ElemType) {
	for i := 1; i < len(n.Inputs); i++ {
		n.SetInput(i, nil)
	}
	n.TrimInputs()
	for _, a := range slices.Clone(n.Attrs) {
		n.RemoveAttr(a.Name)
	}
	if n.Op = "Identity"; from != to {
		n.Op = "Cast"
		n.SetAttr(&graph.Attr{Name: "to", Type: graph.AttrInt, I: int64(to)})
	}
}
