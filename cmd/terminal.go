package cmd

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/amplint/amplint/report"
)

// manner is how the program speaks.
type manner struct {
	color string // auto, always or never
	quiet bool   // nothing on stderr but errors
}

func (m *manner) add(c *cobra.Command) {
	c.PersistentFlags().StringVar(&m.color, "color", "auto", "auto, always or never; auto: on a terminal, unless NO_COLOR is set")
	c.PersistentFlags().BoolVarP(&m.quiet, "quiet", "q", false, "no remarks and no progress on stderr, errors only")
}

func (m *manner) check() error {
	switch m.color {
	case "auto", "always", "never":
		return nil
	}
	return usagef("--color: %q is none of auto, always and never", m.color)
}

// colored tells whether what goes to a writer has colours.
func (m *manner) colored(w io.Writer) bool {
	if m.color != "auto" {
		return m.color == "always"
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w)
}

// isTerminal tells whether a person reads what goes to a writer.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width returns the columns of a terminal, 0 for what is none.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// reportOptions are those of a report that goes to a file, or to stdout where out is empty.
func (a *app) reportOptions(out string) report.Options {
	o := report.Options{Version: Version, Remarks: a.remarks}
	if out == "" || out == "-" {
		o.Color, o.Width = a.colored(a.out), width(a.out)
	}
	return o
}

// shownAfter is how long a person waits before being told how far the work is.
const shownAfter = time.Second

// bar shows on a terminal how far some work is.
type bar struct {
	mu     sync.Mutex
	out    io.Writer
	what   string
	since  time.Time
	screen *mpb.Progress // nil while nothing is shown
	line   *mpb.Bar
	over   bool // the work is done
}

// progress returns a function that tells on a terminal how far a run is, in things of a kind, once it
// has taken a second; clear takes the line away, until the next step.
func (a *app) progress(what string) (step func(done, total int), clear func()) {
	if a.quiet || !isTerminal(a.err) {
		return func(int, int) {}, func() {}
	}
	b := &bar{out: a.err, what: what, since: time.Now()}
	return b.step, b.clear
}

func (b *bar) step(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.since) < shownAfter {
		return
	}
	if b.screen == nil {
		b.screen = mpb.New(mpb.WithOutput(b.out), mpb.WithWidth(40))
		// A bar that starts without a total is not over when it is full: the next sample starts anew.
		b.line = b.screen.AddBar(0, mpb.PrependDecorators(decor.Name("amplint: "+b.what+" "), decor.CountersNoUnit("%d of %d")),
			mpb.AppendDecorators(decor.NewElapsed(decor.ET_STYLE_GO, b.since)))
	}
	b.line.SetTotal(int64(total), false)
	b.line.SetCurrent(int64(done))
}

func (b *bar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.screen != nil {
		b.line.Abort(true)
		b.screen.Wait()
		b.screen, b.line = nil, nil
	}
}

// busy shows on a terminal that work of unknown length goes on, once it has taken a second.
func (a *app) busy(what string) (done func()) {
	if a.quiet || !isTerminal(a.err) {
		return func() {}
	}
	b := &bar{out: a.err, what: report.Visible(what), since: time.Now()}
	timer := time.AfterFunc(shownAfter, b.spin)
	return func() {
		timer.Stop()
		b.end()
	}
}

// end keeps a timer that is just going off from showing the line once more.
func (b *bar) end() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.clear()
}

func (b *bar) spin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	b.screen = mpb.New(mpb.WithOutput(b.out), mpb.WithWidth(3))
	b.line = b.screen.AddSpinner(0, mpb.PrependDecorators(decor.Name("amplint: "+b.what+" ")), mpb.AppendDecorators(decor.NewElapsed(decor.ET_STYLE_GO, b.since)))
}
