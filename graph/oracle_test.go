package graph

import (
	"bytes"
	"math"
	"os"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/amplint/amplint/graph/internal/onnxpb"
)

// oracle compares a model with what a generated decoder makes of its bytes.
type oracle struct{ t *testing.T }

func (o oracle) want(ok bool, format string, args ...any) {
	if !ok {
		o.t.Helper()
		o.t.Errorf(format, args...)
	}
}

func compareWithOracle(t *testing.T, b []byte, m *Model) {
	t.Helper()
	var p onnxpb.Model
	if err := proto.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	o := oracle{t}
	o.want(m.IRVersion == p.GetIrVersion() && m.Producer == p.GetProducerName() && m.Version == p.GetProducerVersion(), "header differs")
	o.opsets(m.Opsets, p.OpsetImport)
	o.entries(m.Meta, p.MetadataProps)
	o.graph(m.Graph, p.Graph)
	o.want(len(m.Functions) == len(p.Functions), "%d functions, want %d", len(m.Functions), len(p.Functions))
	for i, f := range m.Functions {
		q := p.Functions[i]
		o.want(f.Name == q.GetName() && f.Overload == q.GetOverload() && slices.Equal(f.Attrs, q.Attribute), "function %s differs", f.Name)
		o.want(slices.Equal(infoNames(f.Body.inInfos), q.Input) && slices.Equal(infoNames(f.Body.outInfos), q.Output), "signature of %s", f.Name)
		o.opsets(f.Opsets, q.OpsetImport)
		o.nodes(f.Body.written(), q.Node)
		o.attrs(f.Defaults, q.AttributeProto)
		o.infos(f.Body.infos, q.ValueInfo)
	}
}

func (o oracle) opsets(list []Opset, want []*onnxpb.Opset) {
	o.want(len(list) == len(want), "%d opsets, want %d", len(list), len(want))
	for i, p := range want {
		o.want(list[i] == Opset{plain(p.GetDomain()), p.GetVersion()}, "opset %v, want %v", list[i], p)
	}
}

func plain(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

func (o oracle) entries(list []Entry, want []*onnxpb.Entry) {
	o.want(len(list) == len(want), "%d entries, want %d", len(list), len(want))
	for i, p := range want {
		o.want(list[i] == Entry{p.GetKey(), p.GetValue()}, "entry %v, want %v", list[i], p)
	}
}

func (o oracle) graph(g *Graph, p *onnxpb.Graph) {
	o.want(g.Name == p.GetName() && g.Doc == p.GetDocString(), "graph %q, want %q", g.Name, p.GetName())
	o.nodes(g.written(), p.Node)
	o.want(len(g.inits) == len(p.Initializer), "%d initializers, want %d", len(g.inits), len(p.Initializer))
	for i, q := range p.Initializer {
		o.tensor(g.inits[i].Init, q)
	}
	o.want(len(g.sparse) == len(p.SparseInitializer), "%d sparse initializers", len(g.sparse))
	for i, q := range p.SparseInitializer {
		o.sparse(g.sparse[i], q)
	}
	o.infos(declared(g.inInfos, g.Inputs), p.Input)
	o.infos(declared(g.outInfos, g.Outputs), p.Output)
	o.infos(g.infos, p.ValueInfo)
	o.entries(g.Meta, p.MetadataProps)
}

func (o oracle) infos(list []*ValueInfo, want []*onnxpb.ValueInfo) {
	o.want(len(list) == len(want), "%d declarations, want %d", len(list), len(want))
	for i, p := range want {
		o.want(list[i].Name == p.GetName() && list[i].Doc == p.GetDocString(), "declaration %q, want %q", list[i].Name, p.GetName())
		o.typ(list[i].Type, p.Type)
		o.entries(list[i].Meta, p.MetadataProps)
	}
}

func (o oracle) typ(t Type, p *onnxpb.Type) {
	o.want(t.Equal(typeOfProto(p)), "type %v, want %v", t, typeOfProto(p))
}

func typeOfProto(p *onnxpb.Type) Type {
	switch v := p.GetValue().(type) {
	case *onnxpb.Type_TensorType:
		return Type{Kind: KindTensor, Elem: ElemType(v.TensorType.GetElemType()), Shape: shapeOfProto(v.TensorType.Shape)}
	case *onnxpb.Type_SparseTensorType:
		return Type{Kind: KindSparse, Elem: ElemType(v.SparseTensorType.GetElemType()), Shape: shapeOfProto(v.SparseTensorType.Shape)}
	case *onnxpb.Type_SequenceType:
		of := typeOfProto(v.SequenceType.ElemType)
		return Type{Kind: KindSequence, Of: &of}
	case *onnxpb.Type_OptionalType:
		of := typeOfProto(v.OptionalType.ElemType)
		return Type{Kind: KindOptional, Of: &of}
	case *onnxpb.Type_MapType:
		of := typeOfProto(v.MapType.ValueType)
		return Type{Kind: KindMap, Elem: ElemType(v.MapType.GetKeyType()), Of: &of}
	case *onnxpb.Type_OpaqueType:
		return Type{Kind: KindOpaque}
	}
	return Type{}
}

func shapeOfProto(p *onnxpb.Shape) Shape {
	if p == nil {
		return nil
	}
	s := Shape{}
	for _, d := range p.Dim {
		switch v := d.Value.(type) {
		case *onnxpb.Shape_Dimension_DimParam:
			s = append(s, Dim{v.DimParam, -1})
		case *onnxpb.Shape_Dimension_DimValue:
			s = append(s, Dim{"", max(v.DimValue, -1)})
		default:
			s = append(s, UnknownDim)
		}
	}
	return s
}

func (o oracle) nodes(list []*Node, want []*onnxpb.Node) {
	o.want(len(list) == len(want), "%d nodes, want %d", len(list), len(want))
	for i, p := range want {
		n := list[i]
		o.want(n.Name == p.GetName() && n.Op == p.GetOpType() && n.Domain == plain(p.GetDomain()) && n.Overload == p.GetOverload() &&
			n.Doc == p.GetDocString(), "node %s, want %s", n.Key(), p.GetName())
		o.want(slices.Equal(valueNames(n.Inputs), p.Input) && slices.Equal(valueNames(n.Outputs), p.Output), "edges of %s", n.Key())
		o.attrs(n.Attrs, p.Attribute)
		o.entries(n.Meta, p.MetadataProps)
	}
}

func (o oracle) attrs(list []*Attr, want []*onnxpb.Attribute) {
	o.want(len(list) == len(want), "%d attributes, want %d", len(list), len(want))
	for i, p := range want {
		a := list[i]
		o.want(a.Name == p.GetName() && a.Ref == p.GetRefAttrName() && (a.Type == AttrType(p.GetType()) || p.Type == nil), "attribute %s", a.Name)
		o.want(math.Float32bits(a.F) == math.Float32bits(p.GetF()) && a.I == p.GetI() && a.S == string(p.GetS()), "value of %s", a.Name)
		o.want(slices.Equal(a.Ints, p.Ints) && slices.EqualFunc(a.Floats, p.Floats, sameFloat), "list of %s", a.Name)
		o.want(slices.EqualFunc(a.Strings, p.Strings, func(s string, b []byte) bool { return s == string(b) }), "strings of %s", a.Name)
		o.want((a.Tensor == nil) == (p.T == nil) && (a.Graph == nil) == (p.G == nil) && (a.Sparse == nil) == (p.SparseTensor == nil) &&
			len(a.Tensors) == len(p.Tensors) && len(a.Graphs) == len(p.Graphs), "objects of %s", a.Name)
		o.objects(a, p)
	}
}

func sameFloat(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

func (o oracle) objects(a *Attr, p *onnxpb.Attribute) {
	if p.T != nil {
		o.tensor(a.Tensor, p.T)
	}
	if p.G != nil {
		o.graph(a.Graph, p.G)
	}
	if p.SparseTensor != nil {
		o.sparse(a.Sparse, p.SparseTensor)
	}
	for i, q := range p.Tensors {
		o.tensor(a.Tensors[i], q)
	}
	for i, q := range p.Graphs {
		o.graph(a.Graphs[i], q)
	}
	types := p.TypeProtos
	if p.Tp != nil {
		types = append([]*onnxpb.Type{p.Tp}, types...)
	}
	o.want(len(types) == len(a.Types), "types of %s", a.Name)
	for i, q := range types {
		o.typ(a.Types[i], q)
	}
}

func (o oracle) sparse(s *SparseInit, p *onnxpb.SparseTensor) {
	o.want(slices.Equal(s.Dims, p.Dims), "sparse dimensions %v, want %v", s.Dims, p.Dims)
	o.tensor(s.Values, p.Values)
	o.tensor(s.Indices, p.Indices)
}

func (o oracle) tensor(t *Tensor, p *onnxpb.Tensor) {
	o.want(t.Name == p.GetName() && t.Doc == p.GetDocString() && slices.Equal(t.Dims, p.Dims) && t.Elem == ElemType(p.GetDataType()),
		"tensor %s %s%v, want %s %d%v", t.Name, t.Elem, t.Dims, p.GetName(), p.GetDataType(), p.Dims)
	if p.GetDataLocation() == 1 {
		o.entries(t.External, p.ExternalData)
		return
	}
	switch {
	case p.RawData != nil:
		b, err := t.Bytes()
		o.want(err == nil && bytes.Equal(b, p.RawData), "raw data of %s: %v", t.Name, err)
	case t.Elem == String:
		s, err := t.Strings()
		o.want(err == nil && slices.EqualFunc(s, p.StringData, func(s string, b []byte) bool { return s == string(b) }), "strings of %s", t.Name)
	case t.Elem == Float:
		x, err := t.Float64s()
		o.want(err == nil && slices.EqualFunc(x, p.FloatData, func(x float64, f float32) bool { return sameFloat(float32(x), f) }), "floats of %s", t.Name)
	case t.Elem == Double:
		x, err := t.Float64s()
		o.want(err == nil && slices.Equal(x, p.DoubleData), "doubles of %s", t.Name)
	case t.Elem == Int64:
		x, err := t.Int64s()
		o.want(err == nil && slices.Equal(x, p.Int64Data), "integers of %s", t.Name)
	case t.Elem == Int32:
		x, err := t.Int64s()
		o.want(err == nil && slices.EqualFunc(x, p.Int32Data, func(x int64, y int32) bool { return x == int64(y) }), "integers of %s", t.Name)
	}
}

func TestOracle(t *testing.T) {
	for name, b := range smallModels(t) {
		t.Run(name, func(t *testing.T) {
			m := decoded(t, b)
			compareWithOracle(t, b, m)
			fresh := m.Clone()
			fresh.src = nil
			compareWithOracle(t, written(t, fresh), fresh)
		})
	}
}

// smallModels covers what the format has: unknown fields, every element type in every field,
// branches, functions, sparse tensors, all kinds of attributes and of types.
func smallModels(t testing.TB) map[string][]byte {
	var inits [][]byte
	for _, c := range elemCases {
		inits = append(inits, sub(graphInitializer, tensorBytes(c.elem.String(), c.elem, []uint64{3}, blob(tensorRawData, c.raw))),
			sub(graphInitializer, tensorBytes(c.elem.String()+"_list", c.elem, []uint64{3}, packed(c.field, c.data...))))
	}
	return map[string][]byte{
		"chain":  chain(),
		"calls":  written(t, buildCalls(t)),
		"types":  modelBytes(append(inits, blob(graphName, "types"))...),
		"zoo":    written(t, buildZoo(t)),
		"sparse": sparseModel(),
	}
}

func sparseModel() []byte {
	values := tensorBytes("s", Float, []uint64{1}, fix32(tensorFloatData, 5))
	indices := tensorBytes("", Int64, []uint64{1}, packed(tensorInt64Data, 2))
	return modelBytes(blob(graphName, "sparse"), sub(graphOutput, blob(infoName, "y")),
		sub(graphSparseInit, sub(sparseValues, values), sub(sparseIndices, indices), packed(sparseDims, 4), unknown("sparse")),
		sub(graphNode, nodeBytes("n", "Identity", "s", "y")))
}

// buildZoo has attributes of all types and declarations of all kinds.
func buildZoo(t testing.TB) *Model {
	m := NewModel(10, Opset{"", 21}, Opset{"zoo", 1})
	tensor := TensorOf(Float16, Shape{{Sym: "n", N: -1}, {N: 3}, UnknownDim})
	seq := Type{Kind: KindSequence, Of: &tensor}
	m.Graph.DeclareInput("tensor", tensor)
	m.Graph.DeclareInput("seq", seq)
	m.Graph.DeclareInput("scalar", TensorOf(Int4, Shape{}))
	m.Graph.DeclareInput("rank", TensorOf(Float, nil))
	m.Graph.DeclareValue("a", Type{Kind: KindOptional, Of: &seq})
	m.Graph.DeclareValue("b", Type{Kind: KindMap, Elem: Int64, Of: &tensor})
	m.Graph.DeclareValue("c", Type{Kind: KindSparse, Elem: Float, Shape: ShapeOf(2)})
	m.Graph.DeclareOutput("d", Type{Kind: KindOpaque})
	m.Meta = []Entry{{"k", "v"}, {"", ""}}
	body := m.NewGraph("body")
	body.AddNodeNamed("Identity", "", "", []string{"scalar"}, []string{"s"})
	body.DeclareOutput("s", Type{})
	m.Graph.AddNodeNamed("Zoo", "zoo", "z", []string{"tensor", "", "seq"}, []string{"a", "", "b", "c", "d"},
		&Attr{Name: "f", Type: AttrFloat, F: float32(math.NaN())}, &Attr{Name: "f0", Type: AttrFloat}, &Attr{Name: "i", Type: AttrInt, I: -1},
		&Attr{Name: "s", Type: AttrString, S: "\xff"}, &Attr{Name: "s0", Type: AttrString}, &Attr{Name: "fs", Type: AttrFloats, Floats: []float32{1, float32(math.Copysign(0, -1))}},
		&Attr{Name: "is", Type: AttrInts, Ints: []int64{1, -2}}, &Attr{Name: "ss", Type: AttrStrings, Strings: []string{"", "x"}, Doc: "doc"},
		&Attr{Name: "t", Type: AttrTensor, Tensor: NewStrings("", []int64{2}, []string{"p", ""})},
		&Attr{Name: "ts", Type: AttrTensors, Tensors: []*Tensor{FloatTensor("q", []int64{}, 3), IntTensor("r", []int64{0})}},
		&Attr{Name: "g", Type: AttrGraph, Graph: body}, &Attr{Name: "gs", Type: AttrGraphs, Graphs: []*Graph{m.NewGraph("empty")}},
		&Attr{Name: "sp", Type: AttrSparseTensor, Sparse: &SparseInit{FloatTensor("v", []int64{1}, 2), IntTensor("", []int64{1}, 0), []int64{4}, Span{}}},
		&Attr{Name: "tp", Type: AttrTypeProto, Types: []Type{seq}}, &Attr{Name: "tps", Type: AttrTypeProtos, Types: []Type{tensor, {}}})
	if err := m.Link(); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCorpusOracle(t *testing.T) {
	for _, path := range corpus(t) {
		m, err := Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		compareWithOracle(t, b, m)
		m.Close()
		if t.Failed() {
			t.Fatalf("%s differs", path)
		}
	}
}
