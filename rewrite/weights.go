package rewrite

import (
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// Below this many elements a constant is not worth a cast.
const leastStored = 64

// mostLost is the share of the elements that may become 0.
const mostLost = 0.01

// storeLow stores the large FP32 constants in the target format, and casts them back where they are
// read: the model computes as before, on weights that take half the space.
func (w *worker) storeLow() (changed bool, err error) {
	w.yields = outputsOf(w.m)
	kept := w.keptConstants()
	for g := range w.m.Graphs() {
		if insideCall(g) {
			continue
		}
		for _, v := range slices.Clone(g.Values) {
			t := storedTensor(v)
			if t == nil || kept[v] || w.yields[v] || w.leave[v.Producer] || t.Elem != graph.Float || t.Len() < leastStored {
				continue
			}
			c, err := t.Counts()
			if err != nil {
				return false, err
			}
			if why := unstorable(c, w.plan.Target); why != "" {
				w.sum.note("%q stays in fp32: %s", v.Key(), why)
				continue
			}
			w.store(v, t)
			changed = true
		}
	}
	return changed, nil
}

// keptConstants are those that an edit holds in FP32.
func (w *worker) keptConstants() map[*graph.Value]bool {
	kept := map[*graph.Value]bool{}
	for _, e := range w.edits {
		if x, ok := e.(Widen); ok {
			kept[x.Value] = true
		}
	}
	return kept
}

// storedTensor returns the tensor of an initializer that nobody replaces, or of a Constant node.
func storedTensor(v *graph.Value) *graph.Tensor {
	switch n := v.Producer; {
	case n == nil && !v.Input:
		return v.Init
	case n != nil && n.OpName() == "Constant" && n.Attr("value") != nil:
		return n.Attr("value").Tensor
	}
	return nil
}

// unstorable says why a constant cannot be stored in a format.
func unstorable(c *graph.Counts, f numfmt.Format) string {
	switch {
	case c.Overflow(f) > 0:
		return "it has numbers past the largest of " + f.String()
	case float64(c.Underflow(f)) > mostLost*float64(c.Count()):
		return "too many of its numbers would become 0 in " + f.String()
	}
	return ""
}

// store converts a constant and puts a cast between it and its readers.
func (w *worker) store(v *graph.Value, t *graph.Tensor) {
	g := v.Graph
	w.sum.Converted += t.RawLen()
	store(v, converted(t, graph.ElemOf(w.plan.Target)))
	name := w.m.Unique(v.Name + "_" + graph.Float.String())
	n := g.NewNode("Cast", "", w.nodeName(g, name))
	out := n.AddOutput(name, t.Type())
	v.ReplaceUses(out, nil)
	n.AddInput(v)
	n.SetAttr(intAttr("to", int64(graph.Float)))
	w.follow(g, v.Producer, n)
	w.sum.Casts++
}
