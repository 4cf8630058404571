package samples

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/amplint/amplint/graph"
)

// written are values of every kind of element, for writing and reading back.
func written() []Named {
	tensor := func(e graph.ElemType, dims []int64, raw ...byte) *Value {
		return TensorValue(graph.NewTensor("", e, dims, raw))
	}
	words := TensorValue(graph.NewStrings("", []int64{2}, []string{"é", "word"}))
	u8 := tensor(graph.Uint8, []int64{2}, 1, 2)
	list := []Named{
		{"float", graph.Type{}, tensor(graph.Float, []int64{1}, 0, 0, 128, 63)},
		{"half", graph.Type{}, tensor(graph.Float16, []int64{}, 0, 0x3c)},
		{"brain", graph.Type{}, tensor(graph.BFloat16, []int64{2, 1}, 0x80, 0x3f, 0, 0xc0)},
		{"eight", graph.Type{}, tensor(graph.Float8E5M2, []int64{1}, 0x3c)},
		{"nibbles", graph.Type{}, tensor(graph.Int4, []int64{3}, 0xf2, 8)},
		{"pairs", graph.Type{}, tensor(graph.Uint2, []int64{3}, 0b111001)},
		{"bool", graph.Type{}, tensor(graph.Bool, []int64{2}, 1, 0)},
		{"empty", graph.Type{}, tensor(graph.Int64, []int64{0, 3})},
		{"complex", graph.Type{}, tensor(graph.Complex64, []int64{1}, 0, 0, 128, 63, 0, 0, 0, 64)},
		{"words", graph.Type{}, words},
	}
	for i, n := range list {
		list[i].Type = graph.TensorOf(n.Value.Tensor.Elem, nil)
	}
	seq := &Value{Kind: graph.KindSequence, Items: []*Value{u8, tensor(graph.Uint8, []int64{}, 3)}}
	return append(list, Named{"seq", seqOf(graph.TensorOf(graph.Uint8, nil)), seq},
		Named{"full", optOf(seqOf(graph.TensorOf(graph.Uint8, nil))), seq},
		Named{"one", optOf(graph.TensorOf(graph.Uint8, nil)), u8})
}

// same compares a value that was read with what was written.
func same(t *testing.T, name string, got, want *Value) {
	t.Helper()
	if got == nil || got.Kind != want.Kind || len(got.Tensors()) != len(want.Tensors()) {
		t.Errorf("%s: %+v, want %+v", name, got, want)
		return
	}
	for i, a := range got.Tensors() {
		b := want.Tensors()[i]
		if a.Elem != b.Elem || !slices.Equal(a.Dims, b.Dims) {
			t.Errorf("%s: %s%v, want %s%v", name, a.Elem, a.Dims, b.Elem, b.Dims)
			continue
		}
		x, y := must(a.Tensor()), must(b.Tensor())
		if a.Elem == graph.String {
			if !slices.Equal(must(x.Strings()), must(y.Strings())) {
				t.Errorf("%s: %q, want %q", name, must(x.Strings()), must(y.Strings()))
			}
			continue
		}
		if !bytes.Equal(must(x.Bytes()), must(y.Bytes())) {
			t.Errorf("%s: bytes %x, want %x", name, must(x.Bytes()), must(y.Bytes()))
		}
	}
}

func TestWriteNPZ(t *testing.T) {
	var b bytes.Buffer
	list := written()
	if err := WriteNPZ(&b, list); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	var inputs []*graph.Value
	for _, n := range list {
		inputs = append(inputs, &graph.Value{Name: n.Name, Type: n.Type})
	}
	s := must(Load(path, inputs))[0]
	for _, n := range list {
		same(t, n.Name, s.Inputs[n.Name], n.Value)
	}
	for _, n := range list {
		if n.Value.Tensor != nil && headerOf(n) != "" {
			t.Errorf("%s: %s", n.Name, headerOf(n))
		}
	}
}

// headerOf tells what is wrong with the header of an array: elements must lie at a multiple of 64.
func headerOf(n Named) string {
	h := npyHeader("<f4", n.Value.Tensor.Dims)
	if len(h)%64 != 0 || h[len(h)-1] != '\n' {
		return string(h)
	}
	return ""
}

func TestEncode(t *testing.T) {
	for _, n := range written() {
		b, err := Encode(n)
		if err != nil {
			t.Fatal(err)
		}
		v, name, err := Decode(b, n.Type)
		if err != nil {
			t.Fatalf("%s: %v", n.Name, err)
		}
		if name != n.Name {
			t.Errorf("the name of %s is %q", n.Name, name)
		}
		same(t, n.Name, v, n.Value)
	}
}

// TestEncodeContainers holds the kinds of elements against those that the standard numbers.
func TestEncodeContainers(t *testing.T) {
	u8 := graph.TensorOf(graph.Uint8, nil)
	none := &Value{Kind: graph.KindOptional}
	empty := &Value{Kind: graph.KindSequence}
	mapped := &Value{Kind: graph.KindMap, Keys: TensorValue(graph.NewStrings("", []int64{1}, []string{"k"})).Tensor,
		Items: []*Value{TensorValue(graph.NewTensor("", graph.Uint8, []int64{}, []byte{7}))}}
	for _, c := range []struct {
		n    Named
		want string
	}{
		{Named{"o", optOf(u8), none}, "\x0a\x01o\x10\x00"},
		{Named{"s", seqOf(u8), empty}, "\x0a\x01s\x10\x01"},
		{Named{"s", seqOf(seqOf(u8)), empty}, "\x0a\x01s\x10\x03"},
		{Named{"m", graph.Type{Kind: graph.KindMap}, mapped}, "\x0a\x01m\x10\x08\x22\x01k\x2a\x0b\x0a\x00\x10\x01\x1a\x05\x10\x02\x4a\x01\x07"},
	} {
		if got := must(Encode(c.n)); string(got) != c.want {
			t.Errorf("%s %s: % x, want % x", c.n.Name, c.n.Type, got, c.want)
		}
	}
	if _, err := Encode(Named{"t", u8, none}); err == nil {
		t.Error("an empty optional was written as a tensor")
	}
}
