package config

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// words are some that other packages own.
var words = Words{Targets: []string{"auto", "bf16"}, Thresholds: []string{"error", "warning"}, Rules: []string{"long-sum", "mask-constant", "tiny-epsilon"}}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), Name)
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
data: [samples/x.npz, /y.npz]
fail-on: warning
accumulate: target
flush-subnormals: true
baseline: /b.json
rules: {tiny-epsilon: off, long-sum: error}
ignore:
  - {rule: mask-constant, node: "enc/*", reason: no row is masked, until: 2030-01-31}
`)
	got, err := Load(path, words)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := &Config{Path: path, Baseline: "/b.json", Target: "bf16", Data: Paths{filepath.Join(filepath.Dir(path), "samples/x.npz"), "/y.npz"}, FailOn: "warning",
		Accumulate: "target", Flush: &yes,
		Ranges: map[string]Bounds{"a.b": {Lo: -1e-5, Hi: inf}, "c": {Lo: -inf, Hi: 1}, "d": {Lo: 1, Hi: 2}},
		Dims:   map[string]Sizes{"N": {Lo: 1, Hi: 5}, "M": {Lo: 3, Hi: 3}, "K": {Lo: 1, Hi: 2}},
		Rules:  map[string]string{"tiny-epsilon": "off", "long-sum": "error"},
		Ignore: []Ignore{{Rule: "mask-constant", Node: "enc/*", Reason: "no row is masked", Until: "2030-01-31", Line: 17}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestConfigErrors shows that a mistake is shown where it stands.
func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"targt: fp16\n", "[1:1] unknown field \"targt\"\n>  1 | targt: fp16\n       ^"},
		{"target: [fp16]\n", "[1:9] want a text\n>  1 | target: [fp16]\n               ^"},
		{"flush-subnormals: often\n", "[1:19] want true or false"},
		{"ranges: 5\n", "mapping is expected"},
		{"data: " + strings.Repeat("[", 100000), "lists are nested more than 1000 deep"},
		{"data: [{a: b}]\n", "not a path"},
		{"ranges:\n  a: 3\n", "[2:6] not a list [lo, hi]"},
		{"ranges:\n  a: [2, 1]\n", "the lower bound 2 is above the upper bound 1"},
		{"ranges:\n  a:\n", "nothing is said of \"a\", want a list [lo, hi]"},
		{"dims: {N: null}\n", "nothing is said of \"N\""},
		{"dims:\n  N: many\n", "[2:6] not a number, LO..HI or [LO, HI]"},
		{"target: fp12\n", "[1:9] \"fp12\": want one of auto, bf16\n>  1 | target: fp12\n               ^"},
		{"fail-on: note\n", "[1:10] \"note\": want one of error, warning"},
		{"accumulate: fp64\n", "[1:13] \"fp64\": want one of fp32, target"},
		{"rules:\n  long-sum: loud\n", "[2:13] \"loud\": want one of off, note, warning, error"},
		{"rules:\n  long-sum:\n", "want one of off, note, warning, error"},
		{"rules:\n  lang-sum: off\n", "[2:13] no rule is named \"lang-sum\"; the rules are long-sum, "},
		{"ignore:\n  - rule: \"[\"\n", "[2:11] \"[\": syntax error in pattern"},
		{"ignore:\n  - rule: x\n    until: soon\n", "[3:12] \"soon\" is not a date"},
		{"ignore:\n  - reason: all is well\n", "names no rule, node or value"},
		{"ignore: [{rule: x}, {rul: y}]\n", "unknown field \"rul\""},
	} {
		if _, err := Load(writeConfig(t, c.text), words); !failsWith(err, c.want) {
			t.Errorf("%q: error %v", c.text, err)
		}
	}
	if c, err := Load(writeConfig(t, ""), words); err != nil || c == nil {
		t.Errorf("an empty file: %v", err)
	}
}

// TestSchema holds the schema to the struct: the same keys, and every key described.
func TestSchema(t *testing.T) {
	type property struct {
		Description string
		Enum        []string
		Items       struct{ Properties map[string]property }
	}
	var s struct{ Properties map[string]property }
	if err := json.Unmarshal([]byte(Schema()), &s); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		properties map[string]property
		of         any
	}{{s.Properties, Config{}}, {s.Properties["ignore"].Items.Properties, Ignore{}}} {
		if d := cmp.Diff(keys(reflect.TypeOf(c.of)), slices.Sorted(maps.Keys(c.properties))); d != "" {
			t.Errorf("%T: keys of the struct and of the schema: %s", c.of, d)
		}
		for name, p := range c.properties {
			if p.Description == "" {
				t.Errorf("%s has no description", name)
			}
		}
	}
	if d := cmp.Diff(accumulates, s.Properties["accumulate"].Enum); d != "" {
		t.Error(d)
	}
}

// keys lists the keys of the file that a struct has fields for.
func keys(s reflect.Type) []string {
	var list []string
	for i := range s.NumField() {
		if tag := s.Field(i).Tag.Get("yaml"); tag != "-" {
			list = append(list, tag)
		}
	}
	slices.Sort(list)
	return list
}

// TestFind shows that the nearest config is in force, and none from outside the repository.
func TestFind(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"repo/.git", "repo/a/b", "repo/c"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{Name, "repo/a/" + Name} {
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{".": Name, "repo/a": "repo/a/" + Name, "repo/a/b": "repo/a/" + Name, "repo/c": "", "repo": ""} {
		t.Chdir(filepath.Join(root, dir))
		got, err := Find(".")
		if err != nil {
			t.Fatal(err)
		}
		if want != "" {
			want = filepath.Join(root, want)
			got, _ = filepath.Abs(got)
		}
		if got != want {
			t.Errorf("in %s: %q, want %q", dir, got, want)
		}
	}
}

func TestLapsed(t *testing.T) {
	day := time.Date(2030, 1, 31, 0, 0, 0, 0, time.UTC)
	ig := Ignore{Until: "2030-01-31"}
	if ig.Lapsed(day.Add(-time.Second)) || !ig.Lapsed(day) || (&Ignore{}).Lapsed(day) {
		t.Error("an entry is in force until the day that it names, and always where it names none")
	}
}

// TestSchemaJudges holds the schema to the reader: what one takes the other takes.
func TestSchemaJudges(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	judge, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		"target: bf16\nfail-on: warning\naccumulate: fp32\nflush-subnormals: false\nbaseline: b.json\n": true,
		"ranges: {x: [-1, 2.5], y: [-inf, inf]}\ndims: {N: 3, M: 1..5, K: [1, 2]}\n":                    true,
		"data: a.npz\n":      true,
		"data: [a.npz, b]\n": true,
		"rules: {long-sum: off, tiny-epsilon: note}\n":                                    true,
		"ignore: [{rule: long-sum, node: a/*, value: v, reason: r, until: 2030-01-31}]\n": true,
		"targt: bf16\n":                    false,
		"target: fp12\n":                   false,
		"ranges: {x: 3}\n":                 false,
		"ranges: {x: [1]}\n":               false,
		"dims: {N: many}\n":                false,
		"data: [{a: b}]\n":                 false,
		"rules: {long-sum: loud}\n":        false,
		"ignore: [{reason: r}]\n":          false,
		"ignore: [{rule: x, rul: y}]\n":    false,
		"ignore: [{rule: x, until: soon}]": false,
	} {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if err := judge.Validate(value); (err == nil) != good {
			t.Errorf("the schema takes %q: %t; %v", text, err == nil, err)
		}
		if _, err := Load(writeConfig(t, text), words); (err == nil) != good {
			t.Errorf("the reader takes %q: %t; %v", text, err == nil, err)
		}
	}
}
