package onnxtxt

import (
	"math"
	"strconv"
	"strings"

	"github.com/amplint/amplint/graph"
)

// attr writes an attribute. Its type is annotated only where the value does not tell it.
func (p *printer) attr(a *graph.Attr, in string) {
	p.s(ident(a.Name))
	if annotated(a) {
		p.s(": ", attrNames[a.Type])
	}
	p.s(" = ")
	if a.Ref != "" {
		p.s("@", ident(a.Ref))
		return
	}
	if n := listLen(a); single(a.Type) != 0 {
		p.list(n, "[", ", ", "]", func(i int) { p.member(a, i, in) })
		return
	}
	p.one(a, in)
}

func annotated(a *graph.Attr) bool {
	if a.Type <= graph.AttrUndefined || int(a.Type) >= len(attrNames) {
		return false
	}
	return a.Ref != "" || single(a.Type) != 0 && listLen(a) == 0
}

func listLen(a *graph.Attr) int {
	switch a.Type {
	case graph.AttrFloats:
		return len(a.Floats)
	case graph.AttrInts:
		return len(a.Ints)
	case graph.AttrStrings:
		return len(a.Strings)
	case graph.AttrTensors:
		return len(a.Tensors)
	case graph.AttrGraphs:
		return len(a.Graphs)
	case graph.AttrSparseTensors:
		if a.Sparse != nil {
			return 1
		}
	case graph.AttrTypeProtos:
		return len(a.Types)
	}
	return 0
}

func (p *printer) one(a *graph.Attr, in string) {
	switch a.Type {
	case graph.AttrFloat:
		p.s(floatText(a.F))
	case graph.AttrInt:
		p.s(strconv.FormatInt(a.I, 10))
	case graph.AttrString:
		p.s(quote(a.S))
	case graph.AttrTensor:
		p.tensorValue(a.Tensor)
	case graph.AttrGraph:
		p.graphValue(a.Graph, in)
	case graph.AttrSparseTensor:
		p.sparseValue(a.Sparse)
	case graph.AttrTypeProto:
		p.typeValue(a.Types, 0)
	default:
		p.failf("attribute %q of type %d cannot be written", a.Name, a.Type)
	}
}

func (p *printer) member(a *graph.Attr, i int, in string) {
	switch a.Type {
	case graph.AttrFloats:
		p.s(floatText(a.Floats[i]))
	case graph.AttrInts:
		p.s(strconv.FormatInt(a.Ints[i], 10))
	case graph.AttrStrings:
		p.s(quote(a.Strings[i]))
	case graph.AttrTensors:
		p.tensorValue(a.Tensors[i])
	case graph.AttrGraphs:
		p.graphValue(a.Graphs[i], in)
	case graph.AttrSparseTensors:
		p.sparseValue(a.Sparse)
	case graph.AttrTypeProtos:
		p.typeValue(a.Types, i)
	}
}

func (p *printer) graphValue(g *graph.Graph, in string) {
	if g == nil {
		p.failf("a graph attribute without a graph cannot be written")
		return
	}
	p.graph(wholeGraph(g, p.opt), in)
}

func (p *printer) sparseValue(s *graph.SparseInit) {
	if s == nil {
		p.failf("a sparse attribute without a tensor cannot be written")
		return
	}
	p.sparse(s, s.Values.Name)
}

// typeValue writes a type, which here cannot be left out.
func (p *printer) typeValue(list []graph.Type, i int) {
	if i >= len(list) {
		p.failf("a type attribute without a type cannot be written")
		return
	}
	s, ok := typeText(list[i])
	if !ok {
		p.failf("a type attribute of type %s cannot be written", list[i])
	}
	p.s(s)
}

// floatText writes the shortest text that reads back as the same number and as a float.
func floatText(f float32) string {
	s := numberText(float64(f), 32)
	if strings.ContainsAny(s, ".en") { // "inf" and "nan" too
		return s
	}
	return s + ".0"
}

// numberText writes the shortest text that reads back as the same number.
func numberText(f float64, bits int) string {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}
