package infer

import (
	"fmt"
	"math"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
)

// ctx is one node while it is inferred: what the function of its operator reads and sets.
type ctx struct {
	*walk
	n    *graph.Node
	op   *schema.Op // nil where no table of the standard has the operator
	ver  int64
	out  []graph.Type
	data []*data // folded outputs, nil where there is none

	folded []*graph.Tensor // outputs computed by the evaluator
}

// context prepares a node: its outputs have the element types that the schema alone tells.
func (w *walk) context(n *graph.Node) *ctx {
	c := &ctx{walk: w, n: n, ver: n.Version(), out: make([]graph.Type, len(n.Outputs)), data: make([]*data, len(n.Outputs))}
	if c.ver == 0 { // not imported: onnxruntime takes the newest of its own domains then
		c.ver = math.MaxInt32
	}
	c.op, _ = schema.Lookup(n.Domain, n.Op, c.ver)
	if c.op == nil {
		return c
	}
	in := make([]schema.Type, len(n.Inputs))
	for i := range in {
		in[i] = toSchema(c.in(i))
	}
	for i := range c.out {
		if t, ok := c.op.OutputType(i, in); ok {
			c.out[i] = fromSchema(t)
		}
	}
	return c
}

func toSchema(t graph.Type) schema.Type {
	s := schema.Type{Elem: int32(t.Elem)}
	switch t.Kind {
	case graph.KindTensor:
		s.Kind = schema.Tensor
	case graph.KindSparse:
		s.Kind = schema.SparseTensor
	case graph.KindSequence, graph.KindOptional:
		return containerSchema(t)
	case graph.KindMap:
		s.Kind, s.Key = schema.Map, int32(t.Elem)
		if t.Of != nil {
			s.Elem = int32(t.Of.Elem)
		}
	}
	if s.Elem == 0 {
		return schema.Type{}
	}
	return s
}

func containerSchema(t graph.Type) schema.Type {
	if t.Of == nil {
		return schema.Type{}
	}
	of := toSchema(*t.Of)
	switch {
	case of.Kind == schema.Tensor && t.Kind == graph.KindSequence:
		of.Kind = schema.Sequence
	case of.Kind == schema.Tensor:
		of.Kind = schema.OptionalTensor
	case of.Kind == schema.Sequence && t.Kind == graph.KindOptional:
		of.Kind = schema.OptionalSequence
	case of.Kind == schema.Map && t.Kind == graph.KindSequence:
		of.Kind = schema.SequenceOfMaps
	default:
		return schema.Type{}
	}
	return of
}

func fromSchema(s schema.Type) graph.Type {
	tensor := graph.TensorOf(graph.ElemType(s.Elem), nil)
	switch s.Kind {
	case schema.Tensor:
		return tensor
	case schema.SparseTensor:
		tensor.Kind = graph.KindSparse
		return tensor
	case schema.Sequence:
		return seqOf(tensor)
	case schema.OptionalTensor:
		return optOf(tensor)
	case schema.OptionalSequence:
		return optOf(seqOf(tensor))
	case schema.Map:
		return mapOf(s)
	case schema.SequenceOfMaps:
		return seqOf(mapOf(s))
	}
	return graph.Type{}
}

func seqOf(t graph.Type) graph.Type { return graph.Type{Kind: graph.KindSequence, Of: &t} }

func optOf(t graph.Type) graph.Type { return graph.Type{Kind: graph.KindOptional, Of: &t} }

func mapOf(s schema.Type) graph.Type {
	of := graph.TensorOf(graph.ElemType(s.Elem), graph.Shape{})
	return graph.Type{Kind: graph.KindMap, Elem: graph.ElemType(s.Key), Of: &of}
}

func (c *ctx) errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// has tells whether input i is given.
func (c *ctx) has(i int) bool { return c.n.In(i) != nil }

// in returns the type of input i, the zero type where it is left out.
func (c *ctx) in(i int) graph.Type {
	if v := c.n.In(i); v != nil {
		return v.Type
	}
	return graph.Type{}
}

// shape returns the shape of input i, nil where it is unknown.
func (c *ctx) shape(i int) graph.Shape {
	if t := c.in(i); t.Kind == graph.KindTensor || t.Kind == graph.KindSparse {
		return t.Shape
	}
	return nil
}

// rank returns the rank of input i, -1 where it is unknown.
func (c *ctx) rank(i int) int {
	if s := c.shape(i); s != nil {
		return len(s)
	}
	return -1
}

// wantRank fails where input i has another rank than one of the allowed ones.
func (c *ctx) wantRank(i int, allowed ...int) error {
	r := c.rank(i)
	if r < 0 {
		return nil
	}
	for _, a := range allowed {
		if r == a {
			return nil
		}
	}
	return c.errorf("input %d has shape %s, rank %v is wanted", i, c.shape(i), allowed)
}

// wantRankAtLeast fails where input i is known to have a lower rank.
func (c *ctx) wantRankAtLeast(i, least int) error {
	if r := c.rank(i); r >= 0 && r < least {
		return c.errorf("input %d has shape %s, rank %d or more is wanted", i, c.shape(i), least)
	}
	return nil
}

// set gives output i its shape; nil leaves it unknown.
func (c *ctx) set(i int, s graph.Shape) {
	if i >= len(c.out) {
		return
	}
	if c.out[i].Kind == graph.KindUnknown || c.out[i].Kind == graph.KindSparse {
		c.out[i].Kind = graph.KindTensor
	}
	c.out[i].Shape = s
}

// elem gives output i its element type.
func (c *ctx) elem(i int, e graph.ElemType) {
	if i < len(c.out) && e != graph.Undefined {
		c.out[i].Kind, c.out[i].Elem = graph.KindTensor, e
	}
}

// setType gives output i a whole type.
func (c *ctx) setType(i int, t graph.Type) {
	if i < len(c.out) && t.Kind != graph.KindUnknown {
		c.out[i] = t
	}
}

// axis brings an axis attribute into [0, rank).
func (c *ctx) axis(a int64, rank int) (int, error) {
	r := int64(rank)
	if a < -r || a >= r {
		return 0, c.errorf("axis %d is outside rank %d", a, rank)
	}
	if a < 0 {
		a += r
	}
	return int(a), nil
}

// axes brings axes into [0, rank) and refuses those that occur twice.
func (c *ctx) axes(list []int64, rank int) ([]bool, error) {
	in := make([]bool, rank)
	for _, a := range list {
		i, err := c.axis(a, rank)
		if err != nil {
			return nil, err
		}
		if in[i] {
			return nil, c.errorf("axis %d is named twice", a)
		}
		in[i] = true
	}
	return in, nil
}

// freshShape returns a shape of which only the rank is known.
func (w *walk) freshShape(rank int) graph.Shape {
	s := make(graph.Shape, rank)
	for i := range s {
		s[i] = w.fresh()
	}
	return s
}

// sizeOf turns a number into a dimension and refuses negative ones.
func (c *ctx) sizeOf(x num) (graph.Dim, error) {
	if x.k == numInt && x.i < 0 {
		return graph.Dim{}, c.errorf("a dimension of size %d", x.i)
	}
	return c.dim(x), nil
}
