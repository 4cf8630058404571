package graph

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// outsideModel has four tensors outside, in two files, one of them in a sub-folder: b and c share
// their bytes. d is aligned to a page.
func outsideModel(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	one := append([]byte("head"), le32(1, 2)...)
	one = append(append(one, make([]byte, 4096-len(one))...), le32(5, 6)...)
	put(t, filepath.Join(dir, "one.bin"), one)
	put(t, filepath.Join(dir, "deep", "two.bin"), append(le32(3, 4), "tail"...))
	ext := func(name, loc, off string) []byte {
		return sub(graphInitializer, tensorBytes(name, Float, []uint64{2}, vint(tensorLocation, 1),
			sub(tensorExternal, blob(entryKey, "location"), blob(entryValue, loc)),
			sub(tensorExternal, blob(entryKey, "offset"), blob(entryValue, off)),
			sub(tensorExternal, blob(entryKey, "checksum"), blob(entryValue, "abc"))))
	}
	put(t, filepath.Join(dir, "m.onnx"), modelBytes(blob(graphName, "g"), sub(graphOutput, blob(infoName, "a")),
		ext("a", "one.bin", "4"), ext("b", "deep/two.bin", "0"), ext("c", "deep/../deep/two.bin", "0"), ext("d", "one.bin", "4096")))
	return dir
}

func le32(v ...float32) []byte {
	b, _ := FloatTensor("", []int64{int64(len(v))}, v...).Bytes()
	return b
}

func put(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func opened(t testing.TB, path string) *Model {
	t.Helper()
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// names lists the files below a folder.
func names(t testing.TB, dir string) string {
	t.Helper()
	var list []string
	err := filepath.Walk(dir, func(path string, st os.FileInfo, err error) error {
		if err == nil && !st.IsDir() {
			list = append(list, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

func weights(t testing.TB, path string) (x []float64) {
	t.Helper()
	for _, v := range opened(t, path).Graph.Inits() {
		x = append(x, v.Init.mustFloats(t)...)
	}
	return x
}

var outsideWeights = []float64{1, 2, 3, 4, 3, 4, 5, 6}

func TestSaveElsewhere(t *testing.T) {
	dir, out := outsideModel(t), t.TempDir()
	m := opened(t, filepath.Join(dir, "m.onnx"))
	if err := m.Save(filepath.Join(out, "o.onnx"), SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	for a, b := range map[string]string{"m.onnx": "o.onnx", "one.bin": "one.bin", "deep/two.bin": "deep/two.bin"} {
		if !bytes.Equal(get(t, filepath.Join(dir, a)), get(t, filepath.Join(out, b))) {
			t.Errorf("%s is not a copy", b)
		}
	}
	if got := names(t, out); got != "deep/two.bin o.onnx one.bin" {
		t.Errorf("files %s", got)
	}
}

func TestSaveBeside(t *testing.T) {
	dir := outsideModel(t)
	m := opened(t, filepath.Join(dir, "m.onnx"))
	if err := m.Save(filepath.Join(dir, "o.onnx"), SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); got != "deep/two.bin m.onnx o.onnx o.onnx.data one.bin" {
		t.Errorf("files %s", got)
	}
	if got := weights(t, filepath.Join(dir, "o.onnx")); !equal(got, outsideWeights) {
		t.Errorf("weights %v", got)
	}
	// one.bin's tensors at 0 and 4096, then deep/two.bin's once, for b and c
	if n := len(get(t, filepath.Join(dir, "o.onnx.data"))); n != 4096+8+56+8 {
		t.Errorf("the data have %d bytes", n)
	}
	if bytes.Contains(get(t, filepath.Join(dir, "o.onnx")), []byte("checksum")) {
		t.Error("a checksum of other bytes is left")
	}
}

// TestSaveConverted narrows one tensor: its file is laid out anew, the other is copied.
func TestSaveConverted(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		dir, out := outsideModel(t), t.TempDir()
		path := filepath.Join(out, "o.onnx")
		m := opened(t, filepath.Join(dir, "m.onnx"))
		if inPlace {
			out, path = dir, filepath.Join(dir, "m.onnx")
		}
		a := m.Graph.Lookup("a")
		a.SetInit(a.Init.Converted(Float16, false))
		if err := m.Save(path, SaveOptions{InPlace: inPlace}); err != nil {
			t.Fatal(err)
		}
		if got := weights(t, path); !equal(got, outsideWeights) {
			t.Errorf("weights %v", got)
		}
		one := get(t, filepath.Join(out, "one.bin"))
		if len(one) != 4096+8 || !bytes.Equal(one[:4], []byte{0, 0x3c, 0, 0x40}) {
			t.Errorf("one.bin has %d bytes and begins with %x", len(one), one[:4])
		}
		if two := get(t, filepath.Join(out, "deep", "two.bin")); !bytes.HasSuffix(two, []byte("tail")) {
			t.Error("deep/two.bin was rewritten")
		}
		if strings.Contains(names(t, out), "tmp") {
			t.Errorf("files %s", names(t, out))
		}
	}
}

func TestSaveRefuses(t *testing.T) {
	dir := outsideModel(t)
	path := filepath.Join(dir, "m.onnx")
	before := names(t, dir)
	if err := os.Symlink(path, filepath.Join(dir, "link.onnx")); err == nil {
		before = names(t, dir)
	}
	m := opened(t, path)
	for target, want := range map[string]string{
		"m.onnx": "is the input", "link.onnx": "is the input", "one.bin": "external data of the input", "deep": "is a folder", "no/where": "no such file",
	} {
		err := m.Save(filepath.Join(dir, target), SaveOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("saving to %s: %v, want %q", target, err, want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "deep", "two.bin")); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := m.Save(filepath.Join(out, "o.onnx"), SaveOptions{}); err == nil {
		t.Error("saved without the external data")
	}
	if got := names(t, out); got != "" {
		t.Errorf("a failure left %s", got)
	}
	if err := m.Save(filepath.Join(dir, "o.onnx"), SaveOptions{}); err == nil {
		t.Error("saved without the external data")
	}
	if got := strings.Replace(before, "deep/two.bin ", "", 1); names(t, dir) != got {
		t.Errorf("a failure left %s, want %s", names(t, dir), got)
	}
}

func TestSaveMode(t *testing.T) {
	dir := t.TempDir()
	m := decoded(t, chain())
	path := filepath.Join(dir, "o.onnx")
	for range 2 { // the second time over an old file
		if err := m.Save(path, SaveOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(dir, "usual"))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	got, _ := os.Stat(path)
	want, _ := os.Stat(f.Name())
	if got.Mode() != want.Mode() {
		t.Errorf("mode %v, that of other new files is %v", got.Mode(), want.Mode())
	}
	if err := m.Save(os.DevNull, SaveOptions{}); err != nil {
		t.Error(err)
	}
}

// TestSaveInterrupted stops a save as a signal does.
func TestSaveInterrupted(t *testing.T) {
	dir, out := outsideModel(t), t.TempDir()
	m := opened(t, filepath.Join(dir, "m.onnx"))
	put(t, filepath.Join(out, "o.onnx"), []byte("old"))
	p, err := m.planSave(filepath.Join(out, "o.onnx"), SaveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p.files[1].open = func() (rope, func() error, error) { stop(); return rope{}, func() error { return nil }, nil } // after the first file
	if err := p.write(ctx, nil); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("error %v", err)
	}
	if got := names(t, out); got != "o.onnx" || string(get(t, filepath.Join(out, "o.onnx"))) != "old" {
		t.Errorf("the interruption left %s", got)
	}
}

// TestSpill puts large initializers outside, as a model above 2 GiB needs.
func TestSpill(t *testing.T) {
	dir := t.TempDir()
	m := decoded(t, chain())
	big := make([]float32, spillFrom/4)
	big[7] = 7
	m.Graph.AddInit(FloatTensor("big", []int64{int64(len(big))}, big...))
	p := &savePlan{dir: dir, places: map[*Tensor]Place{}}
	p.spill(m, "o.data")
	r, err := m.encode(p.places)
	if err != nil || r.n > 2000 {
		t.Fatalf("%d bytes, %v", r.n, err)
	}
	var model, data bytes.Buffer
	if _, err := r.writeTo(&model); err != nil {
		t.Fatal(err)
	}
	if _, err := p.files[0].rope.writeTo(&data); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "o.data"), data.Bytes())
	again, err := Decode(model.Bytes(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if x := again.Graph.Lookup("big").Init.mustFloats(t); len(x) != len(big) || x[7] != 7 {
		t.Error("the elements are lost")
	}
}
