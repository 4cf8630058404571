package ort

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// isolate leaves no library to be found.
func isolate(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for _, env := range []string{EnvLib, "VIRTUAL_ENV", "CONDA_PREFIX", "AMPLINT_PYTHON", "PATH"} {
		t.Setenv(env, "")
	}
	t.Setenv("HOME", home)
	t.Chdir(home)
	return home
}

func TestFindNamed(t *testing.T) {
	dir := isolate(t)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, path := range []string{a, b} {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(EnvLib, b)
	for named, want := range map[string]string{a: a, "": b} {
		if got, err := Find(named); got != want || err != nil {
			t.Errorf("Find(%q) is %q, %v", named, got, err)
		}
	}
	_, err := Find(filepath.Join(dir, "none"))
	var missing *MissingError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "pip install onnxruntime") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestFindPackage(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the places are those of Linux")
	}
	home := isolate(t)
	want := filepath.Join(home, ".local/lib/python3.12/site-packages/onnxruntime/capi/libonnxruntime.so.1.20.0")
	if err := os.MkdirAll(filepath.Dir(want), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, []byte("no library"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(""); got != want || err != nil {
		t.Errorf("found %q, %v", got, err)
	}
	if _, err := Open(""); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a file that is no library: %v", err)
	}
}
