package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/amplint/amplint/cmd"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// TestPython fixes the text models and lets onnx and onnxruntime judge the results: what was valid
// stays valid and loads, and what is fixed again stays as it is. ./test.sh sets up the Python that
// AMPLINT_PYTHON names.
func TestPython(t *testing.T) {
	python := pythonFor(t)
	dir := t.TempDir()
	amplint := built(t, dir)
	models := encodeAll(t, filepath.Join(dir, "models"))
	for _, target := range []string{"fp16", "bf16"} {
		check := exec.Command(python, "benchmarks/fix_valid.py", models, "--amplint", amplint, "--target", target, "--twice", "-v")
		out, err := check.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", target, err, out)
		}
		t.Logf("%s", out)
	}
}

// TestMany checks a folder of models as the benchmark does, with few: one is broken, a run is broken
// off and resumed, shards are merged, and every report must be the same.
func TestMany(t *testing.T) {
	python := pythonFor(t)
	dir := t.TempDir()
	amplint := built(t, dir)
	models := encodeAll(t, filepath.Join(dir, "models"))
	out, err := exec.Command(python, "benchmarks/many.py", models, "--amplint", amplint, "-n", "60").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestWheel builds the wheel, installs it in a fresh environment and runs the tests of the package
// there: first without onnx, which check does not need, then with that of AMPLINT_PYTHON.
func TestWheel(t *testing.T) {
	python := pythonFor(t)
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	amplint := built(t, dir)
	wheel := run(python, "scripts/wheel.py", "--version", cmd.Version, "--platform", runtime.GOOS+"/"+runtime.GOARCH, "--binary", amplint, "--out", dir)
	env := filepath.Join(dir, "env")
	run(python, "-m", "venv", env)
	inside := filepath.Join(env, "bin", "python")
	run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", filepath.Join(dir, wheel))
	got := run(inside, "-c", `import amplint; print(len([f for f in amplint.check("testdata/models/attention.onnxtxt") if f.rule == "mask-constant"]))`)
	if got != "1" {
		t.Errorf("without onnx %q findings", got)
	}
	site := run(inside, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
	others := run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
	if err := os.WriteFile(filepath.Join(site, "others.pth"), []byte(others+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Log(run(inside, "-W", "error::ResourceWarning", "python/tests/test_amplint.py"))
}

// pythonFor returns the Python that AMPLINT_PYTHON names, and skips the test where it names none.
func pythonFor(t *testing.T) string {
	t.Helper()
	python := os.Getenv("AMPLINT_PYTHON")
	if python == "" {
		t.Skip("AMPLINT_PYTHON is not set")
	}
	return python
}

// built builds the program in a folder and returns its path.
func built(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "amplint")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
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
