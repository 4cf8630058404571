package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers are the packages of the module from the ground up. A package may import those of the
// rows above its own and none of its own row.
var layers = [][]string{
	{"numfmt", "graph/schema", "graph/internal/onnxpb", "docs"},
	{"graph", "refeval/kern", "batch"},
	{"graph/infer", "graph/onnxtxt", "graph/diff"},
	{"graph/pattern", "samples", "rangeprop/tokens"},
	{"rangeprop", "rewrite", "refeval", "minimize"},
	{"ort"},
	{"rules/walk"},
	{"rules/reach", "rules/spread", "rules/runtime"},
	{"rules", "witness", "trace", "config"},
	{"baseline", "site"},
	{"analyze"},
	{"report"},
	{"cmd"},
	{"."},
}

const module = "github.com/amplint/amplint"

// layer returns the row of a package, -1 for an unknown one.
func layer(pkg string) int {
	return slices.IndexFunc(layers, func(row []string) bool { return slices.Contains(row, pkg) })
}

// TestLayers holds the import clauses of all packages to the rows above. Test files are free.
func TestLayers(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != "." && fileExists(filepath.Join(path, "go.mod")) {
			return filepath.SkipDir // generators and second opinions are no part of the program
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		seen++
		return checkImports(t, path)
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 20 {
		t.Errorf("only %d files were looked at", seen)
	}
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func checkImports(t *testing.T, path string) error {
	pkg := filepath.ToSlash(filepath.Dir(path))
	own := layer(pkg)
	if own < 0 {
		t.Errorf("%s: package %q stands in no layer", path, pkg)
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		used, ok := strings.CutPrefix(name, module+"/")
		if ok && layer(used) >= own {
			t.Errorf("%s: %q may not import %q", path, pkg, used)
		}
	}
	return nil
}
