package analyze

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// outside saves a model of a large weight in a file of its own, and returns its path.
func outside(t *testing.T) string {
	t.Helper()
	const text = `<ir_version: 8, opset_import: ["" : 17]>
m (float[N, 1024] x) => (float[N, 1200] y)
<float[1024, 1200] w = ["location" : "w.bin", "offset" : "0", "length" : "4915200"]>
{ h = MatMul (x, w)  y = Sigmoid (h) }`
	m, err := onnxtxt.Parse("m", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 1024*1200)
	for i := range x {
		x[i] = float32(i%1013)/4096 - 0.125
	}
	raw, err := graph.FloatTensor("", []int64{int64(len(x))}, x...).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	m.Dir = dir
	path := filepath.Join(dir, "m.onnx")
	if err := os.WriteFile(filepath.Join(dir, "w.bin"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.WriteTo(f); errors.Join(err, f.Close()) != nil {
		t.Fatal(err)
	}
	return path
}

// TestAhead: weights that were written before the plan was known are those that a save writes, and none are left
// where nothing is to be saved.
func TestAhead(t *testing.T) {
	path := outside(t)
	for name, c := range map[string]struct {
		stop, dry bool
		effort    string
		files     int
	}{"off": {effort: "off", files: 2}, "quick": {effort: "quick", files: 2}, "dry run": {dry: true}, "interrupted": {stop: true}} {
		ctx, stop := context.WithCancel(context.Background())
		if c.stop {
			stop()
		}
		out := t.TempDir()
		opt := FixOptions{Options: Options{Target: FP16, Effort: c.effort}, Out: filepath.Join(out, "o.onnx"), DryRun: c.dry}
		f, err := Fix(ctx, path, opt)
		if stop(); (err == nil) == c.stop || err == nil && f.Refused != "" {
			t.Fatalf("%s: %v, error %v", name, f, err)
		}
		files, err := os.ReadDir(out)
		if err != nil || len(files) != c.files {
			t.Errorf("%s: files %v, error %v", name, files, err)
		}
		if c.files == 0 {
			continue
		}
		if !sameWeights(t, path, opt.Out) {
			t.Errorf("%s: the weights are others", name)
		}
	}
}

// TestAheadBegins: what converts weights in files of their own writes them while it reads them, and nothing else
// does.
func TestAheadBegins(t *testing.T) {
	for _, c := range []struct {
		opt  FixOptions
		want bool
	}{
		{FixOptions{Options: Options{Target: FP16}}, true},
		{FixOptions{Options: Options{Target: BF16}}, true},
		{FixOptions{Options: Options{Target: FP16}, DryRun: true}, false},
		{FixOptions{Options: Options{Target: E4M3FN}}, false},
		{FixOptions{Strategy: "repair"}, false},
		{FixOptions{Options: Options{Target: FP32}}, false},
	} {
		m, err := graph.Open(outside(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if _, err := infer.Run(m, infer.Options{}); err != nil {
			t.Fatal(err)
		}
		c.opt.Out = filepath.Join(t.TempDir(), "o.onnx")
		d := ahead(m, &c.opt)
		if begun := d != nil; begun != c.want {
			t.Errorf("%v %s: begun %t", c.opt.Target, c.opt.Strategy, begun)
		}
		d.Discard()
	}
}

// sameWeights tells whether the constant of one model is that of another in FP16.
func sameWeights(t *testing.T, path, low string) bool {
	var raw [2][]byte
	for i, p := range []string{path, low} {
		m, err := graph.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		w := m.Graph.Lookup("w").Init
		if i == 0 {
			w = w.Converted(graph.Float16, false)
		}
		if raw[i], err = w.Bytes(); err != nil {
			t.Fatal(err)
		}
	}
	return bytes.Equal(raw[0], raw[1])
}
