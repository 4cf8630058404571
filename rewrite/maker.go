package rewrite

import "github.com/amplint/amplint/graph"

// typeAttrs names the attribute that gives the element type of the first output. For those that
// end in Like, EyeLike and Bernoulli it may be absent: the first input's type holds then.
var typeAttrs = map[string]string{
	"Cast": "to", "RandomNormal": "dtype", "RandomUniform": "dtype", "RandomNormalLike": "dtype", "RandomUniformLike": "dtype",
	"EyeLike": "dtype", "Bernoulli": "dtype", "SequenceEmpty": "dtype", "HannWindow": "output_datatype",
	"HammingWindow": "output_datatype", "BlackmanWindow": "output_datatype", "MelWeightMatrix": "output_datatype",
	"DequantizeLinear": "output_dtype", "com.microsoft.DequantizeBFP": "dtype", "com.microsoft.MixedPrecisionScale": "to",
}

// makesType tells whether the node says itself what type it makes and has to say another one.
func (b *builder) makesType(ch *changes, n *graph.Node) bool {
	out := n.Out(0)
	if b.elem(out) == graph.Undefined {
		return false
	}
	after, changed := b.elemAfter(ch, out), b.elemAfter(ch, out) != elemOf(out.Type)
	attr, named := typeAttrs[n.OpName()]
	switch {
	case n.OpName() == "CastLike":
		return b.elemAfter(ch, n.In(1)) != after
	case n.OpName() == "ConstantOfShape":
		return changed
	case n.OpName() == "Optional":
		return changed && n.Attr("type") != nil
	case !named:
		return false
	case n.Attr(attr) == nil && independentOps[n.Op]:
		return b.elemAfter(ch, n.In(0)) != after
	case n.OpName() == "DequantizeLinear":
		return changed && n.Int(attr, 0) != 0
	}
	return changed
}

// setType makes a node say that its first output is of type e.
func setType(n *graph.Node, e graph.ElemType) {
	switch n.OpName() {
	case "CastLike":
		n.Op = "Cast"
		n.SetInput(1, nil)
		n.TrimInputs()
		n.SetAttr(&graph.Attr{Name: "to", Type: graph.AttrInt, I: int64(e)})
	case "ConstantOfShape":
		t := graph.FloatTensor("", []int64{1}, 0)
		if a := n.Attr("value"); a != nil && a.Tensor != nil {
			t = a.Tensor
		}
		n.SetAttr(&graph.Attr{Name: "value", Type: graph.AttrTensor, Tensor: converted(t, e)})
	case "Optional":
		t := n.Attr("type").Types
		n.SetAttr(&graph.Attr{Name: "type", Type: graph.AttrTypeProto, Types: []graph.Type{withElem(t[0], e)}})
	default:
		n.SetAttr(&graph.Attr{Name: typeAttrs[n.OpName()], Type: graph.AttrInt, I: int64(e)})
	}
}

// converted returns the tensor in another type, rounded to nearest; what is past the largest
// becomes infinite. Where an earlier plan made the tensor from one of that type, the earlier one is
// returned: nothing is lost when a second round widens what the first narrowed.
func converted(t *graph.Tensor, e graph.ElemType) *graph.Tensor {
	for o := t; o != nil; o = o.Origin() {
		if o.Elem == e {
			return o
		}
	}
	return t.Converted(e, false)
}
