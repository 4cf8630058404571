package report

import (
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

func TestBroken(t *testing.T) {
	for _, c := range []struct {
		text, want      string
		width, taken, i int
	}{
		{"a b c", "a b c", 10, 0, 2},
		{"aaaa bbbb cccc", "aaaa\n  bbbb\n  cccc", 8, 0, 2},
		{"aaaaaaaaaaaaaaaaaaaa b", "aaaaaaaaaaaaaaaaaaaa\n  b", 8, 0, 2}, // a name stays whole
		{"漢漢 漢漢", "漢漢\n 漢漢", 8, 0, 1},                                    // each takes two columns
	} {
		if got := broken(c.text, c.width, c.taken, c.i); got != c.want {
			t.Errorf("%q in %d is %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

// TestWidth shows that a report fits a terminal and loses no word.
func TestWidth(t *testing.T) {
	r, _ := example(t)
	var wide, narrow strings.Builder
	for _, c := range []struct {
		b *strings.Builder
		w int
	}{{&wide, 0}, {&narrow, 60}} {
		if err := Check(c.b, "text", one(r), Options{Width: c.w}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Fields(narrow.String()), strings.Fields(wide.String()); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("words differ:\n%s", narrow.String())
	}
	for l := range strings.Lines(narrow.String()) {
		if w := runewidth.StringWidth(strings.TrimSuffix(l, "\n")); w > 60 && !strings.HasPrefix(l, "dir/m.onnx as") {
			t.Errorf("%d columns: %s", w, l)
		}
	}
}

func TestShort(t *testing.T) {
	p := &printer{width: 90}
	if got := p.short("/encoder/layer.10/attention/MatMul_output"); got != "/encoder/layer…/MatMul_output" {
		t.Errorf("short %q", got)
	}
	if got := (&printer{}).short(strings.Repeat("x", 200)); len(got) != 200 {
		t.Errorf("a name is cut where there is no terminal")
	}
}
