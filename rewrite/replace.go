package rewrite

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
)

// Replace puts one operator in the place of the nodes that compute a value: the same function, which
// the operator computes without the intermediate results that overflow.
type Replace struct {
	Value  *graph.Value // of the old nodes; the new node makes it
	Op     string
	Inputs []*graph.Value
	Consts []*graph.Tensor // further inputs
	Attrs  []*graph.Attr
}

// Describe says what the edit does.
func (e Replace) Describe() string {
	return fmt.Sprintf("compute %q by %s", e.Value.Key(), e.Op)
}

// Safe returns true: the function is the same, its results differ in the last bits.
func (e Replace) Safe() bool { return true }

// Rescale multiplies the first operand of a product by a power of two, and takes it back in the scale
// behind the product: results in FP32 stay the same to the bit.
type Rescale struct {
	Product *graph.Node // MatMul
	Scale   *graph.Node // Mul or Div of its result by a constant
	Power   int         // of two
}

// Describe says what the edit does.
func (e Rescale) Describe() string {
	return fmt.Sprintf("multiply the first operand of %q (%s) by 2^%d, and take it back in %q", e.Product.Key(), e.Product.Op, e.Power, e.Scale.Key())
}

// Safe returns true: powers of two are exact.
func (e Rescale) Safe() bool { return true }

// restructure carries out the edits that change which nodes there are, and tells whether any did.
func (w *worker) restructure() (changed bool) {
	for _, e := range w.edits {
		switch e := e.(type) {
		case Replace:
			changed = w.replaceBy(e) || changed
		case Rescale:
			changed = w.rescale(e) || changed
		case RescaleSquare:
			changed = w.rescaleSquare(e) || changed
		case Rebalance:
			changed = w.rebalance(e) || changed
		}
	}
	return changed
}

func (w *worker) replaceBy(e Replace) bool {
	old := e.Value.Producer
	if old == nil || old.Index < 0 || insideCall(old.Graph) {
		w.sum.note("no effect: %s: its nodes are inside a function, or gone", e.Describe())
		return false
	}
	w.yields = outputsOf(w.m)
	g := old.Graph
	n := g.NewNode(e.Op, "", "")
	if old.Name != "" {
		n.Name = w.m.Unique(old.Name + "/" + e.Op)
	}
	for _, v := range e.Inputs {
		n.AddInput(v)
	}
	for _, a := range e.Attrs {
		n.SetAttr(a)
	}
	g.InsertBefore(old, n)
	for i, t := range e.Consts {
		n.AddInput(constFor(n, fmt.Sprintf("%s_operand_%d", e.Value.Name, i), t))
	}
	n.SetOutput(0, e.Value)
	w.removeDead(old)
	return true
}

// removeDead takes a node out, and what was there for it alone.
func (w *worker) removeDead(n *graph.Node) {
	w.remove(n)
	for _, v := range n.Inputs {
		if v == nil || v.Producer == nil || v.Producer.Index < 0 || v.Producer.Graph != n.Graph {
			continue
		}
		if p := v.Producer; !w.needed(p) {
			w.removeDead(p)
		}
	}
}

// needed tells whether something reads a result of the node.
func (w *worker) needed(n *graph.Node) bool {
	for _, o := range n.Outputs {
		if o != nil && (len(o.Uses) > 0 || w.yields[o]) {
			return true
		}
	}
	return false
}

func (w *worker) rescale(e Rescale) bool {
	at := 1
	if e.Scale.In(1) == e.Product.Out(0) {
		at = 0
	}
	t := tensorOfConst(e.Scale.In(at))
	if t == nil || e.Product.Index < 0 || insideCall(e.Product.Graph) || e.Scale.Op == "Div" && at == 0 {
		w.sum.note("no effect: %s: the scale is no constant, or inside a function", e.Describe())
		return false
	}
	back := -e.Power
	if e.Scale.Op == "Div" {
		back = e.Power
	}
	g, x := e.Product.Graph, e.Product.In(0)
	k, err := mapped(t, func(x float64) float64 { return x * pow2(back) })
	if err != nil {
		return false
	}
	n := w.times(g, x, e.Power, func(n *graph.Node) { g.InsertBefore(e.Product, n) })
	e.Product.SetInput(0, n.Out(0))
	old := e.Scale.In(at)
	e.Scale.SetInput(at, constFor(e.Scale, old.Name+"_rescaled", k))
	w.yields = outputsOf(w.m)
	w.drop(old)
	return true
}

func pow2(p int) float64 { return math.Ldexp(1, p) }

// tensorOfConst returns the tensor of a constant, however it is held; nil for others.
func tensorOfConst(v *graph.Value) *graph.Tensor {
	if v == nil || v.Input {
		return nil
	}
	return v.Const
}
