package graph

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// elemCases hold for every numeric type three elements, stored as raw_data and as entries of the
// typed field that the standard names for the type.
var elemCases = []struct {
	elem  ElemType
	raw   []byte
	field protowire.Number
	data  []uint64
	want  []float64
}{
	{Uint8, []byte{1, 2, 255}, tensorInt32Data, []uint64{1, 2, 255}, []float64{1, 2, 255}},
	{Int8, []byte{1, 2, 255}, tensorInt32Data, []uint64{1, 2, neg(-1)}, []float64{1, 2, -1}},
	{Uint16, []byte{1, 0, 2, 0, 255, 255}, tensorInt32Data, []uint64{1, 2, 65535}, []float64{1, 2, 65535}},
	{Int16, []byte{1, 0, 2, 0, 254, 255}, tensorInt32Data, []uint64{1, 2, neg(-2)}, []float64{1, 2, -2}},
	{Int32, []byte{1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 128}, tensorInt32Data, []uint64{1, 2, neg(math.MinInt32)}, []float64{1, 2, math.MinInt32}},
	{Int64, le64(1, 2, neg(-3)), tensorInt64Data, []uint64{1, 2, neg(-3)}, []float64{1, 2, -3}},
	{Uint32, []byte{1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255}, tensorUint64Data, []uint64{1, 2, math.MaxUint32}, []float64{1, 2, math.MaxUint32}},
	{Uint64, le64(1, 2, 1<<63), tensorUint64Data, []uint64{1, 2, 1 << 63}, []float64{1, 2, 1 << 63}},
	{Bool, []byte{1, 0, 1}, tensorInt32Data, []uint64{1, 0, 256}, []float64{1, 0, 1}},
	{Float16, []byte{0, 0x3c, 0, 0xc0, 0, 0x7c}, tensorInt32Data, []uint64{0x3c00, 0xc000, 0x7c00}, []float64{1, -2, math.Inf(1)}},
	{BFloat16, []byte{0x80, 0x3f, 0, 0xc0, 0x80, 0xff}, tensorInt32Data, []uint64{0x3f80, 0xc000, 0xff80}, []float64{1, -2, math.Inf(-1)}},
	{Float8E4M3FN, []byte{0x38, 0xc0, 0x7e}, tensorInt32Data, []uint64{0x38, 0xc0, 0x7e}, []float64{1, -2, 448}},
	{Float8E4M3FNUZ, []byte{0x40, 0xc8, 0x7f}, tensorInt32Data, []uint64{0x40, 0xc8, 0x7f}, []float64{1, -2, 240}},
	{Float8E5M2, []byte{0x3c, 0xc0, 0x7b}, tensorInt32Data, []uint64{0x3c, 0xc0, 0x7b}, []float64{1, -2, 57344}},
	{Float8E5M2FNUZ, []byte{0x40, 0xc4, 0x7f}, tensorInt32Data, []uint64{0x40, 0xc4, 0x7f}, []float64{1, -2, 57344}},
	{Float8E8M0, []byte{127, 128, 0}, tensorInt32Data, []uint64{127, 128, 0}, []float64{1, 2, math.Ldexp(1, -127)}},
	{Float4E2M1, []byte{0xf2, 0x01}, tensorInt32Data, []uint64{0xf2, 0x01}, []float64{1, -6, 0.5}},
	{Float6E2M3, []byte{0x88, 0xff, 0x00}, tensorInt32Data, []uint64{8, 0x1e | 0x20, 0xf}, []float64{1, -7, 1.875}},
	{Float6E3M2, []byte{0xcc, 0x17, 0x00}, tensorInt32Data, []uint64{12, 0x1f, 1}, []float64{1, 28, 0.0625}},
	{Uint4, []byte{0xf2, 0x01}, tensorInt32Data, []uint64{0xf2, 0x01}, []float64{2, 15, 1}},
	{Int4, []byte{0xf2, 0x08}, tensorInt32Data, []uint64{0xf2, 0x08}, []float64{2, -1, -8}},
	{Uint2, []byte{0b111001}, tensorInt32Data, []uint64{0b111001}, []float64{1, 2, 3}},
	{Int2, []byte{0b111001}, tensorInt32Data, []uint64{0b111001}, []float64{1, -2, -1}},
}

func neg(v int64) uint64 { return uint64(v) }

func le64(v ...uint64) (b []byte) {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

func (t *Tensor) mustFloats(tb testing.TB) []float64 {
	tb.Helper()
	x, err := t.Float64s()
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

func TestElements(t *testing.T) {
	for _, c := range elemCases {
		t.Run(c.elem.String(), func(t *testing.T) {
			dims := []uint64{3}
			var single [][]byte
			for _, v := range c.data {
				single = append(single, vint(c.field, v))
			}
			forms := map[string]*Tensor{
				"raw":    initOf(t, tensorBytes("w", c.elem, dims, blob(tensorRawData, c.raw))),
				"packed": initOf(t, tensorBytes("w", c.elem, dims, packed(c.field, c.data...))),
				"single": initOf(t, tensorBytes("w", c.elem, dims, single...)),
				"memory": NewTensor("w", c.elem, []int64{3}, c.raw),
			}
			for form, w := range forms {
				checkElements(t, form, w, c.raw, c.want)
			}
		})
	}
}

func checkElements(t *testing.T, form string, w *Tensor, raw []byte, want []float64) {
	t.Helper()
	if b, err := w.Bytes(); err != nil || !bytes.Equal(b, raw) {
		t.Errorf("%s: bytes %x, %v; want %x", form, b, err, raw)
	}
	if got := w.mustFloats(t); !equal(got, want) {
		t.Errorf("%s: %v, want %v", form, got, want)
	}
	h, err := w.Histogram()
	if err != nil || h.Count() != 3 {
		t.Errorf("%s: histogram of %v elements, %v", form, h, err)
	}
	var small []float64
	if err := w.Floats(func(f []float32) error {
		for _, v := range f {
			small = append(small, float64(v))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	for i, v := range want {
		if small[i] != float64(float32(v)) {
			t.Errorf("%s: float %d is %v, want %v", form, i, small[i], v)
		}
	}
	ints, err := w.Int64s()
	if isInt := w.Elem.IsInt() || w.Elem == Bool; isInt != (err == nil) {
		t.Errorf("%s: integers: %v", form, err)
	} else if isInt && w.Elem != Uint64 && float64(ints[2]) != want[2] {
		t.Errorf("%s: integers %v", form, ints)
	}
}

func equal(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return false
		}
	}
	return true
}

func TestFloatAndDoubleData(t *testing.T) {
	f := initOf(t, tensorBytes("w", Float, []uint64{2}, fix32(tensorFloatData, 1.5), fix32(tensorFloatData, -2)))
	if got := f.mustFloats(t); !equal(got, []float64{1.5, -2}) {
		t.Error(got)
	}
	d := initOf(t, tensorBytes("w", Double, []uint64{2}, blob(tensorDoubleData, le64(math.Float64bits(1e300), math.Float64bits(-2)))))
	if got := d.mustFloats(t); !equal(got, []float64{1e300, -2}) {
		t.Error(got)
	}
	c := initOf(t, tensorBytes("w", Complex64, []uint64{1}, fix32(tensorFloatData, 1), fix32(tensorFloatData, 2)))
	if b, err := c.Bytes(); err != nil || len(b) != 8 {
		t.Error(b, err)
	}
	if _, err := c.Float64s(); err == nil {
		t.Error("a complex tensor has real elements")
	}
	s := initOf(t, tensorBytes("w", String, []uint64{2}, blob(tensorStringData, "a"), blob(tensorStringData, "\xff")))
	if got, err := s.Strings(); err != nil || len(got) != 2 || got[1] != "\xff" {
		t.Error(got, err)
	}
}

// TestLongLists crosses the windows of the cursor and the chunks of the stream.
func TestLongLists(t *testing.T) {
	const n = 300_000
	var data []uint64
	for i := range n {
		data = append(data, uint64(i)*7919)
	}
	w := initOf(t, tensorBytes("w", Int64, []uint64{n}, packed(tensorInt64Data, data...)))
	got, err := w.Int64s()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v != int64(i)*7919 {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	var blocks int
	if err := w.Floats(func(f []float32) error { blocks++; return nil }); err != nil || blocks < 2 {
		t.Errorf("%d blocks, %v", blocks, err)
	}
}

func TestWrongElements(t *testing.T) {
	cases := []struct {
		name, want string
		w          *Tensor
	}{
		{"missing", "missing", initOf(t, tensorBytes("w", Int32, []uint64{2}, packed(tensorInt32Data, 500)))},
		{"more", "more elements", initOf(t, tensorBytes("w", Int32, []uint64{1}, packed(tensorInt32Data, 1, 2)))},
		{"other field", "missing", initOf(t, tensorBytes("w", Int32, []uint64{1}, packed(tensorInt64Data, 1)))},
		{"cut varint", "cut off", initOf(t, tensorBytes("w", Int32, []uint64{1}, blob(tensorInt32Data, "\x80")))},
		{"memory", "takes 8 bytes", NewTensor("w", Float, []int64{2}, make([]byte, 4))},
		{"unknown type", "unknown element type", NewTensor("w", 99, []int64{2}, make([]byte, 4))},
	}
	for _, c := range cases {
		_, err := c.w.Bytes()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"w"`) {
			t.Errorf("%s: error %v, want %q and the tensor's name", c.name, err, c.want)
		}
	}
}

func externalTensor(entries ...string) []byte {
	fields := [][]byte{vint(tensorLocation, 1)}
	for i := 0; i+1 < len(entries); i += 2 {
		fields = append(fields, sub(tensorExternal, blob(entryKey, entries[i]), blob(entryValue, entries[i+1])))
	}
	return tensorBytes("w", Float, []uint64{2}, fields...)
}

func TestExternalData(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	data := []byte{9, 9, 0, 0, 128, 63, 0, 0, 0, 64}
	for _, path := range []string{filepath.Join(dir, "w.bin"), filepath.Join(dir, "sub", "w.bin"), filepath.Join(outside, "w.bin")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	cases := []struct {
		entries []string
		want    string // of the error, "" for success
	}{
		{[]string{"location", "w.bin", "offset", "2", "length", "8"}, ""},
		{[]string{"location", "sub/w.bin", "offset", "2", "checksum", "x"}, ""},
		{[]string{"location", "./sub/../w.bin", "offset", "2"}, ""},
		{[]string{"location", "w.bin", "offset", "4"}, "cut off"},
		{[]string{"location", "w.bin", "offset", "9223372036854775807"}, "cut off"},
		{[]string{"location", "w.bin", "offset", "-1"}, "offset"},
		{[]string{"location", "w.bin", "offset", "x"}, "offset"},
		{[]string{"location", "w.bin", "length", "4"}, "length 4"},
		{[]string{"location", "none.bin"}, "none.bin"},
		{[]string{"location", "../" + filepath.Base(outside) + "/w.bin"}, "outside"},
		{[]string{"location", filepath.Join(outside, "w.bin")}, "absolute"},
		{[]string{"location", `\\host\w.bin`}, "absolute"},
		{[]string{"location", "link/w.bin", "offset", "2"}, "escapes"},
		{[]string{"location", "sub"}, "no regular file"},
		{[]string{"offset", "2"}, "without a location"},
	}
	for _, c := range cases {
		m, err := Decode(modelBytes(sub(graphInitializer, externalTensor(c.entries...))), dir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Graph.inits[0].Init.Float64s()
		switch {
		case c.want == "" && (err != nil || !equal(got, []float64{1, 2})):
			t.Errorf("%q: %v, %v", c.entries, got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%q: error %v, want %q", c.entries, err, c.want)
		}
	}
}

func TestConverted(t *testing.T) {
	w := FloatTensor("w", []int64{4}, 1, 70000, -2, 1e-9)
	for _, c := range []struct {
		e    ElemType
		sat  bool
		want []float64
	}{
		{Float16, false, []float64{1, math.Inf(1), -2, 0}},
		{Float16, true, []float64{1, 65504, -2, 0}},
		{Float8E4M3FN, true, []float64{1, 448, -2, 0}},
		{Double, false, []float64{1, 70000, -2, float64(float32(1e-9))}},
	} {
		k := w.Converted(c.e, c.sat)
		if got := k.mustFloats(t); !equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.e, got, c.want)
		}
		if b, err := k.Bytes(); err != nil || int64(len(b)) != k.RawLen() {
			t.Errorf("%s: %d bytes of %d, %v", c.e, len(b), k.RawLen(), err)
		}
	}
	// 1 + 2^-11 + 2^-40 lies above the tie of float16; by way of float32 it would fall on it.
	d := NewTensor("d", Double, []int64{1}, le64(math.Float64bits(1+0x1p-11+0x1p-40)))
	if got := d.Converted(Float16, false).mustFloats(t)[0]; got != 1+0x1p-10 {
		t.Errorf("double to float16 gives %v", got)
	}
	if _, err := IntTensor("i", []int64{1}, 1).Converted(Float16, false).Bytes(); err == nil {
		t.Error("integers were converted")
	}
}
