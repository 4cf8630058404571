package browser

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// audit is run in the page; it returns what is hard to read or to use: see audit.js.
//
//go:embed testdata/audit.js
var audit string

// tab opens a browser, or skips the test where there is none.
func tab(t *testing.T) context.Context {
	t.Helper()
	path := Find()
	if path == "" {
		t.Skip("no browser: install chromium, or name one in AMPLINT_BROWSER")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, stop := Open(ctx, path)
	t.Cleanup(stop)
	return ctx
}

// program is amplint, built once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "amplint-browser")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "amplint")
	out, err := exec.Command("go", "build", "-C", "..", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building amplint: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if Find() != "" { // else nothing was built
		if path, err := program(); err == nil {
			os.RemoveAll(filepath.Dir(path))
		}
	}
	os.Exit(code)
}

// amplint runs the program, which may find something.
func amplint(t *testing.T, args ...string) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, args...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
}

// pages writes one page of every kind and returns their paths.
func pages(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name+".html") }
	models := "../testdata/models/"
	amplint(t, "check", models+"attention.onnxtxt", "--format", "html", "-o", at("check"))
	amplint(t, "check", models+"attention.onnxtxt", models+"half.onnxtxt", models+"control_flow.onnxtxt", "--format", "html", "-o", at("several"))
	amplint(t, "fix", models+"attention.onnxtxt", "-o", filepath.Join(dir, "o.onnx"), "--report", at("fix"))
	merged(t, at("none"), "clean.onnx", 0)
	merged(t, at("many"), `</title><script>alert("path")</script>.onnx`, 1000)
	amplint(t, "docs", filepath.Join(dir, "site"))
	return map[string]string{"check": at("check"), "several": at("several"), "fix": at("fix"), "none": at("none"), "many": at("many"),
		"index": at("site/index"), "guide": at("site/runtimes"), "rule": at("site/rules/mask-constant")}
}

// merged writes the page of a report with n findings, of which one in ten is an error, and names that
// are scripts. It is given as JSON, as shards are.
func merged(t *testing.T, path, model string, n int) {
	t.Helper()
	findings := []map[string]any{}
	for i := range n {
		f := map[string]any{"rule": "exp-overflow", "severity": "warning", "kind": "overflow", "evidence": "likely", "limit": 65504,
			"node":  map[string]any{"key": fmt.Sprintf("/layer.%d/<img src=x onerror=alert(1)>", i), "op": "Exp"},
			"value": `"><svg onload=alert(2)>`, "range": []float64{0, 20}, "message": `exp(x) of {{.}} ${alert(3)} javascript:alert(4)`}
		if i%10 == 0 {
			f["severity"] = "error"
		}
		findings = append(findings, f)
	}
	b, err := json.Marshal(map[string]any{"schema": "amplint.check/1", "models": []map[string]any{{"path": model, "target": "fp16",
		"summary": map[string]int{"errors": n / 10, "warnings": n - n/10}, "findings": findings}}})
	if err != nil {
		t.Fatal(err)
	}
	file := path + ".json"
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	amplint(t, "merge", file, "--format", "html", "-o", path)
}

// TestPages opens every kind of page in both schemes: nothing may be fetched, said on the console or
// thrown, everything must be readable, and what is drawn must not be blank.
func TestPages(t *testing.T) {
	ctx := tab(t)
	list := pages(t)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(name+"/"+scheme, func(t *testing.T) { look(t, ctx, list[name], scheme) })
		}
	}
}

func look(t *testing.T, ctx context.Context, path, scheme string) {
	url := "file://" + path
	w := watch(t, ctx, url)
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(url), chromedp.WaitReady(chromedp.CSS("main")))
	shot := get(t, ctx, chromedp.CaptureScreenshot())
	for _, f := range append(get(t, ctx, chromedp.Evaluate[[]string](audit)), w.Faults()...) {
		t.Error(f)
	}
	keep(t, strings.TrimSuffix(filepath.Base(path), ".html")+"-"+scheme+".png", shot)
	seen(t, shot, scheme)
}

// keep writes a screenshot to the folder of AMPLINT_SCREENSHOTS, where one is named.
func keep(t *testing.T, name string, shot []byte) {
	t.Helper()
	if dir := os.Getenv("AMPLINT_SCREENSHOTS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), shot, 0o666); err != nil {
			t.Error(err)
		}
	}
}

func watch(t *testing.T, ctx context.Context, allowed ...string) *Watch {
	t.Helper()
	w, err := NewWatch(ctx, allowed...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func get[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	x, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// seen tells whether a screenshot shows something, on a ground of the scheme.
func seen(t *testing.T, shot []byte, scheme string) {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	colours, sum, n := map[[3]uint32]bool{}, 0.0, 0.0
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y += 2 {
		for x := b.Min.X; x < b.Max.X; x += 2 {
			r, g, bl, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r >> 8, g >> 8, bl >> 8}] = true
			sum, n = sum+float64(r+g+bl)/3/65535, n+1
		}
	}
	if len(colours) < 30 {
		t.Errorf("the page has %d colours", len(colours))
	}
	if mean := sum / n; (mean > 0.5) != (scheme == "light") {
		t.Errorf("the page is %.2f light in the %s scheme", mean, scheme)
	}
}

// TestKeyboard uses the page with 1,000 findings, and a chart, by keys alone.
func TestKeyboard(t *testing.T) {
	ctx := tab(t)
	list := pages(t)
	w := watch(t, ctx, "file://")
	is := func(what, got, want string) {
		if got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
	count := func() string { return get(t, ctx, chromedp.Text(chromedp.CSS("#count"))) }
	do(t, ctx, chromedp.Navigate("file://"+list["many"]), chromedp.WaitVisible(chromedp.CSS("#filter")))
	is("count", count(), "1000 of 1000 shown")
	do(t, ctx, chromedp.Focus(chromedp.CSS("#q")), chromedp.KeyEvent("layer.77/"))
	is("count of a search", count(), "1 of 1000 shown")
	for range len("layer.77/") {
		do(t, ctx, chromedp.KeyEvent(kb.Backspace))
	}
	do(t, ctx, chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(" ")) // the button of the warnings
	is("count of errors", count(), "100 of 1000 shown")
	do(t, ctx, chromedp.Focus(chromedp.CSS(".finding.error > summary")), chromedp.KeyEvent(kb.Enter))
	is("finding open", get(t, ctx, chromedp.Evaluate[string](`String(document.querySelector(".finding.error").open)`)), "true")
	do(t, ctx, chromedp.Focus(chromedp.CSS("#theme")), chromedp.KeyEvent(kb.Enter))
	is("theme", get(t, ctx, chromedp.Evaluate[string](`document.documentElement.dataset.theme`)), "dark")

	do(t, ctx, chromedp.Navigate("file://"+list["check"]), chromedp.Focus(chromedp.CSS(".chart")), chromedp.KeyEvent(kb.ArrowRight))
	first := get(t, ctx, chromedp.Text(chromedp.CSS(".chart .readout")))
	do(t, ctx, chromedp.KeyEvent(kb.ArrowRight))
	if next := get(t, ctx, chromedp.Text(chromedp.CSS(".chart .readout"))); !strings.Contains(first, "bits of headroom") || first == next {
		t.Errorf("the chart says %q, then %q", first, next)
	}
	for _, f := range w.Faults() {
		t.Error(f)
	}
}

// TestWatch shows that the watch sees what it is there to see.
func TestWatch(t *testing.T) {
	ctx := tab(t)
	path := filepath.Join(t.TempDir(), "bad.html")
	bad := `<!DOCTYPE html><main>x</main><script>console.log("said")</script><img src="http://127.0.0.1:9/x.png"><script>throw Error("thrown")</script>`
	if err := os.WriteFile(path, []byte(bad), 0o666); err != nil {
		t.Fatal(err)
	}
	w := watch(t, ctx, "file://")
	do(t, ctx, chromedp.Navigate("file://"+path), chromedp.WaitReady(chromedp.CSS("main")))
	text := strings.Join(w.Faults(), "\n")
	for _, want := range []string{"console.log", "exception: ", "request: http://127.0.0.1:9/x.png"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not noted in:\n%s", want, text)
		}
	}
}
