package report

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
)

// profile is one of every kind of value and weight.
func profile() *analyze.Profile {
	inf := math.Inf(1)
	p := &analyze.Profile{Format: numfmt.FP16, Chains: map[string][]analyze.ProfileStep{}}
	for i, hi := range []float64{0, 1e-6, 1, 6e4, 1e9, 1e300, inf} {
		p.Values = append(p.Values, analyze.ProfileValue{Name: fmt.Sprint("v", i), Node: "n", Op: "Mul", Range: rangeprop.Range{Lo: -hi / 2, Hi: hi},
			Likely: hi / 8, Format: numfmt.FP16})
	}
	p.Values = append(p.Values, analyze.ProfileValue{Name: "</title><script>", Op: "Exp", Range: rangeprop.Range{Hi: 1e9}, Format: numfmt.Invalid})
	for _, x := range []float64{0, 1e-30, 1e-9, 1e-5, 0.5, -3, 7e4, 1e30} {
		p.Weights.Add(x)
	}
	p.Tensors = []analyze.ProfileTensor{{Name: "w", Count: 8, Over: 2, Zero: 2, Subnormal: 1, Lo: -3, Hi: 1e30}}
	p.Nodes = []analyze.ProfileNode{{Key: "a", Op: "MatMul", Elem: graph.Float16, Elements: 8}, {Key: "c", Op: "Cast", From: graph.Float16, Elem: graph.Float, Elements: 8},
		{Key: "d", Op: "Cast", From: graph.Float16, Elem: graph.Float, Elements: 64, Open: []string{"N"}}, {Key: "e", Op: "Exp", Elem: graph.Float, Elements: 8}}
	for i := range 30 {
		p.Chains["neg"] = append(p.Chains["neg"], analyze.ProfileStep{Value: fmt.Sprint("s", i), Op: "Mul", Range: rangeprop.Range{Hi: float64(i)}, Factor: float64(i % 3)})
	}
	return p
}

// bare leaves out the style, the script and their hashes, which have files of their own.
func bare(page string) string {
	page = regexp.MustCompile("(?s)<(style|script)>.*?</").ReplaceAllString(page, "<$1>…</")
	return stable(regexp.MustCompile("sha256-[^ ]*").ReplaceAllString(page, "sha256-…"))
}

func TestHTML(t *testing.T) {
	f := everything(t)
	f.Models[0].Profile = profile()
	text := written(t, "html", f)
	golden(t, "all.html", bare(text))
	for _, bad := range []string{"<script>alert", "<img", "</title><script>", "\u202e", "\x1b"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{"14 steps;", `class="finding error"`, "config: not read (until 2099-01-01)", "Not analysed:", "matches nothing"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestHTMLIsClosed shows that the page names nothing that a browser would fetch, and that its policy
// allows its own style and script and nothing else.
func TestHTMLIsClosed(t *testing.T) {
	text := written(t, "html", everything(t))
	for _, link := range regexp.MustCompile(`(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if link[1] != "data:," && link[1][0] != '#' {
			t.Errorf("the page links to %q", link[1])
		}
	}
	for _, tag := range []string{"style", "script"} {
		inner := regexp.MustCompile("(?s)<" + tag + ">(.*?)</" + tag + ">").FindStringSubmatch(text)
		if inner == nil {
			t.Fatalf("no %s", tag)
		}
		policy := tag + "-src &#39;" + strings.ReplaceAll(hash([]byte(inner[1])), "+", "&#43;") + "&#39;"
		if !strings.Contains(text, policy) {
			t.Errorf("the policy does not hold %s", policy)
		}
	}
}

func TestHTMLOfFix(t *testing.T) {
	r, _ := example(t)
	after := *r
	after.Findings, after.Summary = nil, analyze.Summary{Nodes: 5}
	r.Profile, after.Profile = profile(), profile()
	r.Profile.Nodes = r.Profile.Nodes[:1]
	f := &analyze.Fixed{Path: "m.onnx", Out: "o.onnx", Before: r, After: &after, Applied: r.Findings[:1], Edits: r.Findings[0].Edits}
	f.Summary.Changed, f.Summary.Casts, f.Summary.Low, f.Summary.FP32 = true, 2, 1, 3
	var b strings.Builder
	if err := FixedHTML(&b, f, options()); err != nil {
		t.Fatal(err)
	}
	golden(t, "fix.html", bare(b.String()))
	for _, want := range []string{"1 finding fixed, 2 casts added", "48 B + 384 B × N", "1 of 4", "Precision map"} {
		if !strings.Contains(html.UnescapeString(b.String()), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestColumns shows that values which share a column are told by the one with the least headroom.
func TestColumns(t *testing.T) {
	var list []analyze.ProfileValue
	for i := range 3 * maxColumns {
		list = append(list, analyze.ProfileValue{Name: fmt.Sprint(i), Range: rangeprop.Range{Hi: float64(i % 7)}, Format: numfmt.FP16})
	}
	list[4].Range.Hi = 1e9
	list[3].Range.Hi, list[3].Format = math.Inf(1), numfmt.Invalid
	cols := columns(list)
	if len(cols) != maxColumns || cols[1].Name != "4" || cols[1].of != 3 {
		t.Errorf("%d columns, the second is %+v", len(cols), cols[1])
	}
}

// TestOwnLimit shows that every value is held against the limit of its own format, FP32 among them.
func TestOwnLimit(t *testing.T) {
	of := func(f numfmt.Format, hi float64) string {
		return column{analyze.ProfileValue{Name: "v", Range: rangeprop.Range{Hi: hi}, Format: f}, 1}.title()
	}
	for got, want := range map[string]string{
		of(numfmt.FP16, 131008):      "v: at most 1.31e+05, passes the limit by 1.0 bits",
		of(numfmt.FP32, 131008):      "v: at most 1.31e+05, 111.0 bits of headroom",
		of(numfmt.E4M3FN, 224):       "v: at most 224, 1.0 bits of headroom",
		of(numfmt.Invalid, 1e300):    "v: at most 1e+300, stays wide",
		of(numfmt.FP32, math.Inf(1)): "v: at most +Inf, no bound",
		of(numfmt.FP16, 0):           "v: at most 0, always 0",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestScale shows that no number leaves the plot.
func TestScale(t *testing.T) {
	s := logScale{-9, 18, plotTop, plotBottom}
	for _, x := range []float64{0, -1, 1e-300, 1e300, math.Inf(1), math.SmallestNonzeroFloat64} {
		if y := s.y(x); !(y >= plotTop && y <= plotBottom) {
			t.Errorf("%g stands at %g", x, y)
		}
	}
	if n := len(s.ticks()); n < 5 || n > 12 {
		t.Errorf("%d ticks", n)
	}
	if got := power("10", -12); got != "10⁻¹²" {
		t.Errorf("power %q", got)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 3 << 20: "3 MiB", 1 << 60: "1.05e+06 TiB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
