package infer

import (
	"slices"

	"github.com/amplint/amplint/graph"
)

func sequenceOps() map[string]operator {
	return merged(
		map[string]operator{
			"SequenceAt": sequenceAt, "SequenceConstruct": sequenceConstruct, "SequenceEmpty": sequenceEmpty,
			"SequenceInsert": sequenceInsert, "SplitToSequence": splitToSequence,
			"ConcatFromSequence": concatFromSequence, "Optional": optional, "OptionalGetElement": optionalGet,
		},
		each(identity, "SequenceErase"),
		map[string]operator{"SequenceLength": scalarOut, "OptionalHasElement": hasElement},
	)
}

func scalarOut(c *ctx) error {
	c.set(0, graph.Shape{})
	return nil
}

// hasElement is certain for an input that is left out, as in the instance of a function, or that is no optional.
func hasElement(c *ctx) error {
	c.set(0, graph.Shape{})
	k := c.in(0).Kind
	if len(c.data) > 0 && (!c.has(0) || k != graph.KindOptional && k != graph.KindUnknown) {
		c.data[0] = &data{elem: graph.Bool, dims: []int64{}, at: []num{boolNum(c.has(0))}}
	}
	return nil
}

// of returns the type of a container's elements.
func of(t graph.Type) graph.Type {
	if t.Of != nil {
		return *t.Of
	}
	return graph.Type{}
}

func sequenceAt(c *ctx) error {
	c.setType(0, of(c.in(0)))
	return nil
}

func sequenceConstruct(c *ctx) error {
	t := c.in(0)
	for i := 1; i < len(c.n.Inputs); i++ {
		t = c.join(t, c.in(i))
	}
	if t.Kind != graph.KindUnknown {
		c.setType(0, seqOf(t))
	}
	return nil
}

func sequenceEmpty(c *ctx) error {
	c.setType(0, seqOf(graph.TensorOf(graph.ElemType(c.n.Int("dtype", int64(graph.Float))), nil)))
	return nil
}

func sequenceInsert(c *ctx) error {
	t := c.in(0)
	if t.Of == nil {
		return nil
	}
	c.setType(0, seqOf(c.join(*t.Of, c.in(1))))
	return nil
}

// splitToSequence cuts along an axis: into single slices, of which the axis may go, or parts of given sizes.
func splitToSequence(c *ctx) error {
	t := c.in(0)
	t.Shape = slices.Clone(c.shape(0))
	if t.Kind != graph.KindTensor {
		return nil
	}
	if s := t.Shape; s != nil {
		axis, err := c.axis(c.n.Int("axis", 0), len(s))
		if err != nil {
			return err
		}
		switch {
		case c.has(1):
			s[axis] = c.partSize(s[axis])
		case c.n.Int("keepdims", 1) == 0:
			t.Shape = slices.Delete(s, axis, axis+1)
		default:
			s[axis] = graph.Dim{N: 1}
		}
	}
	c.setType(0, seqOf(t))
	return nil
}

// partSize is the size that all parts have: a scalar that divides the whole, or equal entries.
func (c *ctx) partSize(whole graph.Dim) graph.Dim {
	list := c.nums(1)
	for _, x := range list {
		if x.k != numInt || x.i != list[0].i {
			return c.fresh()
		}
	}
	if len(list) == 0 || list[0].i <= 0 || len(list) == 1 && (!whole.Known() || whole.N%list[0].i != 0) {
		return c.fresh()
	}
	return graph.Dim{N: list[0].i}
}

func concatFromSequence(c *ctx) error {
	t := of(c.in(0))
	c.elem(0, t.Elem)
	s := slices.Clone(t.Shape)
	if s == nil {
		return nil
	}
	joined := c.n.Int("new_axis", 0) == 0
	rank := len(s)
	if !joined {
		rank++
	}
	axis, err := c.axis(c.n.Int("axis", 0), rank)
	if err != nil {
		return err
	}
	if joined {
		s[axis] = c.fresh()
	} else {
		s = slices.Insert(s, axis, c.fresh())
	}
	c.set(0, s)
	return nil
}

// optional wraps its input, or an absent value of the type that the attribute names.
func optional(c *ctx) error {
	t := c.in(0)
	if a := c.n.Attr("type"); a != nil && len(a.Types) > 0 {
		t = a.Types[0]
	}
	if t.Kind != graph.KindUnknown {
		c.setType(0, optOf(t))
	}
	return nil
}

// optionalGet unwraps an optional; since opset 18 anything else passes.
func optionalGet(c *ctx) error {
	t := c.in(0)
	if t.Kind == graph.KindOptional {
		t = of(t)
	}
	c.setType(0, t)
	return nil
}
