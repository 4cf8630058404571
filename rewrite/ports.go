package rewrite

import (
	"fmt"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
)

// ports makes the groups of an operator. All its float inputs and outputs that may be low form one
// group, although the standard gives some of them type variables of their own (scale and mean of
// BatchNormalization, the exponent of Pow): kernels exist for one type throughout. What the
// standard pins (the scales of Resize) stays apart.
func (b *builder) ports(n *graph.Node) {
	op, known := schema.Lookup(n.Domain, n.Op, n.Version())
	pb := &portBuilder{builder: b, n: n, op: op, byKey: map[portKey]*group{}}
	switch {
	case !known:
		pb.frozen = "the operator is unknown"
	case n.Domain == "ai.onnx.ml":
		pb.frozen = "operators of ai.onnx.ml have fixed types"
	case pb.untyped():
		pb.frozen = "a type is unknown"
	default:
		pb.frozen = frozenOps[n.Op]
	}
	for i, v := range n.Inputs {
		if g := pb.group(v, i, true); g != nil {
			b.read(v, place{node: n, index: i}, g)
		}
	}
	for i, v := range n.Outputs {
		if g := pb.group(v, i, false); g != nil {
			b.define(v, g)
		}
	}
}

// untyped tells whether inference left a value of the node without a type that may be float: it
// would have to change with the others.
func (pb *portBuilder) untyped() bool {
	unknown := func(v *graph.Value) bool { return v != nil && v.Type.Kind == graph.KindUnknown }
	for i, v := range pb.n.Inputs {
		if unknown(v) && pb.op.AllowsElem(i, int32(graph.Float)) {
			return true
		}
	}
	for i, v := range pb.n.Outputs {
		if unknown(v) && pb.op.OutputAllowsElem(i, int32(graph.Float)) {
			return true
		}
	}
	return false
}

type portKey struct {
	variable string
	elem     graph.ElemType
}

type portBuilder struct {
	*builder
	n      *graph.Node
	op     *schema.Op
	frozen string // why no port can change
	byKey  map[portKey]*group
}

// group returns the group of a port, nil where the value has no format to choose.
func (pb *portBuilder) group(v *graph.Value, i int, input bool) *group {
	e := pb.elem(v)
	if e == graph.Undefined {
		return nil
	}
	if pb.frozen != "" {
		return pb.fixed(e, pb.frozen)
	}
	param, ok := pb.param(i, input)
	if !ok {
		return pb.fixed(e, "the operator has no such input or output")
	}
	if why := pb.pinned(param, i, e, input); why != "" {
		return pb.fixed(e, why)
	}
	key := portKey{elem: e}
	if independentOps[pb.n.Op] {
		key.variable = param.Type
		if input { // the target of CastLike: the node becomes a Cast where it would not fit
			key.variable = param.Name
		}
	}
	if pb.byKey[key] == nil {
		pb.byKey[key] = pb.newGroup(pb.n, e, roleOf(pb.n))
	}
	return pb.byKey[key]
}

func (pb *portBuilder) param(i int, input bool) (schema.Param, bool) {
	if input {
		return pb.op.Input(i)
	}
	return pb.op.Output(i)
}

func (pb *portBuilder) fixed(e graph.ElemType, why string) *group {
	g := pb.newGroup(pb.n, e, roleOf(pb.n))
	g.keep(why)
	return g
}

// pinned says why a port cannot change its type, "" where it can.
func (pb *portBuilder) pinned(p schema.Param, i int, e graph.ElemType, input bool) string {
	other := pb.other(e)
	if pb.retypes(e) && !p.AllowsElem(int32(pb.low)) {
		other = pb.low
	}
	switch {
	case !p.AllowsElem(int32(other)):
		what := pb.n.OpName()
		if first, ok := pb.op.Output(0); ok && first.AllowsElem(int32(other)) {
			what = p.Name + " of " + what
		}
		return fmt.Sprintf("%s cannot be %s in opset %d", what, other, pb.n.Version())
	case isWide(e) && floatOnly(pb.n):
		return fmt.Sprintf("onnxruntime runs %s in float only", pb.n.OpName())
	case !input && stashed(pb.n, i):
		return fmt.Sprintf("%s of %s has the type of the computation inside", p.Name, pb.n.OpName())
	}
	return ""
}

// stashed tells whether the output is a by-product whose type stash_type gives: mean and inverse
// deviation of the normalisations.
func stashed(n *graph.Node, i int) bool {
	return i > 0 && (n.Op == "LayerNormalization" || n.Op == "SimplifiedLayerNormalization")
}
