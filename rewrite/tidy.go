package rewrite

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
)

// maxFold is how many elements a constant may have whose cast is carried out.
const maxFold = 1024

// foldCasts carries out casts of integer constants to another integer type, which some exporters
// write by the dozen for shapes. Casts cost a kernel each, whatever they convert.
func (w *worker) foldCasts() {
	yields := outputsOf(w.m)
	for g := range w.m.Graphs() {
		if insideCall(g) {
			continue
		}
		for _, n := range append([]*graph.Node(nil), g.Nodes...) {
			if t := w.foldedCast(n); t != nil {
				in := n.In(0)
				becomeConstant(n, t)
				if p := in.Producer; p != nil && len(in.Uses) == 0 && !yields[in] {
					p.Graph.Remove(p)
				}
				w.sum.Removed++
			}
		}
	}
}

// foldedCast returns the result of a cast of an integer constant, nil where it is none.
func (w *worker) foldedCast(n *graph.Node) *graph.Tensor {
	if !isCast(n) || n.Op != "Cast" || n.In(0).Input {
		return nil
	}
	t := tensorOf(n.In(0))
	if t == nil || !t.Elem.IsInt() || t.Len() > maxFold || n.In(0).Producer != nil && n.In(0).Producer.Op != "Constant" {
		return nil
	}
	x, err := t.Int64s()
	if err != nil || t.Elem == graph.Uint64 {
		return nil
	}
	switch to := graph.ElemType(n.Int("to", 0)); to {
	case graph.Int64:
		return graph.IntTensor("", t.Dims, x...)
	case graph.Int32:
		return int32Tensor(t.Dims, x)
	}
	return nil
}

// int32Tensor makes a tensor of numbers that all fit, nil where one does not.
func int32Tensor(dims []int64, x []int64) *graph.Tensor {
	var raw []byte
	for _, v := range x {
		if v < math.MinInt32 || v > math.MaxInt32 {
			return nil
		}
		raw = binary.LittleEndian.AppendUint32(raw, uint32(int32(v)))
	}
	return graph.NewTensor("", graph.Int32, dims, raw)
}

// becomeConstant puts a Constant in the place of a cast.
func becomeConstant(n *graph.Node, t *graph.Tensor) {
	g, out := n.Graph, n.Out(0)
	c := g.NewNode("Constant", "", n.Name)
	c.SetAttr(&graph.Attr{Name: "value", Type: graph.AttrTensor, Tensor: t})
	g.InsertBefore(n, c)
	c.SetOutput(0, out)
	out.Const = t
	g.Remove(n)
}

// dropNoops takes out the casts that change nothing and that made results of the model before: these
// are made by another cast now.
func (w *worker) dropNoops() {
	yields := outputsOf(w.m)
	for g := range w.m.Graphs() {
		if insideCall(g) {
			continue
		}
		for _, n := range append([]*graph.Node(nil), g.Nodes...) {
			if isCast(n) && !yields[n.Out(0)] && elemOf(n.In(0).Type) == elemOf(n.Out(0).Type) && elemOf(n.Out(0).Type) != graph.Undefined {
				n.Out(0).ReplaceUses(n.In(0), nil)
				g.Remove(n)
				w.sum.Removed++
			}
		}
	}
}

// mergeCasts leaves one of several casts of a value to the same type, the first.
func (w *worker) mergeCasts() {
	yields := outputsOf(w.m)
	for g := range w.m.Graphs() {
		if insideCall(g) {
			continue
		}
		first := map[sameCast]*graph.Value{}
		for _, n := range append([]*graph.Node(nil), g.Nodes...) {
			if !isCast(n) || n.Op != "Cast" {
				continue
			}
			k := castKey(n)
			switch u := first[k]; {
			case u == nil:
				first[k] = n.Out(0)
			case !yields[n.Out(0)]:
				n.Out(0).ReplaceUses(u, nil)
				g.Remove(n)
				w.sum.Removed++
			}
		}
	}
}

// sameCast is what casts have in common that make the same numbers.
type sameCast struct {
	v     *graph.Value
	attrs string
}

func castKey(n *graph.Node) sameCast {
	attrs := fmt.Sprint(n.Int("to", 0), n.Int("saturate", 1), n.Str("round_mode", "up"))
	return sameCast{n.In(0), attrs}
}
