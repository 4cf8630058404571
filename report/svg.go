package report

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// svg builds a drawing. Colours come from classes, so that they follow the scheme of the page; texts
// are escaped.
type svg struct {
	b    strings.Builder
	w, h float64
}

func newSVG(w, h float64, label string) *svg {
	s := &svg{w: w, h: h}
	fmt.Fprintf(&s.b, `<svg viewBox="0 0 %s %s" role="img" aria-label="%s">`, px(w), px(h), html.EscapeString(label))
	return s
}

// px writes a coordinate to a tenth of a pixel.
func px(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") }

// rect draws a box; one without a size is left out.
func (s *svg) rect(class string, x, y, w, h float64) {
	if w <= 0 || h <= 0 {
		return
	}
	fmt.Fprintf(&s.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"/>`, class, px(x), px(y), px(w), px(h))
}

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&s.b, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, px(x1), px(y1), px(x2), px(y2))
}

// text writes a label; anchor is start, middle or end.
func (s *svg) text(class string, x, y float64, anchor, text string) {
	fmt.Fprintf(&s.b, `<text class="%s" x="%s" y="%s" text-anchor="%s">%s</text>`, class, px(x), px(y), anchor, html.EscapeString(Visible(text)))
}

// open begins a part with a title, which browsers show over it and the page's readout repeats.
func (s *svg) open(class, title string) {
	fmt.Fprintf(&s.b, `<g class="%s"><title>%s</title>`, class, html.EscapeString(Visible(title)))
}

func (s *svg) end() { s.b.WriteString("</g>") }

// String returns the whole drawing.
func (s *svg) String() string { return s.b.String() + "</svg>" }

// logScale maps magnitudes to y coordinates, by decades: lo at the bottom, hi at the top.
type logScale struct {
	lo, hi      int // decades
	top, bottom float64
}

// y returns the place of a magnitude; what lies outside stands at the edge.
func (l logScale) y(x float64) float64 {
	if x <= 0 {
		return l.bottom
	}
	d := min(max(math.Log10(x), float64(l.lo)), float64(l.hi))
	return l.bottom - (d-float64(l.lo))/float64(l.hi-l.lo)*(l.bottom-l.top)
}

// ticks returns the decades that get a line: about ten.
func (l logScale) ticks() []int {
	step := max((l.hi-l.lo+9)/10, 1)
	var list []int
	for d := l.lo; d <= l.hi; d++ {
		if d%step == 0 {
			list = append(list, d)
		}
	}
	return list
}

// power writes a power of ten or of two with raised digits.
func power(base string, e int) string {
	raised := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	var b strings.Builder
	b.WriteString(base)
	for _, r := range fmt.Sprint(e) {
		if r == '-' {
			b.WriteRune('⁻')
		} else {
			b.WriteRune(raised[r-'0'])
		}
	}
	return b.String()
}
