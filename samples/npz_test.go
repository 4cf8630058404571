package samples

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/graph"
)

// npyFile is a .npy file of version 1.
func npyFile(descr, shape string, fortran bool, data string) string {
	order := "False"
	if fortran {
		order = "True"
	}
	if !strings.HasPrefix(descr, "[") {
		descr = "'" + descr + "'"
	}
	head := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': (%s), }\n", descr, order, shape)
	return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(head)))) + head + data
}

// archive writes an NPZ file; every second entry is compressed.
func archive(t *testing.T, files ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.npz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for i := 0; i < len(files); i += 2 {
		method := zip.Store
		if i%4 == 2 {
			method = zip.Deflate
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i] + ".npy", Method: method})
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(files[i+1]))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	return path
}

func input(name string, e graph.ElemType) *graph.Value {
	return &graph.Value{Name: name, Type: graph.TensorOf(e, nil), Input: true}
}

func TestTypes(t *testing.T) {
	f32 := func(x ...float32) string {
		return string(must(binary.Append(nil, binary.LittleEndian, x)))
	}
	for _, c := range []struct {
		descr, shape, data string
		declared, want     graph.ElemType
		values             []float64
	}{
		{"<f4", "2,", f32(1.5, -2), graph.Float, graph.Float, []float64{1.5, -2}},
		{"<f2", "2,", "\x00\x3c\x00\xc0", graph.Float16, graph.Float16, []float64{1, -2}},
		{">f4", "1,", "\x3f\xc0\x00\x00", graph.Float, graph.Float, []float64{1.5}},
		{"<f8", "", string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.1))), graph.Float, graph.Double, []float64{0.1}},
		{">i2", "2,", "\x00\x01\xff\xff", graph.Int64, graph.Int16, []float64{1, -1}},
		{"|u1", "1, 2", "\x01\xff", graph.Uint8, graph.Uint8, []float64{1, 255}},
		{"|b1", "2,", "\x01\x00", graph.Bool, graph.Bool, []float64{1, 0}},
		{"<u8", "1,", "\x07\x00\x00\x00\x00\x00\x00\x00", graph.Int64, graph.Uint64, []float64{7}},
		{"<V2", "1,", "\x80\x3f", graph.BFloat16, graph.BFloat16, []float64{1}},
		{"|V1", "2,", "\x38\xb8", graph.Float8E4M3FN, graph.Float8E4M3FN, []float64{1, -1}},
		{"|i1", "3,", "\x01\xff\x07", graph.Int4, graph.Int4, []float64{1, -1, 7}},
		{"<f4", "0, 3", "", graph.Float, graph.Float, nil},
	} {
		path := archive(t, "pad", npyFile("<f4", "", false, f32(0)), "x", npyFile(c.descr, c.shape, false, c.data))
		list, err := Load(path, []*graph.Value{input("x", c.declared)})
		if err != nil {
			t.Errorf("%s: %v", c.descr, err)
			continue
		}
		a := list[0].Inputs["x"].Tensor
		x := must(a.Tensor())
		if x.Elem != c.want {
			t.Errorf("%s: type %s, want %s", c.descr, x.Elem, c.want)
		}
		if d := cmp.Diff(c.values, must(x.Float64s())); d != "" && len(c.values) > 0 {
			t.Errorf("%s: %s", c.descr, d)
		}
		h := NoHull
		for _, v := range c.values {
			h = h.Add(v)
		}
		if got := must(a.Hull()); got != h {
			t.Errorf("%s: hull %v, want %v", c.descr, got, h)
		}
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func TestFortranOrder(t *testing.T) {
	path := archive(t, "x", npyFile("|u1", "2, 3", true, "\x01\x04\x02\x05\x03\x06"))
	a := must(Load(path, []*graph.Value{input("x", graph.Uint8)}))[0].Inputs["x"].Tensor
	if d := cmp.Diff([]float64{1, 2, 3, 4, 5, 6}, must(must(a.Tensor()).Float64s())); d != "" {
		t.Error(d)
	}
}

func TestStrings(t *testing.T) {
	wide := "a\x00\x00\x00\xe9\x00\x00\x00b\x00\x00\x00\x00\x00\x00\x00"
	path := archive(t, "u", npyFile("<U2", "2,", false, wide), "s", npyFile("|S3", "2,", false, "ab\x00xyz"))
	s := must(Load(path, []*graph.Value{input("u", graph.String), input("s", graph.String)}))[0]
	for name, want := range map[string][]string{"u": {"aé", "b"}, "s": {"ab", "xyz"}} {
		if d := cmp.Diff(want, must(must(s.Inputs[name].Tensor.Tensor()).Strings())); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestHullOfNaN(t *testing.T) {
	path := archive(t, "x", npyFile("<f2", "4,", false, "\x00\x7e\x00\x3c\x00\xfc\x00\x00"))
	a := must(Load(path, []*graph.Value{input("x", graph.Float16)}))[0].Inputs["x"].Tensor
	if got, want := must(a.Hull()), (Hull{math.Inf(-1), 1, true}); got != want {
		t.Errorf("hull %v, want %v", got, want)
	}
}

func TestSequenceArchive(t *testing.T) {
	one := npyFile("|u1", "1,", false, "\x05")
	in := &graph.Value{Name: "q", Type: graph.Type{Kind: graph.KindSequence, Of: &graph.Type{Kind: graph.KindTensor, Elem: graph.Uint8}}}
	s := must(Load(archive(t, "q.0", one, "q.1", one), []*graph.Value{in}))[0]
	if v := s.Inputs["q"]; v.Kind != graph.KindSequence || len(v.Tensors()) != 2 {
		t.Errorf("got %+v", v)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, content, err string }{
		{"objects", npyFile("|O", "1,", false, "x"), "Python objects"},
		{"structured", npyFile("[('a', '<f4')]", "1,", false, "xxxx"), "structured"},
		{"longdouble", npyFile("<f16", "1,", false, ""), `type "<f16"`},
		{"dates", npyFile("<M8[ns]", "1,", false, ""), "not supported"},
		{"void", npyFile("|V3", "1,", false, ""), "does not fit"},
		{"huge", npyFile("<f4", "9999999999, 9999999999", false, ""), "too large"},
		{"noise", "nothing of the kind", "not an array"},
		{"version", "\x93NUMPY\x09\x00\x00\x00", "version 9"},
		{"cut", "\x93NUMPY\x01\x00\xff\x00{'descr", "cut off"},
		{"negative", npyFile("<f4", "-1, 4", false, ""), "cannot be read"},
		{"unreadable", npyFile("<f4", "a", false, ""), "cannot be read"},
	} {
		_, err := Load(archive(t, "x", c.content), []*graph.Value{input("x", graph.Float)})
		if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), `array "x"`) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
	}
}

// TestShortArray shows that a header may not promise more than the file holds, whatever its size.
func TestShortArray(t *testing.T) {
	path := archive(t, "x", npyFile("<f4", "1000000000000,", false, "\x00\x00\x00\x00"))
	a := must(Load(path, []*graph.Value{input("x", graph.Float)}))[0].Inputs["x"].Tensor
	if _, err := a.Hull(); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("hull: error %v", err)
	}
	if _, err := a.Tensor(); err == nil {
		t.Error("the tensor was read")
	}
}

func TestNoInputFits(t *testing.T) {
	_, err := Load(archive(t, "y", npyFile("<f4", "", false, "xxxx")), []*graph.Value{input("x", graph.Float)})
	if err == nil || !strings.Contains(err.Error(), "no input of the model (x)") {
		t.Errorf("error %v", err)
	}
}

// TestWrongKind takes numbers in any width of their kind, and in no other kind.
func TestWrongKind(t *testing.T) {
	for _, test := range []struct {
		descr, data string
		want        graph.ElemType
		ok          bool
	}{
		{"<f4", "1234", graph.Float16, true},
		{"<f8", "12345678", graph.BFloat16, true},
		{"<i8", "12345678", graph.Int32, true},
		{"|b1", "1", graph.Int64, true},
		{"<i8", "12345678", graph.Float, false},
		{"<f4", "1234", graph.Int32, false},
		{"<c8", "12345678", graph.Float, false},
		{"|b1", "1", graph.Float, false},
	} {
		path := archive(t, "x", npyFile(test.descr, "1,", false, test.data))
		_, err := Load(path, []*graph.Value{input("x", test.want)})
		if test.ok != (err == nil) {
			t.Errorf("%s for %s: %v", test.descr, test.want, err)
		}
		if err != nil && !strings.Contains(err.Error(), `input "x"`) {
			t.Errorf("%s does not name the input", err)
		}
	}
}
