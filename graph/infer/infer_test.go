package infer

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
)

// section is one model of a file in testdata: a line "-- name opset --" and the text that follows. A node's line
// ends in "# want TYPE; TYPE" for its outputs, each with "= elements" where it folds, or in "# fails MESSAGE".
type section struct {
	name, opset, text string
}

func sections(t testing.TB, path string) []section {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []section
	for part := range strings.SplitSeq("\n"+string(raw), "\n-- ") {
		head, text, ok := strings.Cut(part, " --\n")
		if !ok {
			continue
		}
		at := strings.LastIndexByte(head, ' ')
		list = append(list, section{head[:at], head[at+1:], text})
	}
	return list
}

// head is the line that the models leave out.
func (s section) head() string {
	return fmt.Sprintf("<ir_version: 8, opset_import: [\"\" : %s, \"com.microsoft\" : 1, \"ai.onnx.ml\" : 4, "+
		"\"ai.onnx.preview.training\" : 1, \"ai.onnx.preview\" : 1, \"local\" : 1]>\n", s.opset)
}

func (s section) model(t *testing.T) *graph.Model {
	m, err := onnxtxt.Parse(s.name, []byte(s.head()+s.text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// wants returns what the lines expect: the names before "=" and the words behind "# want" or "# fails".
func (s section) wants(word string) [][2]string {
	var list [][2]string
	for line := range strings.SplitSeq(s.text, "\n") {
		code, want, ok := strings.Cut(line, "# "+word+" ")
		if !ok {
			continue
		}
		names, _, _ := strings.Cut(code, "=")
		list = append(list, [2]string{strings.TrimSpace(names), strings.TrimSpace(want)})
	}
	return list
}

func TestModels(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no models", err)
	}
	for _, file := range files {
		for _, s := range sections(t, file) {
			t.Run(filepath.Base(file)+"/"+s.name+"_"+s.opset, func(t *testing.T) { s.run(t, Options{}) })
		}
	}
}

func (s section) run(t *testing.T, opt Options) {
	m := s.model(t)
	info, err := Run(m, opt)
	fails := s.wants("fails")
	if err != nil {
		if len(fails) != 1 || !strings.Contains(err.Error(), fails[0][1]) {
			t.Fatalf("%v, want %v", err, fails)
		}
		return
	}
	if len(fails) > 0 {
		t.Fatalf("no error, want %s", fails[0][1])
	}
	for _, u := range info.Unknown {
		t.Errorf("unknown operator %s", u.Op)
	}
	wants := s.wants("want")
	if len(wants) == 0 {
		t.Fatal("the model expects nothing")
	}
	for _, w := range wants {
		if got := describe(m, w[0]); got != w[1] {
			t.Errorf("%s is %s, want %s", w[0], got, w[1])
		}
	}
}

// unnamed are the symbols that the walk makes up.
var unnamed = regexp.MustCompile(`_d[0-9]+`)

// describe writes the types of values, with their elements where they are constant.
func describe(m *graph.Model, names string) string {
	var out []string
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		for g := range m.Graphs() {
			if v := g.Lookup(name); v != nil {
				out = append(out, unnamed.ReplaceAllString(v.Type.String(), "?")+elementsOf(v.Const))
				break
			}
		}
	}
	return strings.Join(out, "; ")
}

func elementsOf(c *graph.Tensor) string {
	if c == nil {
		return ""
	}
	list, err := c.Float64s()
	if err != nil {
		return " = " + err.Error()
	}
	return " = " + strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}
