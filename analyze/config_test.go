package analyze

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), ConfigName)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadConfig(t *testing.T) {
	path := writeConfig(t, `
target: bf16
ranges:
  "a.b": [-1e-05, inf]
  c: [-.inf, 1]
  d:
    - 1
    - 2
dims: {N: 1..5, M: 3, K: [1, 2]}
data: samples/x.npz
fail-on: warning
accumulate: target
flush-subnormals: true
rules: {tiny-epsilon: off, long-sum: error}
ignore:
  - {rule: mask-constant, node: "enc/*", reason: no row is masked, until: 2030-01-31}
`)
	got, err := LoadConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := &Config{Target: "bf16", Data: filepath.Join(filepath.Dir(path), "samples/x.npz"), FailOn: "warning",
		Accumulate: "target", Flush: &yes,
		Ranges: map[string]bounds{"a.b": {Lo: -1e-5, Hi: inf}, "c": {Lo: -inf, Hi: 1}, "d": {Lo: 1, Hi: 2}},
		Dims:   map[string]dim{"N": {Lo: 1, Hi: 5}, "M": {Lo: 3, Hi: 3}, "K": {Lo: 1, Hi: 2}},
		Rules:  map[string]level{"tiny-epsilon": "off", "long-sum": "error"},
		Ignore: []Ignore{{Rule: "mask-constant", Node: "enc/*", Reason: "no row is masked", Until: "2030-01-31"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestConfigErrors shows that a mistake is shown where it stands.
func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"targt: fp16\n", "[1:1] unknown field \"targt\"\n>  1 | targt: fp16\n       ^"},
		{"ranges:\n  a: 3\n", "[2:6] not a list [lo, hi]"},
		{"ranges:\n  a: [2, 1]\n", "the lower bound 2 is above the upper bound 1"},
		{"dims:\n  N: many\n", "[2:6] not a number, LO..HI or [LO, HI]"},
		{"rules:\n  x: loud\n", "[2:6] none of off, note, warning and error"},
		{"ignore:\n  - rule: \"[\"\n", `ignore 1: "["`},
		{"ignore:\n  - rule: x\n    until: soon\n", `until "soon" is not a date`},
	} {
		if _, err := LoadConfig(writeConfig(t, c.text)); !failsWith(err, c.want) {
			t.Errorf("%q: error %v", c.text, err)
		}
	}
	if c, err := LoadConfig(writeConfig(t, "")); err != nil || c == nil {
		t.Errorf("an empty file: %v", err)
	}
}
