package graph

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// unknown is a field that no message of the standard has.
func unknown(text string) []byte { return blob(protowire.Number(900), text) }

// group is a field of the old kind that ends with a tag of its own.
func group(num protowire.Number, fields ...[]byte) []byte {
	b := append(protowire.AppendTag(nil, num, protowire.StartGroupType), bytes.Join(fields, nil)...)
	return protowire.AppendTag(b, num, protowire.EndGroupType)
}

func nodeBytes(name, op, in, out string, rest ...[]byte) []byte {
	fields := append([][]byte{blob(nodeInput, in), blob(nodeOutput, out), blob(nodeName, name), blob(nodeOpType, op)}, rest...)
	return bytes.Join(fields, nil)
}

// chain is a model x -> a -> b -> y with fields in unusual places and forms: unknown ones in every
// message, some of known numbers with a wrong wire type, numbers in long varints, a group, nodes with
// other fields between them.
func chain() []byte {
	longIR := append(protowire.AppendTag(nil, modelIRVersion, protowire.VarintType), 0x8a, 0x80, 0x00) // 10
	info := func(num protowire.Number, name string) []byte {
		dims := sub(typeShape, sub(shapeDim, vint(dimValue, 2), unknown("dim")), unknown("shape"))
		return sub(num, blob(infoName, name), sub(infoType, sub(typeTensor, vint(typeElem, 1), dims, unknown("tensor type")),
			blob(6, "DENOTATION"), unknown("type")), unknown("info"))
	}
	return bytes.Join([][]byte{
		unknown("model"), longIR, sub(modelOpsetImport, vint(opsetVersion, 21), unknown("opset")),
		sub(modelGraph,
			blob(graphName, "g"), info(graphInput, "x"), info(graphValueInfo, "p"),
			sub(graphNode, nodeBytes("a", "Relu", "x", "p", unknown("node a"))),
			unknown("between"),
			sub(graphInitializer, tensorBytes("w", Float, []uint64{2}, fix32(tensorFloatData, 1), fix32(tensorFloatData, 2), unknown("tensor"))),
			sub(graphNode, nodeBytes("b", "LeakyRelu", "p", "q", sub(nodeAttribute, blob(attrName, "alpha"), fix32(attrFloat, 0.5),
				vint(attrType, 1), unknown("attribute")), blob(nodeDomain, "ai.onnx"), unknown("node b"))),
			sub(graphNode, nodeBytes("c", "Neg", "q", "y", unknown("node c"))),
			info(graphOutput, "y"), unknown("graph"), vint(graphNode, 5), vint(graphName, 5), group(901, vint(1, 5), group(7))),
		sub(modelMetadata, blob(entryKey, "k"), blob(entryValue, "v"), unknown("entry")),
	}, nil)
}

func written(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := m.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes: %v", n, b.Len(), err)
	}
	return b.Bytes()
}

// graphFields returns the fields of the main graph, tags included.
func graphFields(t *testing.T, b []byte) (fields []string) {
	t.Helper()
	c := newCursor(bytesSource(b))
	err := c.each(Span{0, int64(len(b))}, func(f field) error {
		if f.num != modelGraph {
			return nil
		}
		return c.each(f.at, func(f field) error {
			fields = append(fields, string(b[f.start:c.off]))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

// changed lists the fields of the main graph that differ, as positions in the original; the
// numbers of fields must be the same.
func changed(t *testing.T, before, after []byte) (list []int) {
	t.Helper()
	a, b := graphFields(t, before), graphFields(t, after)
	if len(a) != len(b) {
		t.Fatalf("%d fields became %d", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			list = append(list, i)
		}
	}
	return list
}

func TestUntouched(t *testing.T) {
	b := chain()
	m := decoded(t, b)
	if !bytes.Equal(written(t, m), b) {
		t.Error("an untouched model changed")
	}
	if !bytes.Equal(written(t, m.Clone()), b) {
		t.Error("an untouched clone differs")
	}
	if r, err := m.encode(nil); err != nil || len(r.parts) != 1 {
		t.Errorf("an untouched model is written in %d pieces, %v", len(r.parts), err)
	}
}

// TestOneEdit makes one edit of every kind and tells which fields of the graph it may change; all
// unknown fields must survive.
func TestOneEdit(t *testing.T) {
	node := func(m *Model, i int) *Node { return m.Graph.Nodes[i] }
	cases := []struct {
		name    string
		edit    func(m *Model)
		changes []int
		has     string
	}{
		{"name", func(m *Model) { node(m, 1).Name = "better" }, []int{6}, "better"},
		{"operator", func(m *Model) { node(m, 0).Op = "Sigmoid" }, []int{3}, "Sigmoid"},
		{"float", func(m *Model) { node(m, 1).Attrs[0].F = 0.25 }, []int{6}, string(fix32(attrFloat, 0.25))},
		{"new attribute", func(m *Model) { node(m, 0).SetAttr(&Attr{Name: "axis", Type: AttrInt}) }, []int{3}, "axis"},
		{"input", func(m *Model) { node(m, 2).SetInput(0, m.Graph.Lookup("p")) }, []int{7}, ""},
		{"more inputs", func(m *Model) { node(m, 2).SetInput(2, m.Graph.Lookup("p")) }, []int{7}, ""},
		{"rename", func(m *Model) { m.Graph.Lookup("q").Rename("other") }, []int{6, 7}, "other"},
		{"rename declared", func(m *Model) { m.Graph.Lookup("p").Rename("other") }, []int{2, 3, 6}, "other"},
		{"rename initializer", func(m *Model) { m.Graph.Lookup("w").Rename("other") }, []int{5}, "other"},
		{"declare", func(m *Model) { m.Graph.Lookup("p").Declare(TensorOf(Float16, ShapeOf(2))) }, []int{2}, "DENOTATION"},
		{"declare shape", func(m *Model) { m.Graph.Lookup("p").Declare(TensorOf(Float, Shape{{Sym: "batch"}})) }, []int{2}, "batch"},
		{"convert", func(m *Model) { w := m.Graph.Lookup("w"); w.SetInit(w.Init.Converted(Float16, false)) }, []int{5}, "\x00\x3c\x00\x40"},
		{"set initializer", func(m *Model) { m.Graph.Lookup("w").SetInit(IntTensor("z", []int64{1}, 7)) }, []int{5}, "w"},
		{"graph name", func(m *Model) { m.Graph.Name = "h" }, []int{0}, "h"},
		{"opset", func(m *Model) { m.SetOpset("", 22) }, nil, "opset"},
		{"IR version", func(m *Model) { m.IRVersion = 11 }, nil, string(vint(modelIRVersion, 11))},
		{"metadata", func(m *Model) { m.Meta = append(m.Meta, Entry{"k2", "v2"}) }, nil, "k2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := chain()
			m := decoded(t, b)
			c.edit(m)
			out := written(t, m)
			if bytes.Equal(out, b) {
				t.Fatal("nothing changed")
			}
			if got := changed(t, b, out); !equalInts(got, c.changes) {
				t.Errorf("fields %v of the graph changed, want %v", got, c.changes)
			}
			if !strings.Contains(string(out), c.has) {
				t.Errorf("%q is missing", c.has)
			}
			kept := []string{"model", "opset", "node a", "between", "node b", "node c", "graph", "entry", "attribute", "type", "info"}
			checkUnknown(t, out, kept)
			again := decoded(t, out)
			if !bytes.Equal(written(t, again), out) {
				t.Error("the result does not survive reading and writing")
			}
		})
	}
}

func checkUnknown(t *testing.T, b []byte, texts []string) {
	t.Helper()
	for _, s := range texts {
		if !bytes.Contains(b, unknown(s)) {
			t.Errorf("the unknown field %q is lost", s)
		}
	}
}

func equalInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestInsertRemove checks that nodes around an insertion or a removal keep their bytes.
func TestInsertRemove(t *testing.T) {
	b := chain()
	before := graphFields(t, b)
	m := decoded(t, b)
	g := m.Graph
	cast := g.NewNode("Cast", "", m.Unique("cast"))
	cast.SetAttr(&Attr{Name: "to", Type: AttrInt, I: int64(Float16)})
	cast.AddInput(g.Lookup("p"))
	low := cast.AddOutput(m.Unique("p"), TensorOf(Float16, ShapeOf(2)))
	g.InsertBefore(g.Nodes[1], cast)
	if low.Name != "p_1" {
		t.Errorf("the new value is named %q", low.Name)
	}
	after := graphFields(t, written(t, m))
	if len(after) != len(before)+1 || !strings.Contains(after[6], "Cast") {
		t.Fatalf("the new node is not in its place: %q", after)
	}
	for i, f := range append(append([]string{}, after[:6]...), after[7:]...) {
		if f != before[i] {
			t.Errorf("field %d changed", i)
		}
	}
	g.Remove(cast)
	if !bytes.Equal(written(t, m), b) {
		t.Error("removing the node again does not give the original")
	}
	if len(g.Lookup("p").Uses) != 1 || g.Lookup("p_1") != nil {
		t.Error("the removed node left edges behind")
	}
}

// TestUnsorted keeps the order of a file whose nodes were only sorted for the analysis.
func TestUnsorted(t *testing.T) {
	b := modelBytes(blob(graphName, "g"), sub(graphInput, blob(infoName, "x")), sub(graphOutput, blob(infoName, "y")),
		sub(graphNode, nodeBytes("second", "Neg", "p", "y")), sub(graphNode, nodeBytes("first", "Relu", "x", "p")))
	m := decoded(t, b)
	if m.Graph.Nodes[0].Name != "first" || len(m.Notes) != 1 {
		t.Fatalf("nodes were not sorted: %v", m.Notes)
	}
	if !bytes.Equal(written(t, m), b) || !bytes.Equal(written(t, m.Clone()), b) {
		t.Error("the order of the file was not kept")
	}
	id := m.Graph.NewNode("Identity", "", "id")
	id.AddInput(m.Graph.Lookup("p"))
	id.AddOutput("q", Type{})
	m.Graph.InsertAfter(m.Graph.Nodes[0], id)
	again := decoded(t, written(t, m))
	if len(again.Notes) != 0 || again.Graph.Nodes[1].Name != "id" {
		t.Error("an edited graph is not written sorted")
	}
}

// TestOldAttributes keeps attributes without a type field, as IR version 1 has them.
func TestOldAttributes(t *testing.T) {
	b := modelBytes(blob(graphName, "g"), sub(graphInput, blob(infoName, "x")), sub(graphOutput, blob(infoName, "y")),
		sub(graphNode, nodeBytes("n", "LeakyRelu", "x", "y", sub(nodeAttribute, blob(attrName, "alpha"), fix32(attrFloat, 0.5)))))
	m := decoded(t, b)
	if m.Graph.Nodes[0].Float("alpha", 0) != 0.5 {
		t.Error("the attribute is not read")
	}
	m.Graph.Nodes[0].Name = "k"
	if !bytes.Contains(written(t, m), sub(nodeAttribute, blob(attrName, "alpha"), fix32(attrFloat, 0.5))) {
		t.Error("the attribute changed")
	}
}
