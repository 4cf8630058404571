package analyze

import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/rewrite"
)

// PlanAttr is an attribute of the node that a replace makes; one of the fields beside the name is set.
type PlanAttr struct {
	Name  string   `yaml:"name"`
	Int   *int64   `yaml:"int,omitempty"`
	Float *float32 `yaml:"float,omitempty"`
	Ints  []int64  `yaml:"ints,omitempty"`
}

// PlanTensor is a constant that a replace adds: its type, its dimensions, its elements.
type PlanTensor struct {
	Type     string    `yaml:"type"`
	Dims     []int64   `yaml:"dims"`
	Elements []float64 `yaml:"elements"`
}

func replaceEdit(e rewrite.Replace) PlanEdit {
	x := PlanEdit{Do: "replace", Value: e.Value.Key(), Op: e.Op}
	for _, v := range e.Inputs {
		x.Inputs = append(x.Inputs, v.Key())
	}
	for _, a := range e.Attrs {
		p := PlanAttr{Name: a.Name, Ints: a.Ints}
		switch a.Type {
		case graph.AttrInt:
			p.Int = &a.I
		case graph.AttrFloat:
			p.Float = &a.F
		}
		x.Attrs = append(x.Attrs, p)
	}
	for _, t := range e.Consts {
		list, _ := t.Float64s() // made in memory
		x.Consts = append(x.Consts, PlanTensor{t.Elem.String(), t.Dims, list})
	}
	return x
}

// structural makes the edits that name more than one value or node, nil where a field is missing or
// names nothing.
func (x *PlanEdit) structural(values map[string]*graph.Value, nodes map[string]*graph.Node) rewrite.Edit {
	v, n, behind := values[x.Value], nodes[x.Node], nodes[x.Behind]
	switch {
	case x.Do == "rescale" && n != nil && behind != nil && x.Power != nil:
		return rewrite.Rescale{Product: n, Scale: behind, Power: *x.Power}
	case x.Do == "rebalance" && n != nil && behind != nil && x.Power != nil:
		return rewrite.Rebalance{First: n, Second: behind, Power: *x.Power}
	case x.Do != "replace" || v == nil || x.Op == "":
		return nil
	}
	e := rewrite.Replace{Value: v, Op: x.Op}
	for _, key := range x.Inputs {
		if values[key] == nil {
			return nil
		}
		e.Inputs = append(e.Inputs, values[key])
	}
	for _, a := range x.Attrs {
		e.Attrs = append(e.Attrs, a.attr())
	}
	for _, c := range x.Consts {
		t := c.tensor()
		if t == nil {
			return nil
		}
		e.Consts = append(e.Consts, t)
	}
	return e
}

func (a *PlanAttr) attr() *graph.Attr {
	switch {
	case a.Int != nil:
		return &graph.Attr{Name: a.Name, Type: graph.AttrInt, I: *a.Int}
	case a.Float != nil:
		return &graph.Attr{Name: a.Name, Type: graph.AttrFloat, F: *a.Float}
	}
	return &graph.Attr{Name: a.Name, Type: graph.AttrInts, Ints: a.Ints}
}

func (c *PlanTensor) tensor() *graph.Tensor {
	e, ok := graph.ParseElem(c.Type)
	count := int64(1)
	for _, d := range c.Dims {
		count *= d
	}
	switch {
	case !ok || count != int64(len(c.Elements)):
		return nil
	case e == graph.Int64:
		list := make([]int64, len(c.Elements))
		for i, x := range c.Elements {
			list[i] = int64(x)
		}
		return graph.IntTensor("", c.Dims, list...)
	case !e.IsFloat():
		return nil
	}
	list := make([]float32, len(c.Elements))
	for i, x := range c.Elements {
		list[i] = float32(x)
	}
	t := graph.FloatTensor("", c.Dims, list...)
	if e != graph.Float {
		t = t.Converted(e, false)
	}
	return t
}
