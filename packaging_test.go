package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/amplint/amplint/cmd"
)

// readYAML reads a file of the repository.
func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// exists runs the help of a command and fails where there is no such command or flag.
func exists(t *testing.T, where string, words ...string) {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := cmd.Main(append(words, "--help"), &stdout, &stderr); code != 0 {
		t.Errorf("%s: amplint %v: exit code %d: %s", where, words, code, stderr.String())
		return
	}
	if !strings.Contains(stdout.String(), "amplint "+words[0]) {
		t.Errorf("%s: amplint %v is no command", where, words)
	}
	for _, w := range words[1:] {
		name, _, _ := strings.Cut(w, "=")
		if strings.HasPrefix(w, "--") && !strings.Contains(stdout.String(), name+" ") {
			t.Errorf("%s: amplint %s has no flag %s", where, words[0], name)
		}
	}
}

func TestPreCommitHook(t *testing.T) {
	var hooks []struct{ ID, Name, Entry, Language, Files string }
	readYAML(t, ".pre-commit-hooks.yaml", &hooks)
	if len(hooks) != 1 || hooks[0].Language != "golang" {
		t.Fatalf("hooks %+v", hooks)
	}
	words := strings.Fields(hooks[0].Entry)
	if words[0] != "amplint" {
		t.Errorf("go install makes amplint, the entry is %q", hooks[0].Entry)
	}
	exists(t, "hook", words[1:]...)
	files := regexp.MustCompile(hooks[0].Files)
	for name, want := range map[string]bool{"a/b.onnx": true, "b.onnx.gz": true, "c.onnxtxt": true, "onnx.py": false, "a.onnx.md": false} {
		if files.MatchString(name) != want {
			t.Errorf("the hook takes %s: %t", name, !want)
		}
	}
}

func TestIndexedJob(t *testing.T) {
	var job struct {
		Spec struct {
			CompletionMode           string `yaml:"completionMode"`
			Completions, Parallelism int
			Template                 struct {
				Spec struct {
					Containers []struct{ Args []string }
				}
			}
		}
	}
	readYAML(t, "deploy/indexed-job.yaml", &job)
	args := job.Spec.Template.Spec.Containers[0].Args
	exists(t, "job", args...)
	want := fmt.Sprintf("--shard=/%d", job.Spec.Completions)
	if job.Spec.CompletionMode != "Indexed" || !slices.Contains(args, want) {
		t.Errorf("mode %q, arguments %v without %s", job.Spec.CompletionMode, args, want)
	}
}

func TestDockerfile(t *testing.T) {
	b, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"CGO_ENABLED=0", `ENTRYPOINT ["/usr/local/bin/amplint"]`, "COPY --from=build /amplint /usr/local/bin/amplint", "USER 65532"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the Dockerfile has no %s", want)
		}
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)[1]
	if !strings.Contains(string(b), "FROM golang:"+string(version)+" ") {
		t.Errorf("the Dockerfile does not build with Go %s, which go.mod wants", version)
	}
}

// action is what the tests read of action.yml.
type action struct {
	Inputs map[string]struct{ Description, Default string }
	Runs   struct {
		Using string
		Steps []struct {
			Uses, Run, Shell string
			Env              map[string]string
		}
	}
}

var inputName = regexp.MustCompile(`inputs\.([a-z-]+)`)

// TestAction runs the steps of the action here: it builds, checks a model that is wrong, writes the
// reports and keeps the exit code for the last step.
func TestAction(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the steps run in bash")
	}
	var a action
	readYAML(t, "action.yml", &a)
	used := map[string]bool{}
	raw, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range inputName.FindAllSubmatch(raw, -1) {
		used[string(m[1])] = true
		if _, ok := a.Inputs[string(m[1])]; !ok {
			t.Errorf("the action uses the input %s, which it has not", m[1])
		}
	}
	for name, in := range a.Inputs {
		if !used[name] || in.Description == "" {
			t.Errorf("the input %s is not used or not described", name)
		}
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	paths := map[string]string{"GITHUB_PATH": "path", "GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary.md"}
	env := append(os.Environ(), "RUNNER_TEMP="+dir, "AMPLINT_MODELS="+filepath.Join(root, "testdata/models/attention.onnxtxt"), "AMPLINT_ARGS=--target fp16", "AMPLINT_SARIF=out.sarif")
	for name, file := range paths {
		env = append(env, name+"="+filepath.Join(dir, file))
	}
	env = append(env, "PATH="+filepath.Join(dir, "amplint-bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	out := ""
	for _, s := range a.Runs.Steps {
		script, ok := strings.CutPrefix(strings.Trim(s.Run, `"`), "$GITHUB_ACTION_PATH/")
		if !ok {
			continue
		}
		c := exec.Command("bash", filepath.Join(root, script))
		c.Dir, c.Env = dir, env
		b, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, b)
		}
		out += string(b)
	}
	for file, want := range map[string]string{"path": "amplint-bin", "output": "exit-code=1", "summary.md": "mask-constant", "out.sarif": `"ruleId": "mask-constant"`} {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s has no %q: %v\n%s", file, want, err, b)
		}
	}
	if !strings.Contains(out, "::error ") {
		t.Errorf("no annotation in %s", out)
	}
}

// TestRelease builds a release twice, which must give the same bytes, and lets the action install it.
func TestRelease(t *testing.T) {
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("needs bash and time")
	}
	python := pythonFor(t)
	platform := runtime.GOOS + "/" + runtime.GOARCH
	dir := t.TempDir()
	var sums []string
	for _, name := range []string{"v1.2.3", "again"} {
		c := exec.Command("bash", "scripts/release.sh", "1.2.3", filepath.Join(dir, name))
		c.Env = append(os.Environ(), "PLATFORMS="+platform, "PYTHON="+python, "TMPDIR="+t.TempDir())
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := os.ReadFile(filepath.Join(dir, name, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, string(b))
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds of one source differ:\n%s\n%s", sums[0], sums[1])
	}
	lines := strings.Split(strings.TrimSpace(sums[0]), "\n")
	if len(lines) != 2 {
		t.Errorf("sums %q, want an archive and a wheel", lines)
	}
	for _, line := range lines {
		sum, name, _ := strings.Cut(line, "  ")
		b, err := os.ReadFile(filepath.Join(dir, "v1.2.3", name))
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(b)) != sum {
			t.Errorf("%s is not the file of its sum: %v", name, err)
		}
	}
	c := exec.Command("bash", "scripts/action/install.sh")
	c.Env = append(os.Environ(), "AMPLINT_VERSION=v1.2.3", "AMPLINT_RELEASES=file://"+dir, "RUNNER_TEMP="+dir)
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "amplint 1.2.3") {
		t.Errorf("installing the release: %v\n%s", err, out)
	}
	for _, file := range []string{"man/amplint-check.1", "completions/amplint.zsh", "LICENSE"} {
		name := "amplint_1.2.3_" + strings.ReplaceAll(platform, "/", "_")
		list, err := exec.Command("tar", "tzf", filepath.Join(dir, "v1.2.3", name+".tar.gz")).Output()
		if err != nil || !strings.Contains(string(list), name+"/"+file) {
			t.Errorf("the archive has no %s: %v", file, err)
		}
	}
}

// TestPack packs a folder twice, with other times: the archives are the same and hold what they should.
func TestPack(t *testing.T) {
	python := pythonFor(t)
	var archives [2][2][]byte
	for i := range archives {
		folder := filepath.Join(t.TempDir(), "amplint_1")
		if err := os.MkdirAll(filepath.Join(folder, "man"), 0o777); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"man/a.1", "amplint.exe"} {
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Unix(int64(i)*1e9, 0), time.Unix(int64(i)*1e9, 0)); err != nil {
				t.Fatal(err)
			}
		}
		for k, ext := range []string{".zip", ".tar.gz"} {
			out, err := exec.Command(python, "scripts/pack.py", folder, folder+ext).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if archives[i][k], err = os.ReadFile(folder + ext); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !bytes.Equal(archives[0][0], archives[1][0]) || !bytes.Equal(archives[0][1], archives[1][1]) {
		t.Error("the archives depend on the times of the files")
	}
	z, err := zip.NewReader(bytes.NewReader(archives[0][0]), int64(len(archives[0][0])))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range z.File {
		got = append(got, fmt.Sprintf("%s %o", f.Name, f.Mode()))
	}
	if d := cmp.Diff([]string{"amplint_1/amplint.exe 755", "amplint_1/man/a.1 644"}, got); d != "" {
		t.Error(d)
	}
}

// TestWheelPlatforms reads the wheels of all platforms as pip does.
func TestWheelPlatforms(t *testing.T) {
	out, err := exec.Command(pythonFor(t), "python/tests/test_wheel.py").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
