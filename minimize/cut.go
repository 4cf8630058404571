package minimize

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

// Range is what a value was seen to hold, or may hold.
type Range struct{ Lo, Hi float64 }

// rangeKey begins the metadata keys that declare the range of an input.
const rangeKey = "amplint.range."

// maxFolded bounds the elements of a computed constant that takes the place of its computation.
const maxFolded = 1 << 12

// cut returns the kept nodes of a model's main graph as a model of its own. What they read from
// outside becomes an input with the range that is known of it, or a constant; what nothing among
// them reads is an output.
func cut(base *graph.Model, keep map[int]bool, ranges map[string]Range) (*graph.Model, error) {
	m := base.Clone()
	g := m.Graph
	for len(g.Outputs) > 0 {
		g.DropOutput(0)
	}
	fold(g, keep)
	loose := detach(g, keep)
	for _, v := range loose {
		if len(v.Uses) == 0 {
			continue
		}
		if v.Type.Kind == graph.KindUnknown {
			return nil, fmt.Errorf("the type of %s is not known", v.Name)
		}
		g.MakeInput(v)
	}
	for _, n := range g.Nodes {
		for _, v := range n.Outputs {
			if v != nil && len(v.Uses) == 0 {
				g.AddOutput(v)
			}
		}
	}
	tidy(m, ranges)
	return Reread(m)
}

// fold makes constants that are computed outside of the part initializers.
func fold(g *graph.Graph, keep map[int]bool) {
	for i, n := range g.Nodes {
		for _, v := range n.Outputs {
			if v == nil || v.Const == nil || v.Const.Len() > maxFolded && n.Op != "Constant" || keep[i] && n.Op != "Constant" {
				continue
			}
			t := v.Const
			n.SetOutput(v.Index, nil)
			v.SetInit(t)
		}
	}
}

// detach removes the nodes that are not kept and returns the values that they made.
func detach(g *graph.Graph, keep map[int]bool) []*graph.Value {
	var gone []*graph.Node
	for i, n := range g.Nodes {
		if !keep[i] || n.Op == "Constant" && n.Domain == "" {
			gone = append(gone, n)
		}
	}
	var loose []*graph.Value
	for _, n := range gone {
		for i, v := range n.Outputs {
			if v != nil {
				n.SetOutput(i, nil)
				loose = append(loose, v)
			}
		}
		g.Remove(n)
	}
	return loose
}

// tidy drops inputs, initializers, functions, declarations and metadata that serve nothing in the
// part, and notes the ranges of its inputs.
func tidy(m *graph.Model, ranges map[string]Range) {
	g := m.Graph
	for _, v := range append([]*graph.Value{}, g.Inits()...) {
		if len(v.Uses) == 0 {
			g.RemoveInit(v)
		}
	}
	for _, v := range append([]*graph.Value{}, g.Inputs...) {
		if len(v.Uses) == 0 {
			g.DropInput(v)
		}
	}
	for _, v := range g.Values {
		v.DropInfo()
	}
	m.Functions = called(m)
	old := m.Meta
	m.Meta = nil
	for _, v := range append(append([]*graph.Value{}, g.Inputs...), g.Inits()...) {
		r, ok := ranges[v.Name]
		if given := meta(old, rangeKey+v.Name); given != "" {
			m.Meta = append(m.Meta, graph.Entry{Key: rangeKey + v.Name, Value: given})
		} else if ok && v.Init == nil {
			m.Meta = append(m.Meta, graph.Entry{Key: rangeKey + v.Name, Value: r.String()})
		}
	}
}

// String writes the range as metadata hold it.
func (r Range) String() string {
	text := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	return "[" + text(r.Lo) + "," + text(r.Hi) + "]"
}

func meta(list []graph.Entry, key string) string {
	for _, e := range list {
		if e.Key == key {
			return e.Value
		}
	}
	return ""
}

// called returns the functions that nodes of the model call, those inside of functions included.
func called(m *graph.Model) []*graph.Function {
	used := map[string]bool{}
	for n := range m.Nodes() {
		used[n.Domain+"\x00"+n.Op] = true
	}
	var list []*graph.Function
	for _, f := range m.Functions {
		if used[strings.TrimPrefix(f.Domain, "ai.onnx")+"\x00"+f.Name] || used[f.Domain+"\x00"+f.Name] {
			list = append(list, f)
		}
	}
	return list
}

// Reread writes a model and reads it again: what an edit has left stale is gone.
func Reread(m *graph.Model) (*graph.Model, error) {
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		return nil, err
	}
	return graph.Decode(b.Bytes(), m.Dir)
}
