package cmd

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/onnxtxt"
	"github.com/amplint/amplint/ort"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"amplint": func() { os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the command line as a user does: the scripts hold inputs, commands and what
// they must print.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "model": model, "traced": traced, "pack": pack, "damage": damage},
		Setup: func(env *testscript.Env) error {
			if lib := library(); lib != "" {
				env.Setenv("ORT", lib)
			}
			return nil
		},
		Condition: func(cond string) (bool, error) { return cond == "ort" && library() != "", nil },
	})
}

// library returns the file of onnxruntime's library, "" where none is installed. Where python is
// named, as test.sh does, scripts must run that need it.
func library() string {
	if !ort.CanLoad {
		return "" // test.sh runs the scripts once more with the tag ort
	}
	if path, err := ort.Find(""); err == nil && filepath.IsAbs(path) {
		return path
	} else if python := os.Getenv("AMPLINT_PYTHON"); python != "" {
		return "library of " + python
	}
	return ""
}

// exits runs amplint and compares the exit code: exits CODE ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	err := ts.Exec("amplint", args[1:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// model translates a text model into the binary format: model TEXT FILE
func model(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: model TEXT FILE")
	}
	b, err := onnxtxt.Encode(args[0], []byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}

// pack compresses a file: pack FILE PACKED
func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pack FILE PACKED")
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(z.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666))
}

// damage changes a byte in the middle of every file below a folder: damage FOLDER
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage FOLDER")
	}
	changed := 0
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			return err
		}
		changed++
		b[len(b)/2] ^= 1
		return os.WriteFile(path, b, 0o666)
	}))
	if changed == 0 {
		ts.Fatalf("no file to damage in %s", args[0])
	}
}

// TestBroken shows that a panic ends the program with one line that names the model.
func TestBroken(t *testing.T) {
	var out strings.Builder
	a := &app{err: &out, model: "m.onnx"}
	if code := a.broken("index\nout of range"); code != exitModel {
		t.Errorf("exit code %d, want %d", code, exitModel)
	}
	if got, want := out.String(), "amplint: internal error: m.onnx: index out of range\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

// traced translates a text model as if torch had exported every node of it from one line of a
// program: traced TEXT FILE PROGRAM LINE
func traced(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: traced TEXT FILE PROGRAM LINE")
	}
	m, err := onnxtxt.Parse(args[0], []byte(ts.ReadFile(args[0])))
	ts.Check(err)
	for n := range m.Nodes() {
		n.Meta = []graph.Entry{{Key: "pkg.torch.onnx.stack_trace", Value: fmt.Sprintf("  File %q, line %s, in forward\n    y = f(x)\n", args[2], args[3])}}
	}
	ts.Check(m.Save(ts.MkAbs(args[1]), graph.SaveOptions{}))
}
