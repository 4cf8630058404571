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
	"github.com/amplint/amplint/docs"
)

var update = flag.Bool("update", false, "rewrite the output in the pages")

// console is a block of a page: a command and what it prints.
var console = regexp.MustCompile("(?s)```console\n\\$ amplint ([^\n]*)\n(.*?)```")

// TestPages runs the commands of the pages and compares what they print.
func TestPages(t *testing.T) {
	for _, page := range []string{"README.md", "docs/howto.md"} {
		t.Run(page, func(t *testing.T) { runPage(t, page) })
	}
}

func runPage(t *testing.T, page string) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ran := 0
	got := console.ReplaceAllStringFunc(string(b), func(block string) string {
		ran++
		line := console.FindStringSubmatch(block)[1]
		args := strings.Fields(line)
		for i := range args {
			if i > 0 && args[i-1] == "-o" {
				args[i] = filepath.Join(dir, args[i])
			}
		}
		var stdout, stderr strings.Builder
		if code := cmd.Main(args, &stdout, &stderr); code > 1 {
			t.Errorf("%s: exit code %d: %s", line, code, stderr.String())
		}
		return "```console\n$ amplint " + line + "\n" + stdout.String() + "```"
	})
	if ran == 0 {
		t.Fatal("the page shows no command")
	}
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(b), got); d != "" {
		t.Errorf("%s is stale, go test . -update rewrites it (-page +now):\n%s", page, d)
	}
}

// listed finds the commands in the help of the program, and flagged the flags in that of a command.
var (
	listed  = regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`)
	flagged = regexp.MustCompile(`(?m)^ +(?:-\w, |    )(--[a-z0-9-]+)`)
)

// TestDocumented holds that every command stands in the README, and every flag there or in a guide.
func TestDocumented(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(readme)
	for _, name := range docs.Names() {
		guide, _ := docs.Guide(name)
		text += guide
	}
	commands := listed.FindAllStringSubmatch(help(t), -1)
	if len(commands) < 15 {
		t.Fatalf("the help lists %d commands", len(commands))
	}
	for _, c := range commands {
		if c[1] == "help" {
			continue
		}
		if !regexp.MustCompile("`(?:[^`]* )?amplint " + c[1] + `\b`).Match(readme) {
			t.Errorf("README.md does not name amplint %s", c[1])
		}
		for _, f := range flagged.FindAllStringSubmatch(help(t, c[1]), -1) {
			if f[1] != "--help" && !regexp.MustCompile(f[1]+`\b`).MatchString(text) {
				t.Errorf("no page tells of amplint %s %s", c[1], f[1])
			}
		}
	}
}

func help(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := cmd.Main(append(args, "--help"), &stdout, &stderr); code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, stderr.String())
	}
	return stdout.String()
}
