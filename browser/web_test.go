package browser

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// served builds the page that checks models and serves it.
func served(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("../scripts/web.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(s.Close)
	return s.URL + "/"
}

// samples are models for the page, and a file that is none.
func samples(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../testdata/models/attention.onnxtxt")
	if err != nil {
		t.Fatal(err)
	}
	write("attention.onnxtxt", text)
	amplint(t, "fix", filepath.Join(dir, "attention.onnxtxt"), "-o", filepath.Join(dir, "fixed.onnx"))
	binary, err := os.ReadFile(filepath.Join(dir, "fixed.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(binary); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	write("packed.onnx.gz", packed.Bytes())
	write("-cut.onnx", binary[:len(binary)/2])
	write("cut.onnx.gz", packed.Bytes()[:packed.Len()/2])
	write("outside.onnxtxt", []byte(`<ir_version: 8, opset_import: ["" : 17]>
outside (float[4] x) => (float[4] y) <float[4] w = ["location" : "outside.bin"]> { y = Add (x, w) }`))
	write(".amplint.yaml", []byte("target: bf16\n"))
	write("outside.bin", make([]byte, 16))
	write("notes.txt", []byte("no model"))
	write("more.txt", []byte("no model"))
	return dir
}

// native is what the program writes of a model in its folder.
func native(t *testing.T, dir string, args ...string) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, append([]string{"check", "--config", os.DevNull, "--format", "html"}, args...)...)
	c.Dir = dir
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%v: %v", args, err)
	}
	return string(out)
}

// enter fills in the options, and takes away what the page said last, which would be taken for an answer.
func enter(t *testing.T, ctx context.Context, target, ranges string) {
	t.Helper()
	get(t, ctx, chromedp.Evaluate[string](fmt.Sprintf(`(() => {
		document.querySelector("#target").value = %q;
		document.querySelector("#ranges").value = %q;
		return document.querySelector("#status").className = "verdict note";
	})()`, target, ranges)))
}

// drop lets files fall on the page, as from the desktop.
func drop(t *testing.T, ctx context.Context, files ...string) {
	t.Helper()
	for _, kind := range []input.DispatchDragEventType{"dragEnter", "dragOver", "drop"} {
		p := input.DispatchDragEventParams{Type: kind, X: 300, Y: 200, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1}}
		if _, err := chromedp.Call(ctx, input.DispatchDragEvent, p); err != nil {
			t.Fatal(err)
		}
	}
}

// verdict waits until the page says something that a check ends with.
func verdict(t *testing.T, ctx context.Context) string {
	t.Helper()
	return get(t, ctx, chromedp.Poll[string](`(() => {
		const s = document.querySelector("#status");
		return s.classList.contains("note") ? "" : s.className.replace("verdict ", "") + ": " + s.textContent;
	})()`, chromedp.WithPollingTimeout(0)))
}

// inFrame waits for an expression to hold in the report that the page shows. A frame that loads its next
// report has no context to evaluate in for a moment, or loses the one it had: then it is asked again.
func inFrame(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	for {
		frames := get(t, ctx, chromedp.Nodes(chromedp.CSS("#report")))
		held := chromedp.Poll[bool](expression, chromedp.WithPollingInFrame(frames[0]), chromedp.WithPollingTimeout(0))
		_, err := chromedp.Run(ctx, held)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestWeb drops models on the page that checks them in the browser: what comes out is byte by byte what
// the program writes, nothing is said on the console and nothing is fetched but the page.
func TestWeb(t *testing.T) {
	ctx := tab(t)
	dir, url := samples(t), served(t)
	w := watch(t, ctx, url, "blob:"+url)
	do(t, ctx, chromedp.Navigate(url), chromedp.WaitVisible(chromedp.CSS("#drop")))
	is := func(said string, report ...string) {
		t.Helper()
		if got := verdict(t, ctx); got != said {
			t.Errorf("the page says %q, want %q", got, said)
		}
		if get(t, ctx, chromedp.Evaluate[string](`document.querySelector("#report").srcdoc`)) != native(t, dir, report...) {
			t.Error("the report is not that of the program")
		}
	}

	drop(t, ctx, filepath.Join(dir, "attention.onnxtxt"))
	is("error: attention.onnxtxt: checked, with findings that fail", "attention.onnxtxt")
	inFrame(t, ctx, `document.querySelectorAll(".finding.error").length > 0 && !document.querySelector("#theme").hidden`)
	for _, f := range get(t, ctx, chromedp.Evaluate[[]string](audit)) {
		t.Error(f)
	}
	shot := get(t, ctx, chromedp.CaptureScreenshot())
	seen(t, shot, "light")
	keep(t, "web.png", shot)

	enter(t, ctx, "auto", "")
	drop(t, ctx, filepath.Join(dir, "fixed.onnx"))
	is("clean: fixed.onnx: checked, nothing that fails", "fixed.onnx")
	enter(t, ctx, "bf16", "x=-1e30,1e30\n")
	do(t, ctx, chromedp.Click(chromedp.CSS("#check")))
	is("error: fixed.onnx: checked, with findings that fail", "fixed.onnx", "--target", "bf16", "--range", "x=-1e30,1e30")
	for _, f := range w.Faults() {
		t.Error(f)
	}
}

// TestWebFaults gives the page what it cannot check, and then what it can.
func TestWebFaults(t *testing.T) {
	ctx := tab(t)
	dir, url := samples(t), served(t)
	w := watch(t, ctx, url, "blob:"+url)
	do(t, ctx, chromedp.Navigate(url), chromedp.WaitVisible(chromedp.CSS("#drop")))
	for _, c := range []struct{ files, ranges, want string }{
		{"notes.txt", "", "error: notes.txt: not a readable ONNX model: "},
		{"notes.txt more.txt", "", "error: none of these files is a model: .onnx, .onnx.gz or .onnxtxt"},
		{"-cut.onnx", "", "error: -cut.onnx: not a readable ONNX model: "},
		{"cut.onnx.gz", "", "error: cut.onnx.gz: unpacking: "},
		{"outside.onnxtxt", "", "error: outside.onnxtxt: tensor \"w\": external data"},
		{"fixed.onnx", "x=1", "error: --range: "},
		{"packed.onnx.gz notes.txt", "", "clean: packed.onnx.gz: checked, nothing that fails"},
		{"outside.onnxtxt outside.bin", "", "clean: outside.onnxtxt: checked, nothing that fails"},
		{"fixed.onnx .amplint.yaml", "", "error: fixed.onnx: checked, with findings that fail"},
		{"fixed.onnx -cut.onnx", "", "error: -cut.onnx: not a readable ONNX model: "},
	} {
		var files []string
		for _, f := range strings.Fields(c.files) {
			files = append(files, filepath.Join(dir, f))
		}
		enter(t, ctx, "auto", c.ranges)
		drop(t, ctx, files...)
		if got := verdict(t, ctx); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: the page says %q, want %q", c.files, got, c.want)
		}
	}
	inFrame(t, ctx, `document.querySelectorAll(".verdict.error code").length === 1`)
	for _, f := range w.Faults() {
		t.Error(f)
	}
}

// TestWebModels compares the page with the program on the models of the folder that AMPLINT_MODELS names.
func TestWebModels(t *testing.T) {
	dir := os.Getenv("AMPLINT_MODELS")
	if dir == "" {
		t.Skip("no folder of models in AMPLINT_MODELS")
	}
	models, err := filepath.Glob(filepath.Join(dir, "*.onnx"))
	if err != nil || len(models) == 0 {
		t.Fatalf("no models in %s: %v", dir, err)
	}
	ctx, url := tab(t), served(t)
	w := watch(t, ctx, url, "blob:"+url)
	do(t, ctx, chromedp.Navigate(url), chromedp.WaitVisible(chromedp.CSS("#drop")))
	for _, m := range models {
		enter(t, ctx, "auto", "")
		begun := time.Now()
		drop(t, ctx, m)
		said, took := verdict(t, ctx), time.Since(begun)
		begun = time.Now()
		report := native(t, dir, filepath.Base(m))
		t.Logf("%s, in %.1f s; the program in %.1f s", said, took.Seconds(), time.Since(begun).Seconds())
		if get(t, ctx, chromedp.Evaluate[string](`document.querySelector("#report").srcdoc`)) != report {
			t.Errorf("%s: the report is not that of the program", m)
		}
	}
	for _, f := range w.Faults() {
		t.Error(f)
	}
}
