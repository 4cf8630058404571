package refeval

import "github.com/amplint/amplint/graph"

// hasAttr tells whether the node itself has the attribute.
func (c *Call) hasAttr(name string) bool { return c.Node.Attr(name) != nil }

// Int returns an integer attribute: the node's, else the default of the operator's version, else 0.
func (c *Call) Int(name string) int {
	if a := c.typed(name, graph.AttrInt); a != nil {
		return int(a.I)
	}
	if c.schema != nil {
		if a, ok := c.schema.Attr(name); ok && a.HasDefault {
			return int(a.Default.Int)
		}
	}
	return 0
}

// IntOr returns an integer attribute of the node, or def whatever the operator's own default.
func (c *Call) IntOr(name string, def int) int {
	if a := c.typed(name, graph.AttrInt); a != nil {
		return int(a.I)
	}
	return def
}

// Float returns a float attribute, as [Call.Int] does.
func (c *Call) Float(name string) float64 {
	if a := c.typed(name, graph.AttrFloat); a != nil {
		return float64(a.F)
	}
	if c.schema != nil {
		if a, ok := c.schema.Attr(name); ok && a.HasDefault {
			return float64(a.Default.Float)
		}
	}
	return 0
}

// FloatOr returns a float attribute of the node, or def.
func (c *Call) FloatOr(name string, def float64) float64 {
	if a := c.typed(name, graph.AttrFloat); a != nil {
		return float64(a.F)
	}
	return def
}

// Str returns a string attribute, as [Call.Int] does.
func (c *Call) Str(name string) string {
	if a := c.typed(name, graph.AttrString); a != nil {
		return a.S
	}
	if c.schema != nil {
		if a, ok := c.schema.Attr(name); ok && a.HasDefault {
			return a.Default.Str
		}
	}
	return ""
}

// Ints returns a list of integers, the default where the node has none, nil where that has none.
func (c *Call) Ints(name string) []int {
	var list []int64
	if a := c.typed(name, graph.AttrInts); a != nil {
		list = append([]int64{}, a.Ints...)
	} else if c.schema != nil {
		if a, ok := c.schema.Attr(name); ok {
			list = a.Default.Ints
		}
	}
	if list == nil {
		return nil
	}
	out := make([]int, len(list))
	for i, v := range list {
		out[i] = int(v)
	}
	return out
}

// IntsOr returns a list of n integers, all def where the node has none. Another length ends the
// kernel.
func (c *Call) IntsOr(name string, n, def int) []int {
	out := c.Ints(name)
	if out == nil {
		out = make([]int, n)
		for i := range out {
			out[i] = def
		}
	}
	if len(out) != n {
		refuse("attribute %s has %d numbers, %d are needed", name, len(out), n)
	}
	return out
}

// Floats returns a list of floats, as [Call.Ints] does.
func (c *Call) Floats(name string) []float32 {
	if a := c.typed(name, graph.AttrFloats); a != nil {
		return a.Floats
	}
	if c.schema != nil {
		if a, ok := c.schema.Attr(name); ok {
			return a.Default.Floats
		}
	}
	return nil
}

// Strs returns a list of strings, as [Call.Ints] does.
func (c *Call) Strs(name string) []string {
	if a := c.typed(name, graph.AttrStrings); a != nil {
		return a.Strings
	}
	if c.schema != nil {
		if a, ok := c.schema.Attr(name); ok {
			return a.Default.Strings
		}
	}
	return nil
}

// Tensor returns a tensor attribute, nil where the node has none.
func (c *Call) Tensor(name string) *Tensor {
	a := c.typed(name, graph.AttrTensor)
	if a == nil {
		return nil
	}
	t, err := FromGraph(a.Tensor)
	if err != nil {
		refuse("attribute %s: %w", name, err)
	}
	return t
}

// typed returns the attribute of the name; one of another type ends the kernel.
func (c *Call) typed(name string, t graph.AttrType) *graph.Attr {
	a := c.Node.Attr(name)
	if a != nil && a.Type != t {
		refuse("attribute %s is of type %d, not %d", name, a.Type, t)
	}
	return a
}

// elemAttr returns an attribute that names an element type. Cast of opset 1 spells it.
func (c *Call) elemAttr(name string) graph.ElemType {
	if a := c.Node.Attr(name); a != nil && a.Type == graph.AttrString {
		return elemNamed(a.S)
	}
	return graph.ElemType(c.Int(name))
}
