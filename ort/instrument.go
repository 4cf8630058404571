package ort

import (
	"fmt"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/schema"
	"github.com/amplint/amplint/numfmt"
)

// Instrument rewrites a model so that kernels in float32 compute what a target stores: values of
// type float16 and bfloat16 become float, and a pair of Casts after each node rounds its result to
// the type it had; under as (FP16 or BF16) the results of type float are rounded likewise, but for
// operands that the standard pins to float. Inputs and outputs of the model keep their types. It
// returns false, and leaves the model as it was, where nothing is rounded.
//
// Functions are inlined, since one body may be called with several types.
func Instrument(m *graph.Model, as numfmt.Format) (bool, error) {
	if as == numfmt.FP32 {
		as = numfmt.Invalid
	}
	if as != numfmt.Invalid && as != numfmt.FP16 && as != numfmt.BF16 {
		return false, fmt.Errorf("onnxruntime rounds to fp16 and bf16 only, not to %s", as)
	}
	if _, err := infer.Run(m, infer.Options{}); err != nil {
		return false, err
	}
	x := &instrumenter{m: m, as: as}
	if !x.needed() {
		return false, nil
	}
	if err := x.inline(); err != nil {
		return false, err
	}
	for _, g := range slices.Collect(m.Graphs()) {
		if err := x.graph(g); err != nil {
			return false, err
		}
	}
	return true, nil
}

type instrumenter struct {
	m  *graph.Model
	as numfmt.Format
}

// format returns what values of an element type are rounded to, Invalid where they are not.
func (x *instrumenter) format(e graph.ElemType) numfmt.Format {
	if e == graph.Float {
		return x.as
	}
	if half(e) {
		f, _ := e.Format()
		return f
	}
	return numfmt.Invalid
}

func half(e graph.ElemType) bool { return e == graph.Float16 || e == graph.BFloat16 }

// needed tells whether any value is rounded.
func (x *instrumenter) needed() bool {
	for g := range x.m.Graphs() {
		for _, v := range g.Values {
			if x.format(elem(v)) != numfmt.Invalid {
				return true
			}
		}
	}
	return false
}

// elem returns the element type of a tensor, or of the tensors in a container.
func elem(v *graph.Value) graph.ElemType {
	t := v.Type
	for t.Of != nil && t.Kind != graph.KindMap {
		t = *t.Of
	}
	return t.Elem
}

// inline replaces the calls of functions by what they do, the innermost last.
func (x *instrumenter) inline() error {
	for {
		var call *graph.Node
		for n := range x.m.Nodes() {
			if n.Call != nil {
				call = n
				break
			}
		}
		if call == nil {
			return nil
		}
		if err := x.m.Inline(call); err != nil {
			return fmt.Errorf("node %s: %w", call.Key(), err)
		}
	}
}

// graph instruments one scope.
func (x *instrumenter) graph(g *graph.Graph) error {
	for _, n := range g.Nodes {
		attributes(n)
	}
	for _, v := range slices.Clone(g.Values) {
		if err := x.value(v); err != nil {
			return fmt.Errorf("value %q: %w", v.Key(), err)
		}
	}
	return nil
}

// typed are the attributes that name an element type to compute in or to make.
var typed = []string{"to", "dtype", "output_datatype", "output_dtype", "stash_type", "softmax_precision"}

// attributes turns float16 and bfloat16 in a node's attributes into float.
func attributes(n *graph.Node) {
	for _, a := range slices.Clone(n.Attrs) {
		b := *a
		switch {
		case a.Tensor != nil && half(a.Tensor.Elem):
			b.Tensor = a.Tensor.Converted(graph.Float, false)
		case a.Type == graph.AttrInt && slices.Contains(typed, a.Name) && half(graph.ElemType(a.I)):
			b.I = int64(graph.Float)
		default:
			continue
		}
		n.SetAttr(&graph.Attr{Name: b.Name, Type: b.Type, Doc: b.Doc, I: b.I, Tensor: b.Tensor})
	}
}

// value instruments one value by what defines it.
func (x *instrumenter) value(v *graph.Value) error {
	f := x.format(elem(v))
	outside := v.Graph.Kind == graph.MainGraph && (v.Input || v.Output)
	switch {
	case f == numfmt.Invalid:
		return nil
	case v.Type.Kind != graph.KindTensor && outside:
		return fmt.Errorf("onnxruntime takes and gives tensors only, not %s", v.Type)
	case v.Type.Kind != graph.KindTensor:
		if half(elem(v)) {
			v.SetElem(graph.Float)
		}
		return nil // its tensors were rounded before
	}
	if err := x.opset(v.Graph, f); err != nil {
		return err
	}
	switch {
	case v.Producer != nil:
		x.result(v, f)
	case outside, v.Sparse != nil, v.Init != nil && v.Init.External != nil && !v.Output:
		x.source(v, f)
	case v.Init != nil:
		x.initial(v, f)
	case half(elem(v)):
		v.SetElem(graph.Float) // an input of a body
	}
	return nil
}

// opset refuses models that have no Cast to the format.
func (x *instrumenter) opset(g *graph.Graph, f numfmt.Format) error {
	least := int64(6)
	if f == numfmt.BF16 {
		least = 13
	}
	if got := g.Opset(""); got < least {
		return fmt.Errorf("rounding to %s takes Cast of opset %d, the model imports %d", f, least, got)
	}
	return nil
}

// pinned tells whether the standard has an operand in float whatever the others are.
func pinned(u graph.Use) bool {
	op, ok := schema.Lookup(u.Node.Domain, u.Node.Op, u.Node.Version())
	return ok && op.PinnedFloat(u.Index)
}
