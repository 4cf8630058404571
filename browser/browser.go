// Package browser opens the pages that amplint writes in a real browser, without a window. It is a
// module of its own, so that the program does not depend on what drives a browser.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Find returns the program of a browser: that of AMPLINT_BROWSER, or one that is installed; "" for
// none.
func Find() string {
	if path := os.Getenv("AMPLINT_BROWSER"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Open starts a browser that the context of the tab ends.
func Open(ctx context.Context, program string) (context.Context, context.CancelFunc) {
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.WindowSize(1200, 900), chromedp.Flag("force-color-profile", "srgb"),
		// A frame in a process of its own could not be watched with its page.
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,IsolateSandboxedIframes"))
	ctx, stop := chromedp.NewExecAllocator(ctx, opts...)
	ctx, cancel := chromedp.NewContext(ctx)
	return ctx, func() { cancel(); stop() }
}

// Watch notes everything a page should not do: messages on the console, exceptions, dialogs, and
// requests to anything but files that allowed starts.
type Watch struct {
	mu     sync.Mutex
	faults []string
}

// NewWatch watches the tab of the context.
func NewWatch(ctx context.Context, allowed ...string) (*Watch, error) {
	w := &Watch{}
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			w.request(e.Request.URL, allowed)
		case *runtime.EventConsoleAPICalled:
			w.add("console.%s", e.Type)
		case *runtime.EventExceptionThrown:
			w.add("exception: %s line %d", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber)
		case *log.EventEntryAdded:
			w.add("log: %s: %s (%s)", e.Entry.Level, e.Entry.Text, e.Entry.URL)
		case *page.EventJavascriptDialogOpening:
			w.add("dialog: %s", e.Message)
		}
	})
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	return w, err
}

func (w *Watch) request(url string, allowed []string) {
	for _, a := range allowed {
		if strings.HasPrefix(url, a) {
			return
		}
	}
	if !strings.HasPrefix(url, "data:") {
		w.add("request: %s", url)
	}
}

func (w *Watch) add(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// Faults returns what was noted so far.
func (w *Watch) Faults() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.faults...)
}
