package ort

import (
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// moves are the operators whose results hold what their inputs held, so that rounding again would
// change nothing. That it is no complete list costs time only.
var moves = []string{
	"Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Slice", "Gather", "GatherElements", "GatherND",
	"Concat", "Split", "Expand", "Tile", "Where", "Relu", "MaxPool", "If", "Loop", "Scan",
}

// cast makes a node that casts v to an element type; its output is yet to be set.
func cast(v *graph.Value, g *graph.Graph, e graph.ElemType) *graph.Node {
	n := g.NewNode("Cast", "", g.Model.Unique(v.Name+"_cast"))
	n.SetAttr(&graph.Attr{Name: "to", Type: graph.AttrInt, I: int64(e)})
	n.AddInput(v)
	return n
}

// castTo makes a node that casts v to an element type, and its result.
func castTo(v *graph.Value, g *graph.Graph, e graph.ElemType) (*graph.Node, *graph.Value) {
	n := cast(v, g, e)
	return n, n.AddOutput(g.Model.Unique(v.Name+"_"+e.String()), graph.TensorOf(e, v.Type.Shape))
}

// source rounds what stands at the beginning: an input of the model, or an initializer that is not
// converted. It stays as it is, its readers get the rounded form.
func (x *instrumenter) source(v *graph.Value, f numfmt.Format) {
	g := v.Graph
	var added []*graph.Node
	r := v
	if v.Type.Elem == graph.Float {
		var n *graph.Node
		n, r = castTo(v, g, graph.ElemOf(f))
		added = append(added, n)
	}
	n, wide := castTo(r, g, graph.Float)
	added = append(added, n)
	isFloat := v.Type.Elem == graph.Float
	v.ReplaceUses(wide, func(u graph.Use) bool { return slices.Contains(added, u.Node) || isFloat && pinned(u) })
	g.InsertAfter(nil, added...)
}

// initial rounds an initializer once and for all.
func (x *instrumenter) initial(v *graph.Value, f numfmt.Format) {
	t := v.Init
	if t.Elem != graph.Float {
		v.SetInit(t.Converted(graph.Float, false))
		return
	}
	if slices.ContainsFunc(v.Uses, pinned) {
		raw := t.Converted(graph.Float, false)
		raw.Name = x.m.Unique(t.Name + "_raw")
		v.ReplaceUses(v.Graph.AddInit(raw), func(u graph.Use) bool { return !pinned(u) })
	}
	v.SetInit(t.Converted(graph.ElemOf(f), false).Converted(graph.Float, false))
}

// result rounds what a node makes.
func (x *instrumenter) result(v *graph.Value, f numfmt.Format) {
	g, n := v.Graph, v.Producer
	wasHalf := half(v.Type.Elem)
	given := wasHalf && v.Output && g.Kind == graph.MainGraph
	if wasHalf && !given {
		v.SetElem(graph.Float)
	}
	if slices.Contains(moves, n.OpName()) && !given {
		return
	}
	raw := g.NewValue(x.m.Unique(v.Name+"_raw"), graph.TensorOf(graph.Float, v.Type.Shape))
	n.SetOutput(v.Index, raw)
	if given {
		x.output(v, raw, n)
		return
	}
	low, h := castTo(raw, g, graph.ElemOf(f))
	wide := cast(h, g, graph.Float)
	wide.SetOutput(0, v)
	g.InsertAfter(n, low, wide)
	if n.Op == "Constant" {
		v.ReplaceUses(raw, func(u graph.Use) bool { return !pinned(u) })
	}
}

// output makes an output of the model, which keeps its type, of what its node computes in float.
// Those inside the model that read it read its float form.
func (x *instrumenter) output(v, raw *graph.Value, n *graph.Node) {
	low := cast(raw, v.Graph, v.Type.Elem)
	low.SetOutput(0, v)
	wide, r := castTo(v, v.Graph, graph.Float)
	v.ReplaceUses(r, func(u graph.Use) bool { return u.Node == wide })
	v.Graph.InsertAfter(n, low, wide)
}
