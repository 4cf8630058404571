package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/amplint/amplint/analyze"
	"github.com/amplint/amplint/numfmt"
)

// drawnFormats are those whose ends the histogram shows.
var drawnFormats = [...]numfmt.Format{numfmt.FP16, numfmt.BF16, numfmt.E4M3FN, numfmt.E5M2}

// The histogram's exponents: those of the weights and of the formats, but for the far ends of bf16.
const (
	leastExponent = -48
	mostExponent  = 24
	rulerHeight   = 20.0
	histBottom    = 200.0
)

// expScale maps exponents of two to x coordinates.
type expScale struct{ lo, hi int }

func (e expScale) x(exp float64) float64 {
	exp = min(max(exp, float64(e.lo)), float64(e.hi))
	return plotLeft + (exp-float64(e.lo))/float64(e.hi-e.lo)*(plotRight-plotLeft)
}

// exponents returns the span that the histogram shows.
func exponents(h *numfmt.Histogram) expScale {
	e := expScale{-28, 18} // the ends of fp16
	for i := leastExponent; i <= mostExponent; i++ {
		if h.Exponent(i) > 0 {
			e.lo, e.hi = min(e.lo, i), max(e.hi, i+1)
		}
	}
	if h.MinMagnitude() > 0 && math.Log2(h.MinMagnitude()) < leastExponent {
		e.lo = leastExponent
	}
	if math.Log2(h.MaxMagnitude()) > mostExponent {
		e.hi = mostExponent
	}
	return e
}

// weightChart draws how many weights have which exponent, and under it from where to where each format
// reaches.
func weightChart(p *analyze.Profile) template.HTML {
	h, e := &p.Weights, exponents(&p.Weights)
	height := histBottom + 26 + rulerHeight*float64(len(drawnFormats)) + 8
	s := newSVG(chartWidth, height, "number of weights by exponent, and the reach of each format")
	most := 1.0
	counts := binned(h, e)
	for _, n := range counts {
		most = max(most, float64(n))
	}
	scale := logScale{-1, max(int(math.Ceil(math.Log10(most))), 1), plotTop, histBottom}
	for _, d := range scale.ticks() {
		y := scale.y(math.Pow(10, float64(d)))
		s.line("grid", plotLeft, y, plotRight, y)
		if d >= 0 { // one weight stands above the bottom
			s.text("tick", plotLeft-6, y+4, "end", power("10", d))
		}
	}
	for i, n := range counts {
		if n > 0 {
			s.weightBar(p.Format, e, scale, e.lo+i, n)
		}
	}
	for exp := e.lo; exp <= e.hi; exp++ {
		if exp%4 == 0 {
			s.text("tick", e.x(float64(exp)), histBottom+16, "middle", power("2", exp))
		}
	}
	for i, f := range drawnFormats {
		s.ruler(f, f == p.Format, e, histBottom+26+rulerHeight*float64(i))
	}
	s.ends(p.Format, e)
	return template.HTML(s.String())
}

// ends draws the ends of the target's reach, where they lie inside of what is shown.
func (s *svg) ends(f numfmt.Format, e expScale) {
	for _, end := range []struct {
		class string
		exp   float64
	}{{"limit", math.Log2(f.OverflowAt())}, {"limit-low", math.Log2(f.ZeroAt())}} {
		if end.exp > float64(e.lo) && end.exp < float64(e.hi) {
			s.line(end.class, e.x(end.exp), plotTop, e.x(end.exp), histBottom)
		}
	}
}

// binned counts by exponent from e.lo on; the first and the last also hold what lies beyond.
func binned(h *numfmt.Histogram, e expScale) []int64 {
	counts := make([]int64, e.hi-e.lo)
	for i := -127; i <= 127; i++ {
		counts[min(max(i, e.lo), e.hi-1)-e.lo] += h.Exponent(i)
	}
	return counts
}

func (s *svg) weightBar(f numfmt.Format, e expScale, scale logScale, exp int, n int64) {
	class := "weight"
	switch lowEnd := math.Ldexp(1, exp); {
	case lowEnd*2 > f.OverflowAt():
		class = "beyond"
	case lowEnd*2 <= f.ZeroAt()*1.0001:
		class = "lost"
	case lowEnd < f.MinNormal():
		class = "subnormal"
	}
	x0, x1, y := e.x(float64(exp)), e.x(float64(exp+1)), scale.y(float64(n))
	s.open("col", fmt.Sprintf("%s of magnitude %s to %s", plural(int(n), "weight"), power("2", exp), power("2", exp+1)))
	s.rect("hit", x0, plotTop, x1-x0, histBottom-plotTop)
	s.rect(class, x0+1, y, x1-x0-2, histBottom-y)
	s.end()
}

// ruler draws the reach of a format: subnormal numbers pale, normal ones full.
func (s *svg) ruler(f numfmt.Format, target bool, e expScale, y float64) {
	class := "ruler"
	if target {
		class = "ruler target"
	}
	zero, normal, over := e.x(math.Log2(f.ZeroAt())), e.x(math.Log2(f.MinNormal())), e.x(math.Log2(f.OverflowAt()))
	s.open(class, fmt.Sprintf("%s: 0 below %.3g, subnormal below %.3g, largest %.5g", f, f.ZeroAt(), f.MinNormal(), f.Max()))
	s.rect("reach-sub", zero, y+4, normal-zero, rulerHeight-9)
	s.rect("reach", normal, y+4, over-normal, rulerHeight-9)
	s.text("limit-label", plotRight+6, y+14, "start", f.String())
	s.end()
}

// formatRow is what one format does to the weights.
type formatRow struct {
	Format                string
	Target                bool
	Over, Zero, Subnormal string
}

// formatRows counts for every format what it would lose of the weights.
func formatRows(p *analyze.Profile) []formatRow {
	h := &p.Weights
	total := float64(max(h.Count(), 1))
	share := func(n int64) string {
		if n == 0 {
			return "0"
		}
		return fmt.Sprintf("%d (%.2g %%)", n, 100*float64(n)/total)
	}
	var rows []formatRow
	for _, f := range drawnFormats {
		rows = append(rows, formatRow{f.String(), f == p.Format, share(h.Overflow(f)), share(h.Underflow(f)), share(h.Subnormal(f))})
	}
	return rows
}
