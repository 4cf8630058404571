package graph

import (
	"bytes"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// wideModel writes a model whose three tensors lie in one file, and are worth a draft.
func wideModel(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	const n = 300_000
	x := make([]float32, 3*n)
	for i := range x {
		x[i] = float32(i%70_001) / 16
	}
	x[n] = 1e6 // past the largest of FP16
	put(t, filepath.Join(dir, "w.bin"), le32(x...))
	parts := [][]byte{blob(graphName, "g"), sub(graphOutput, blob(infoName, "a"))}
	for i, name := range []string{"a", "b", "c"} {
		parts = append(parts, sub(graphInitializer, tensorBytes(name, Float, []uint64{n / 100, 100}, vint(tensorLocation, 1),
			sub(tensorExternal, blob(entryKey, "location"), blob(entryValue, "w.bin")),
			sub(tensorExternal, blob(entryKey, "offset"), blob(entryValue, strconv.Itoa(4*n*i))))))
	}
	put(t, filepath.Join(dir, "m.onnx"), modelBytes(parts...))
	return dir
}

// lowered returns a copy in which these tensors are FP16.
func lowered(m *Model, names ...string) *Model {
	c := m.Clone()
	for _, name := range names {
		v := c.Graph.Lookup(name)
		v.SetInit(v.Init.Converted(Float16, false))
	}
	return c
}

// TestDraft: what is saved is the same with and without a draft, whatever was read before and whether it was laid
// out as expected, and nothing else is left.
func TestDraft(t *testing.T) {
	sections := func(w *Tensor) error {
		return w.Sections(Sections{Size: 100_000, Width: 100, Target: numfmt.FP16,
			Begin: func(int) func(int64, []float32) { return func(_ int64, x []float32) { clear(x) } }, End: func(int) {}})
	}
	floats := func(w *Tensor) error {
		return w.FloatsCounted(numfmt.FP16, func(x []float32) { clear(x) })
	}
	for name, c := range map[string]struct {
		read  map[string]func(*Tensor) error
		saved []string // in FP16; expected are all
		taken int      // parts that the draft holds
	}{
		"unread":     {nil, []string{"a", "b", "c"}, 0},
		"all":        {map[string]func(*Tensor) error{"a": sections, "b": sections, "c": floats}, []string{"a", "b", "c"}, 3},
		"some":       {map[string]func(*Tensor) error{"b": floats}, []string{"a", "b", "c"}, 1},
		"last kept":  {map[string]func(*Tensor) error{"a": floats, "b": sections, "c": sections}, []string{"a", "b"}, 2},
		"first kept": {map[string]func(*Tensor) error{"a": floats, "b": sections, "c": sections}, []string{"b", "c"}, 0},
		"none low":   {map[string]func(*Tensor) error{"a": floats}, nil, 0},
	} {
		m := opened(t, filepath.Join(wideModel(t), "m.onnx"))
		want, out := t.TempDir(), t.TempDir()
		d := lowered(m, "a", "b", "c").Draft(filepath.Join(out, "o.onnx"), SaveOptions{})
		if d == nil || len(d.files) != 1 {
			t.Fatalf("%s: draft %v", name, d)
		}
		for _, v := range m.Graph.Inits() {
			for range 2 { // the second reading writes nothing
				if read := c.read[v.Name]; read != nil && read(v.Init) != nil {
					t.Fatalf("%s: %s cannot be read", name, v.Name)
				}
			}
		}
		result, taken := lowered(m, c.saved...), 0
		if p, err := result.planSave(filepath.Join(out, "o.onnx"), SaveOptions{}); err != nil {
			t.Fatal(err)
		} else if r := p.files[0].rope; r.n > 0 {
			at := int64(0)
			for _, x := range r.parts {
				if d.files["w.bin"].holds(x, at) {
					taken++
				}
				at += x.len()
			}
		}
		if taken != c.taken {
			t.Errorf("%s: the draft holds %d tensors, want %d", name, taken, c.taken)
		}
		if err := result.Save(filepath.Join(want, "o.onnx"), SaveOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := result.Save(filepath.Join(out, "o.onnx"), SaveOptions{Draft: d}); err != nil {
			t.Fatal(err)
		}
		d.Discard()
		if got := names(t, out); got != "o.onnx w.bin" {
			t.Errorf("%s: files %s", name, got)
		}
		for _, f := range []string{"o.onnx", "w.bin"} {
			if !bytes.Equal(get(t, filepath.Join(out, f)), get(t, filepath.Join(want, f))) {
				t.Errorf("%s: %s differs from what is saved without a draft", name, f)
			}
		}
	}
}

// TestDraftFails: a file that cannot be written to is no reason to fail before the save, and a draft that is
// discarded leaves nothing behind.
func TestDraftFails(t *testing.T) {
	m := opened(t, filepath.Join(wideModel(t), "m.onnx"))
	out := t.TempDir()
	low := lowered(m, "a", "b", "c")
	d := low.Draft(filepath.Join(out, "o.onnx"), SaveOptions{})
	if names(t, out) == "" {
		t.Fatal("nothing is written ahead")
	}
	d.files["w.bin"].w.Close()
	a := m.Graph.Lookup("a").Init
	err := a.FloatsCounted(numfmt.FP16, func([]float32) {})
	d.files["w.bin"].later.end(false)
	if state := a.stats.draft.Load().state.Load(); err != nil || state != draftBroken {
		t.Errorf("error %v, state %d", err, state)
	}
	if err := low.Save(filepath.Join(out, "o.onnx"), SaveOptions{Draft: d}); err != nil {
		t.Errorf("saving: %v", err)
	}
	d.Discard()
	if got := names(t, out); got != "o.onnx w.bin" || a.drafting() != nil {
		t.Errorf("files %s", got)
	}
	for _, path := range []string{filepath.Join(m.Dir, "w.bin"), m.Path, m.Dir, filepath.Join(out, "missing", "o.onnx"), "/dev/null"} {
		if d := low.Draft(path, SaveOptions{}); d != nil {
			t.Errorf("%s is written ahead", path)
		}
	}
	if d := m.Draft(filepath.Join(out, "p.onnx"), SaveOptions{}); len(d.files) != 0 {
		t.Error("what is not converted is written ahead")
	}
}
