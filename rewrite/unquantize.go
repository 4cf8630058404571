package rewrite

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

// unquantize carries out the Unquantize edits, and for the target FP32 takes every rounding to 8-bit
// floats out that has its counterpart. It tells whether anything changed.
func (w *worker) unquantize() (changed bool) {
	for i := 0; i < len(w.edits); i++ {
		u, ok := w.edits[i].(Unquantize)
		if !ok {
			continue
		}
		w.inlineAround(u.Value.Graph)
		u = w.edits[i].(Unquantize)
		w.yields = outputsOf(w.m)
		if !slices.Contains(u.Value.Graph.Values, u.Value) {
			continue // it went with the rounding that another edit named
		}
		if why := w.bypassed(u.Value); why != "" {
			w.sum.note("no effect: %s: %s", u.Describe(), why)
			continue
		}
		changed = true
	}
	if graph.ElemOf(w.plan.Target) != graph.Float {
		return changed
	}
	return w.unquantizeAll() || changed
}

// inlineAround replaces the calls around a graph by their bodies, as far as that is possible.
func (w *worker) inlineAround(g *graph.Graph) {
	found := map[*graph.Node]bool{}
	for note(found, g); len(found) > 0; note(found, g) {
		for n := range found {
			w.inline(n)
			if w.opaque[n] {
				return
			}
		}
		clear(found)
	}
}

func (w *worker) bypassed(v *graph.Value) (why string) {
	switch {
	case insideCall(v.Graph):
		return "the function it is in cannot be inlined"
	case !isEightBit(elemOf(v.Type)):
		return "it is no 8-bit float"
	}
	q, why := quantizedOf(v, w.yields)
	if why == "" {
		w.bypass(q)
	}
	return why
}

func (w *worker) unquantizeAll() (changed bool) {
	w.yields = outputsOf(w.m)
	for g := range w.m.Graphs() {
		if insideCall(g) {
			continue
		}
		for _, n := range slices.Clone(g.Nodes) {
			switch {
			case n.Index < 0 || w.leave[n] || n.Domain != "" || n.Out(0) == nil:
			case n.Op == "QuantizeLinear" && isEightBit(elemOf(n.Out(0).Type)):
				changed = w.bypassed(n.Out(0)) == "" || changed
			case n.Op == "DequantizeLinear" && len(n.Inputs) > 1:
				changed = w.dequantize(n) || changed
			}
		}
	}
	return changed
}

// replace takes a node out whose readers, and the edits, shall go on with v.
func (w *worker) replace(n *graph.Node, v *graph.Value) {
	out := n.Out(0)
	for i, e := range w.edits {
		if x, ok := e.(Widen); ok && x.Value == out {
			w.edits[i] = Widen{v}
		}
	}
	out.ReplaceUses(v, nil)
	w.remove(n)
}

// remove takes a node out, and the constants that nothing else reads.
func (w *worker) remove(n *graph.Node) {
	n.Graph.Remove(n)
	for _, v := range n.Inputs {
		w.drop(v)
	}
}

// drop removes a constant that nothing reads any more: an initializer, or the node that makes it.
func (w *worker) drop(v *graph.Value) {
	switch {
	case v == nil || v.Input || len(v.Uses) > 0 || w.yields[v]:
	case v.Init != nil:
		v.Graph.RemoveInit(v)
	case v.Producer != nil && v.Producer.Index >= 0 && v.Producer.OpName() == "Constant": // not gone already
		w.remove(v.Producer)
	}
}

// dequantize carries out a DequantizeLinear of 8-bit floats that the file holds.
func (w *worker) dequantize(n *graph.Node) bool {
	x, s, out := n.In(0), n.In(1), n.Out(0)
	if x == nil || s == nil || x.Init == nil || x.Input || !isEightBit(x.Init.Elem) || s.Const == nil || !zeroOrNone(n.In(2)) || w.yields[out] {
		return false
	}
	t := dequantized(x.Init, s.Const, int(n.Int("axis", 1)), n.Int("block_size", 0))
	if t == nil {
		return false
	}
	v := n.Graph.NewValue(w.m.Unique(x.Name+"_"+graph.Float.String()), t.Type())
	v.SetInit(converted(t, out.Type.Elem))
	w.sum.Converted += x.Init.RawLen()
	w.replace(n, v)
	return true
}

// dequantized multiplies a tensor by its scale: one number, one for each index of the axis, or one
// for each block of it. It returns nil where the shapes do not fit.
func dequantized(t, scale *graph.Tensor, axis int, block int64) *graph.Tensor {
	s, err := scale.Float64s()
	at := graph.ScaleAt(t.Dims, int64(len(s)), axis, block)
	if err != nil || at == nil {
		return nil
	}
	if axis < 0 {
		axis += len(t.Dims)
	}
	if len(s) == 1 {
		axis, block = -1, 0
	}
	if block == 0 {
		return t.Unscaled(graph.Float, graph.ChannelsOf(t.Dims, axis), single(s))
	}
	x, err := t.Float64s()
	if err != nil {
		return nil
	}
	for i := range x {
		x[i] *= s[at(int64(i))]
	}
	return graph.FloatTensor("", t.Dims, single(x)...)
}

func single(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}
