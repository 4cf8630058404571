package rewrite

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
)

// RescaleSquare multiplies what is squared by a power of two, and takes it back behind the root of the
// squares' sum or mean; an epsilon between is multiplied by the square of it. Results in FP32 stay the same
// to the bit, as long as nothing becomes subnormal.
type RescaleSquare struct {
	Square *graph.Node // Mul of a value by itself, Pow 2, ReduceSumSquare or ReduceL2
	Power  int         // of two
}

// Describe says what the edit does.
func (e RescaleSquare) Describe() string {
	return fmt.Sprintf("multiply what %q (%s) squares by 2^%d, and take it back behind the root", e.Square.Key(), e.Square.OpName(), e.Power)
}

// Safe returns true: powers of two are exact.
func (e RescaleSquare) Safe() bool { return true }

// rooted is the way from a square to its root.
type rooted struct {
	root *graph.Value // what is multiplied by half the power of the squares, or divided
	down bool         // the reciprocal root: it is divided
	eps  []operand    // the constants between, with twice the power
	sums []*graph.Value
}

// Squares returns the values between a square and its root that the edit makes smaller, the square itself
// first; ok is false where the edit cannot be made.
func (e RescaleSquare) Squares() (list []*graph.Value, eps []*graph.Value, ok bool) {
	r, ok := e.path()
	if !ok {
		return nil, nil, false
	}
	for _, o := range r.eps {
		eps = append(eps, o.n.In(o.index))
	}
	return r.sums, eps, true
}

// path follows the square to its root.
func (e RescaleSquare) path() (r rooted, ok bool) {
	n := e.Square
	if !squares(n) || n.Out(0) == nil || n.Version() < 7 || insideCall(n.Graph) { // a factor broadcasts from 7 on
		return r, false
	}
	if n.Op == "ReduceL2" {
		return rooted{root: n.Out(0), sums: []*graph.Value{n.Out(0)}}, !slices.Contains(n.Graph.Outputs, n.Out(0))
	}
	for v := n.Out(0); v != nil; {
		r.sums = append(r.sums, v)
		u, ok := onlyUse(v)
		if !ok {
			return r, false
		}
		switch down, ok := rootOp(u); {
		case ok:
			r.root, r.down = u.Node.Out(0), down
			return r, r.root != nil && !slices.Contains(r.root.Graph.Outputs, r.root)
		default:
			if more, ok := sumBetween(u, 2*e.Power); ok {
				r.eps = append(r.eps, more...)
				v = u.Node.Out(0)
				continue
			}
		}
		return r, false
	}
	return r, false
}

// squares tells whether a node squares its first input.
func squares(n *graph.Node) bool {
	switch n.OpName() {
	case "Mul":
		return n.In(0) == n.In(1)
	case "Pow":
		return constantly(n.In(1), 2)
	}
	return n.OpName() == "ReduceSumSquare" || n.OpName() == "ReduceL2"
}

// constantly tells whether a value is the constant x and no other number.
func constantly(v *graph.Value, x float64) bool {
	t := tensorOfConst(v)
	if t == nil || t.Len() != 1 {
		return false
	}
	list, err := t.Float64s()
	return err == nil && list[0] == x
}

// rootOp tells whether a use takes the root, and whether the reciprocal of it.
func rootOp(u graph.Use) (down, ok bool) {
	switch {
	case u.Node.OpName() == "Sqrt":
		return false, true
	case u.Node.OpName() == "Pow" && u.Index == 0 && constantly(u.Node.In(1), 0.5):
		return false, true
	case u.Node.OpName() == "Pow" && u.Index == 0 && constantly(u.Node.In(1), -0.5):
		return true, true
	}
	return false, false
}

// sumBetween is between for what stands between squares and root: also bounds and factors by constants.
func sumBetween(u graph.Use, power int) (list []operand, ok bool) {
	switch other := 1 - u.Index; u.Node.OpName() {
	case "Max", "Min":
		if len(u.Node.Inputs) == 2 && scalable(u.Node.In(other)) {
			return []operand{{u.Node, other, power}}, true
		}
		return nil, false
	case "Mul":
		return nil, scalable(u.Node.In(other))
	case "Div":
		return nil, u.Index == 0 && scalable(u.Node.In(1))
	}
	return between(u.Node, u.Index, power)
}

func (w *worker) rescaleSquare(e RescaleSquare) bool {
	r, ok := e.path()
	if !ok {
		w.sum.note("no effect: %s: nothing takes the root of the squares", e.Describe())
		return false
	}
	g, x := e.Square.Graph, e.Square.In(0)
	small := w.times(g, x, e.Power, func(n *graph.Node) { g.InsertBefore(e.Square, n) })
	for i, in := range e.Square.Inputs {
		if in == x {
			e.Square.SetInput(i, small.Out(0))
		}
	}
	for _, o := range r.eps {
		w.multiply(o)
	}
	back := -e.Power
	if r.down {
		back = e.Power
	}
	uses := append([]graph.Use(nil), r.root.Uses...)
	root := w.times(g, r.root, back, func(n *graph.Node) { g.InsertAfter(r.root.Producer, n) })
	for _, u := range uses {
		u.Node.SetInput(u.Index, root.Out(0))
	}
	return true
}

// times makes a node of a graph that multiplies a value by a power of two, where insert puts it.
func (w *worker) times(g *graph.Graph, x *graph.Value, power int, insert func(*graph.Node)) *graph.Node {
	name := w.m.Unique(x.Name + "_rescaled")
	n := g.NewNode("Mul", "", w.named(g, "rescale", name))
	n.AddInput(x)
	n.AddOutput(name, x.Type)
	insert(n)
	n.AddInput(constFor(n, x.Name+"_factor", scalarLike(x, float32(pow2(power)))))
	return n
}
