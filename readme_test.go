package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/cmd"
)

var update = flag.Bool("update", false, "rewrite the output in README.md")

// console is a block of the README: a command and what it prints.
var console = regexp.MustCompile("(?s)```console\n\\$ amplint ([^\n]*)\n(.*?)```")

// TestReadme runs the commands of the README and compares what they print.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.onnx")
	ran := 0
	got := console.ReplaceAllStringFunc(string(b), func(block string) string {
		ran++
		line := console.FindStringSubmatch(block)[1]
		args := strings.Fields(line)
		for i := range args {
			if i > 0 && args[i-1] == "-o" {
				args[i] = out
			}
		}
		var stdout, stderr strings.Builder
		if code := cmd.Main(args, &stdout, &stderr); code > 1 {
			t.Errorf("%s: exit code %d: %s", line, code, stderr.String())
		}
		return "```console\n$ amplint " + line + "\n" + stdout.String() + "```"
	})
	if ran == 0 {
		t.Fatal("the README shows no command")
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(b), got); d != "" {
		t.Errorf("the README is stale, go test . -update rewrites it (-README +now):\n%s", d)
	}
}
