package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph/onnxtxt"
)

// TestPython fixes the text models and lets onnx and onnxruntime judge the results: what was valid
// stays valid and loads, and what is fixed again stays as it is. ./test.sh sets up the Python that
// AMPLINT_PYTHON names.
func TestPython(t *testing.T) {
	python := os.Getenv("AMPLINT_PYTHON")
	if python == "" {
		t.Skip("AMPLINT_PYTHON is not set")
	}
	dir := t.TempDir()
	amplint := filepath.Join(dir, "amplint")
	if out, err := exec.Command("go", "build", "-o", amplint, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	models := encodeAll(t, filepath.Join(dir, "models"))
	for _, target := range []string{"fp16", "bf16"} {
		cmd := exec.Command(python, "benchmarks/fix_valid.py", models, "--amplint", amplint, "--target", target, "--twice", "-v")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", target, err, out)
		}
		t.Logf("%s", out)
	}
}

// TestMany checks a folder of models as the benchmark does, with few: one is broken, a run is broken
// off and resumed, shards are merged, and every report must be the same.
func TestMany(t *testing.T) {
	python := os.Getenv("AMPLINT_PYTHON")
	if python == "" {
		t.Skip("AMPLINT_PYTHON is not set")
	}
	dir := t.TempDir()
	amplint := filepath.Join(dir, "amplint")
	if out, err := exec.Command("go", "build", "-o", amplint, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	models := encodeAll(t, filepath.Join(dir, "models"))
	out, err := exec.Command(python, "benchmarks/many.py", models, "--amplint", amplint, "-n", "60").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// encodeAll writes the text models in the binary format into a folder.
func encodeAll(t *testing.T, dir string) string {
	t.Helper()
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("testdata/models/*.onnxtxt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no models, %v", err)
	}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := onnxtxt.Encode(path, src)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), onnxtxt.Ext) + ".onnx"
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
