package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/numfmt"
)

// The sizes of the range profile. More columns than fit are joined: the one with the least headroom
// stands for its neighbours.
const (
	chartWidth  = 1040.0
	chartHeight = 340.0
	plotLeft    = 52.0
	plotRight   = 905.0
	plotTop     = 14.0
	plotBottom  = 316.0
	maxColumns  = 400
)

// column is what one bar of the profile shows.
type column struct {
	analyze.ProfileValue
	of int // how many values it stands for
}

// top returns the largest magnitude that the bound allows.
func top(v analyze.ProfileValue) float64 { return v.Range.MaxAbs() }

// low tells whether a limit applies to a value: it is held in the format of the target, or in another
// narrow one.
func low(v analyze.ProfileValue) bool { return v.Format != numfmt.Invalid }

// headroom returns how many bits lie between the bound and the limit of the value's own format,
// negative above it, -Inf where there is no bound.
func headroom(v analyze.ProfileValue) float64 { return math.Log2(v.Format.Max() / top(v)) }

// rank orders values that share a column: one to which no limit applies never hides one with a limit.
func rank(v analyze.ProfileValue) float64 {
	if !low(v) {
		return math.Inf(-1)
	}
	return -headroom(v)
}

// columns joins values that lie side by side until they fit.
func columns(values []analyze.ProfileValue) []column {
	n := min(len(values), maxColumns)
	list := make([]column, 0, n)
	for i := range n {
		from, to := i*len(values)/n, (i+1)*len(values)/n
		worst := slices.MaxFunc(values[from:to], func(a, b analyze.ProfileValue) int { return cmp.Compare(rank(a), rank(b)) })
		list = append(list, column{worst, to - from})
	}
	return list
}

// rangeChart draws the values in graph order against the limits of the format.
func rangeChart(p *analyze.Profile) template.HTML {
	cols := columns(p.Values)
	scale := rangeScale(p, cols)
	s := newSVG(chartWidth, chartHeight, fmt.Sprintf("bounds of %s in graph order against the limits of %s", plural(len(p.Values), "value"), p.Format))
	s.rect("zone-over", plotLeft, plotTop, plotRight-plotLeft, scale.y(p.Format.Max())-plotTop)
	s.rect("zone-sub", plotLeft, scale.y(p.Format.MinNormal()), plotRight-plotLeft, scale.y(p.Format.MinSubnormal())-scale.y(p.Format.MinNormal()))
	s.rect("zone-zero", plotLeft, scale.y(p.Format.MinSubnormal()), plotRight-plotLeft, plotBottom-scale.y(p.Format.MinSubnormal()))
	for _, d := range scale.ticks() {
		y := scale.y(math.Pow(10, float64(d)))
		s.line("grid", plotLeft, y, plotRight, y)
		s.text("tick", plotLeft-6, y+4, "end", power("10", d))
	}
	width := (plotRight - plotLeft) / float64(max(len(cols), 1))
	for i, c := range cols {
		s.bar(c, scale, plotLeft+float64(i)*width, width)
	}
	s.limit(scale, p.Format.Max(), "limit", fmt.Sprintf("%s max %.5g", p.Format, p.Format.Max()))
	s.limit(scale, p.Format.MinNormal(), "limit-low", fmt.Sprintf("least normal %.2g", p.Format.MinNormal()))
	s.limit(scale, p.Format.MinSubnormal(), "limit-low", fmt.Sprintf("0 below %.2g", p.Format.ZeroAt()))
	return template.HTML(s.String())
}

// rangeScale shows both ends of the format and what the bounds reach beyond it, up to twelve decades.
func rangeScale(p *analyze.Profile, cols []column) logScale {
	limit := math.Log10(p.Format.Max())
	most := limit + 2
	for _, c := range cols {
		if x := math.Log10(top(c.ProfileValue)); !math.IsInf(x, 0) {
			most = max(most, x)
		}
	}
	hi := min(most, limit+12)
	return logScale{int(math.Floor(math.Log10(p.Format.MinSubnormal()))) - 1, int(math.Ceil(hi)) + 1, plotTop, plotBottom}
}

// bar draws one column: the bound, within it what is expected, and what passes the limit.
func (s *svg) bar(c column, scale logScale, x, width float64) {
	gap := min(width*0.15, 1.5)
	x, width = x+gap/2, width-gap
	s.open("col", c.title())
	s.rect("hit", x-gap/2, plotTop, width+gap, plotBottom-plotTop)
	y, limit := scale.y(top(c.ProfileValue)), scale.y(c.Format.Max())
	likely := plotBottom
	if c.Likely > 0 {
		likely = scale.y(min(c.Likely, top(c.ProfileValue)))
	}
	if low(c.ProfileValue) {
		s.rect("bound", x, max(y, limit), width, plotBottom-max(y, limit))
		s.rect("likely", x, max(likely, limit), width, plotBottom-max(likely, limit))
		s.rect("over", x, y, width, limit-y)
		s.rect("over-likely", x, likely, width, limit-likely)
	} else {
		s.rect("bound wide", x, y, width, plotBottom-y)
		s.rect("wide-likely", x, likely, width, plotBottom-likely)
	}
	s.end()
}

// title tells of a column in words.
func (c column) title() string {
	t := c.Name
	if c.Op != "" {
		t += " (" + c.Op + ")"
	}
	t += fmt.Sprintf(": at most %.4g", top(c.ProfileValue))
	if c.Likely > 0 {
		t += fmt.Sprintf(", expected up to %.3g", c.Likely)
	}
	switch room := headroom(c.ProfileValue); {
	case !low(c.ProfileValue):
		t += ", stays wide"
	case math.IsInf(room, -1):
		t += ", no bound"
	case room < 0:
		t += fmt.Sprintf(", passes the limit by %.1f bits", -room)
	case math.IsInf(room, 1):
		t += ", always 0"
	default:
		t += fmt.Sprintf(", %.1f bits of headroom", room)
	}
	if c.of > 1 {
		t += fmt.Sprintf(" (the largest of %d values side by side)", c.of)
	}
	return t
}

// limit draws a line with a label at its right end.
func (s *svg) limit(scale logScale, x float64, class, label string) {
	y := scale.y(x)
	s.line(class, plotLeft, y, plotRight, y)
	s.text("limit-label", plotRight+6, y+4, "start", label)
}

// maxTight is how many values the table beside the profile lists.
const maxTight = 15

// tightRow is a value of the table of least headroom.
type tightRow struct {
	Name, Op, Bound, Likely, Room, Basis string
	Over                                 bool
}

// tightest lists the low values with the least headroom.
func tightest(p *analyze.Profile) []tightRow {
	var list []analyze.ProfileValue
	for _, v := range p.Values {
		if low(v) {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b analyze.ProfileValue) int { return cmp.Compare(headroom(a), headroom(b)) })
	var rows []tightRow
	for _, v := range list[:min(len(list), maxTight)] {
		r := tightRow{Name: v.Name, Op: v.Op, Bound: span(Span{Number(v.Range.Lo), Number(v.Range.Hi)}), Basis: v.Basis.String(), Likely: "–"}
		if v.Likely > 0 {
			r.Likely = fmt.Sprintf("%.3g", v.Likely)
		}
		room := headroom(v)
		r.Over = room < 0
		r.Room = fmt.Sprintf("%+.1f bits", room)
		switch {
		case math.IsInf(room, -1):
			r.Room = "no bound"
		case math.IsInf(room, 1):
			r.Room = "always 0"
		}
		rows = append(rows, r)
	}
	return rows
}

// span writes a range as people read it.
func span(s Span) string { return fmt.Sprintf("[%.5g, %.5g]", s[0], s[1]) }
