package infer
import (
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/schema"
)
type Info struct{ Notes []string }
type Options struct{}
func Run(m *graph.Model, opt Options) (*Info, error) { guess(m.Graph); return &Info{}, nil }
func st(t graph.Type) schema.Type {
	if t.Kind == graph.KindTensor { return schema.TensorOf(int32(t.Elem)) }
	return schema.Type{}
}

func guess(g *graph.Graph) {
	for _, n := range g.Nodes {
		for _, s := range n.Subgraphs() {
			if n.Call != nil {
				p := s.Inputs
				for _, v := range n.Inputs { if v != nil && len(p) > 0 { p[0].Type = v.Type; p = p[1:] } }
			}
			if n.Op == "Loop" { for i := 2; i < len(s.Inputs); i++ { if s.Inputs[i].Type.Kind == 0 && n.In(i) != nil { s.Inputs[i].Type = n.In(i).Type } } }
			guess(s)
			for i, o := range n.Outputs {
				k := i
				if n.Op == "Loop" { k = i + 1 }
				if o != nil && o.Type.Kind == 0 && k < len(s.Outputs) && s.Outputs[k] != nil { o.Type = s.Outputs[k].Type; if n.Op=="Loop"||n.Op=="Scan" {o.Type.Shape=nil} }
			}
		}
		op, ok := schema.Lookup(n.Domain, n.Op, n.Version())
		var in []schema.Type
		for _, v := range n.Inputs { if v == nil { in = append(in, schema.Type{}) } else { in = append(in, st(v.Type)) } }
		for i, o := range n.Outputs {
			if o == nil || o.Type.Kind != 0 || !ok { continue }
			if n.Op == "Cast" { o.Type = graph.TensorOf(graph.ElemType(n.Int("to", 1)), nil); continue }
			if n.Op == "CastLike" { o.Type = n.In(1).Type; continue }
			if n.Op == "ConstantOfShape" { o.Type = graph.TensorOf(1, nil); if a := n.Attr("value"); a != nil && a.Tensor != nil { o.Type.Elem = a.Tensor.Elem }; continue }
			if n.Op == "QuantizeLinear" && n.In(2) != nil { o.Type = n.In(2).Type; continue }
			if n.Op == "DequantizeLinear" && n.In(1) != nil { o.Type = n.In(1).Type; continue }
			if n.Op == "SequenceEmpty" || n.Op == "SplitToSequence" || n.Op == "SequenceConstruct" { e := graph.Float; if n.In(0) != nil { e = n.In(0).Type.Elem }; t := graph.TensorOf(e, nil); o.Type = graph.Type{Kind: graph.KindSequence, Of: &t}; continue }
			if (n.Op == "SequenceAt" || n.Op == "ConcatFromSequence") && n.In(0).Type.Of != nil { o.Type = *n.In(0).Type.Of; continue }
			if (n.Op == "SequenceInsert" || n.Op == "SequenceErase") { o.Type = n.In(0).Type; continue }
			if t, ok := op.OutputType(i, in); ok && t.Kind == schema.Tensor { o.Type = graph.TensorOf(graph.ElemType(t.Elem), nil) }
		}
	}
}

