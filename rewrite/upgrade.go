package rewrite

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// upgrade is how a node that means one thing in an older opset is written in a newer one.
type upgrade struct {
	at int64 // the opset that changed the operator
	// can tells whether this node can be rewritten; nil where every one can.
	can func(n *graph.Node) bool
	do  func(n *graph.Node)
}

// upgradeOf returns how an operator is rewritten where its form changed between two opsets; ok is
// false where it did not, or nothing is known.
func upgradeOf(n *graph.Node, from, to int64) (u upgrade, ok bool) {
	switch n.Op {
	case "Softmax", "LogSoftmax", "Hardmax":
		u = upgrade{13, lastAxis, func(n *graph.Node) { n.SetAttr(intAttr("axis", -1)) }}
	case "Squeeze", "Unsqueeze", "ReduceSum":
		u = upgrade{13, nil, attrToInput("axes", 1)}
	case "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare":
		u = upgrade{18, nil, attrToInput("axes", 1)}
	case "Split":
		if from >= 13 {
			u = upgrade{18, nil, countOutputs}
			break
		}
		u = upgrade{13, nil, func(n *graph.Node) {
			if attrToInput("split", 1)(n); to >= 18 {
				countOutputs(n)
			}
		}}
	case "Clip":
		u = upgrade{11, nil, clipInputs}
	case "Pad":
		u = upgrade{11, nil, padInputs}
	case "RoiAlign":
		u = upgrade{16, nil, oldPixels}
	case "DFT":
		u = upgrade{20, nil, axisInput}
	}
	return u, u.do != nil && from < u.at && u.at <= to && (u.can == nil || u.can(n))
}

func intAttr(name string, x int64) *graph.Attr {
	return &graph.Attr{Name: name, Type: graph.AttrInt, I: x}
}

// lastAxis tells whether a softmax of old, which flattens what is behind its axis, works on the last
// one, and so means the same as one of today.
func lastAxis(n *graph.Node) bool {
	if n.In(0) == nil || n.In(0).Type.Shape == nil {
		return false
	}
	axis, rank := n.Int("axis", 1), int64(len(n.In(0).Type.Shape))
	return axis == rank-1 || axis == -1
}

// attrToInput makes an integer list of an attribute an input.
func attrToInput(name string, at int) func(*graph.Node) {
	return func(n *graph.Node) {
		if a := n.Attr(name); a != nil {
			n.RemoveAttr(name)
			setConstInput(n, at, graph.IntTensor("", []int64{int64(len(a.Ints))}, a.Ints...))
		}
	}
}

// setConstInput gives a node a constant as an input.
func setConstInput(n *graph.Node, at int, t *graph.Tensor) {
	n.SetInput(at, constFor(n, n.Outputs[0].Name+"_const", t))
}

// constFor makes a constant for a node that stands in its graph: an initializer, or, before IR version 4, where
// those had to be inputs, a Constant node in front of it.
func constFor(n *graph.Node, name string, t *graph.Tensor) *graph.Value {
	g := n.Graph
	name = g.Model.Unique(name)
	if g.Model.IRVersion >= 4 {
		v := g.NewValue(name, t.Type())
		v.SetInit(t)
		return v
	}
	c := g.NewNode("Constant", "", "")
	c.SetAttr(&graph.Attr{Name: "value", Type: graph.AttrTensor, Tensor: t})
	v := c.AddOutput(name, t.Type())
	v.Const = t
	g.InsertBefore(n, c)
	return v
}

// countOutputs says how many parts a Split into equal ones has, which was implied before.
func countOutputs(n *graph.Node) {
	if n.In(1) == nil {
		n.SetAttr(intAttr("num_outputs", int64(len(n.Outputs))))
	}
}

func clipInputs(n *graph.Node) {
	lo, hi := n.Float("min", -math.MaxFloat32), n.Float("max", math.MaxFloat32)
	for i, x := range []float32{lo, hi} {
		name := []string{"min", "max"}[i]
		if n.Attr(name) != nil {
			n.RemoveAttr(name)
			setConstInput(n, 1+i, scalarLike(n.In(0), x))
		}
	}
}

// scalarLike is a scalar of the type of a value.
func scalarLike(v *graph.Value, x float32) *graph.Tensor {
	return converted(graph.FloatTensor("", []int64{}, x), v.Type.Elem)
}

func padInputs(n *graph.Node) {
	value := n.Float("value", 0)
	attrToInput("pads", 1)(n)
	if n.RemoveAttr("value"); value != 0 && n.Str("mode", "constant") == "constant" {
		setConstInput(n, 2, scalarLike(n.In(0), value))
	}
}

// oldPixels says what RoiAlign did before it could be told: it did not shift by half a pixel, which
// became the default.
func oldPixels(n *graph.Node) {
	if n.Attr("coordinate_transformation_mode") == nil {
		n.SetAttr(&graph.Attr{Name: "coordinate_transformation_mode", Type: graph.AttrString, S: "output_half_pixel"})
	}
}

// axisInput makes the axis of a DFT an input. It is always given: the default was the second, and
// became the last but one.
func axisInput(n *graph.Node) {
	axis := n.Int("axis", 1)
	n.RemoveAttr("axis")
	setConstInput(n, 2, graph.IntTensor("", []int64{}, axis))
}

// upgradeNodes rewrites the nodes whose form differs in the opset that the model now has.
func (w *worker) upgradeNodes(from, to int64) {
	for _, n := range slices.Collect(w.standard) {
		if u, ok := upgradeOf(n, from, to); ok {
			u.do(n)
		}
	}
}
