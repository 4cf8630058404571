package samples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
)

// A TensorProto of one uint8 named n, and messages around it.
func tensorProto(name string, x byte) string {
	p := "\x08\x01\x10\x02\x4a\x01" + string(x)
	if name != "" {
		p += "\x42" + string(rune(len(name))) + name
	}
	return p
}

func field(num byte, body string) string { return string([]byte{num<<3 | 2, byte(len(body))}) + body }

func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func seqOf(t graph.Type) graph.Type { return graph.Type{Kind: graph.KindSequence, Of: &t} }
func optOf(t graph.Type) graph.Type { return graph.Type{Kind: graph.KindOptional, Of: &t} }

func TestFolder(t *testing.T) {
	u8 := graph.TensorOf(graph.Uint8, nil)
	inputs := []*graph.Value{{Name: "a", Type: u8}, {Name: "b", Type: u8}, {Name: "s", Type: seqOf(u8)},
		{Name: "o", Type: optOf(u8)}, {Name: "n", Type: optOf(seqOf(u8))}, {Name: "bare", Type: optOf(u8)},
		{Name: "list", Type: optOf(seqOf(u8))}, {Name: "full", Type: optOf(seqOf(u8))}}
	dir := folder(t, "input_0.pb", tensorProto("b", 1), "input_1.pb", tensorProto("a", 2),
		"input_2.pb", field(1, "s")+field(3, tensorProto("", 3))+field(3, tensorProto("", 4)),
		"input_3.pb", field(3, tensorProto("", 5)), "input_4.pb", field(1, "n"), "input_5.pb", tensorProto("bare", 6),
		"input_6.pb", "\x10\x01"+field(3, tensorProto("", 7)),
		"input_7.pb", "\x10\x03"+field(5, "\x10\x01"+field(3, tensorProto("", 8))+field(3, tensorProto("", 9))))
	s := must(Load(dir, inputs))[0]
	for name, want := range map[string]string{"a": "\x02", "b": "\x01", "s": "\x03\x04", "o": "\x05", "n": "", "bare": "\x06", "list": "\x07", "full": "\x08\x09"} {
		got := ""
		for _, a := range s.Inputs[name].Tensors() {
			for _, x := range must(must(a.Tensor()).Int64s()) {
				got += string(byte(x))
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if k := s.Inputs["list"].Kind; k != graph.KindSequence {
		t.Errorf("the sequence without a container has kind %d", k)
	}
	if k := s.Inputs["n"].Kind; k != graph.KindOptional {
		t.Errorf("the empty optional has kind %d", k)
	}
}

func TestSeveralSets(t *testing.T) {
	u8 := graph.TensorOf(graph.Uint8, nil)
	dir := folder(t, "test_data_set_1/input_0.pb", tensorProto("", 9), "test_data_set_0/input_0.pb", tensorProto("", 2))
	h := NoHull
	for _, s := range must(Load(dir, []*graph.Value{{Name: "x", Type: u8}})) {
		h = h.Join(must(s.Inputs["x"].Tensor.Hull()))
	}
	if h.Lo != 2 || h.Hi != 9 {
		t.Errorf("hull %v", h)
	}
}

func TestDamagedFolder(t *testing.T) {
	u8 := graph.TensorOf(graph.Uint8, nil)
	deep, nested := u8, tensorProto("", 1)
	for range 20 {
		deep, nested = seqOf(deep), field(5, nested)
	}
	for _, c := range []struct {
		name, content string
		typ           graph.Type
		err           string
	}{
		{"tensor", "\x4a\x7f", u8, "input_0.pb"},
		{"sequence", "\x1a\x7f", seqOf(u8), "not a seq"},
		{"map", field(6, ""), seqOf(u8), "not supported"},
		{"nested", nested, deep, "nested more than"},
	} {
		_, err := Load(folder(t, "input_0.pb", c.content), []*graph.Value{{Name: "x", Type: c.typ}})
		if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
	}
	outputs := folder(t, "output_0.pb", "")
	if list, err := Load(outputs, []*graph.Value{{Name: "x", Type: optOf(u8)}}); err != nil || len(list) != 1 {
		t.Errorf("a test without inputs: %v", err)
	}
	if _, err := Load(outputs, []*graph.Value{{Name: "x", Type: u8}}); err == nil {
		t.Error("a test without the input of the model was read")
	}
	if _, err := Load(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "no input_*.pb") {
		t.Errorf("empty folder: error %v", err)
	}
}
