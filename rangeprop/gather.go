package rangeprop

import (
	"math"
	"slices"
	"sync"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval/kern"
)

// gatherer makes something of the elements of a constant. Those of a large one come in sections of
// whole rows, several at a time: each is given to a fork, and the forks are joined in order, so that
// the result does not depend on how many processors there were.
type gatherer interface {
	// add takes elements that lie in one row, from one on. It must not keep them.
	add(row, from int, x []float64)
	// addRows takes whole rows from one on as they are stored, if it can.
	addRows(row, width int, x []float32) bool
	// fork returns what takes a section, nil where all must come in order, and join adds that to what
	// the sections before have given.
	fork() gatherer
	join(gatherer)
}

// sectionElements is the least number of elements of a section, sectionRows that of its rows: what is
// kept of the columns is to be little beside the elements.
const (
	sectionElements = 1 << 20
	sectionRows     = 64
)

// gather reads the elements of a constant once, in rows of a width, for all gatherers, and counts what
// will be asked for.
func (m *Memo) gather(t *graph.Tensor, width int, list ...gatherer) error {
	if width < 1 {
		return nil
	}
	size := int64(width) * int64(max(sectionRows, (sectionElements+width-1)/width))
	inOrder := func(g gatherer) bool { return g.fork() == nil }
	if wide(t.Elem) || t.Len() <= size || slices.ContainsFunc(list, inOrder) {
		return rowsOf(t, width, func(f func([]float32)) error { return t.FloatsCounted(m.target, f) }, visitors(list))
	}
	forks := map[int][]gatherer{}
	var mu sync.Mutex
	return t.Sections(graph.Sections{
		Size: size, Width: int64(width), Target: m.target,
		Begin: func(i int) func(int64, []float32) {
			s := &section{width: width, list: forked(list)}
			mu.Lock()
			defer mu.Unlock()
			forks[i] = s.list
			return s.add
		},
		End: func(i int) {
			mu.Lock()
			defer mu.Unlock()
			for k, g := range list {
				g.join(forks[i][k])
			}
			delete(forks, i)
		},
	})
}

func visitors(list []gatherer) (visit []visitor) {
	for _, g := range list {
		visit = append(visit, g.add)
	}
	return visit
}

func forked(list []gatherer) (forks []gatherer) {
	for _, g := range list {
		forks = append(forks, g.fork())
	}
	return forks
}

// section hands elements to the forks of a section.
type section struct {
	width int
	list  []gatherer
	buf   []float64
}

// add takes elements from one of the tensor on.
func (s *section) add(from int64, x []float32) {
	row, at := int(from/int64(s.width)), int(from%int64(s.width))
	rest := s.list
	if at == 0 && len(x)%s.width == 0 {
		rest = nil
		for _, g := range s.list {
			if !g.addRows(row, s.width, x) {
				rest = append(rest, g)
			}
		}
	}
	for len(rest) > 0 && len(x) > 0 {
		n := min(s.width-at, len(x))
		if cap(s.buf) < n {
			s.buf = make([]float64, n)
		}
		buf := s.buf[:n]
		engine().Doubles(buf, x[:n])
		for _, g := range rest {
			g.add(row, at, buf)
		}
		if x, at = x[n:], at+n; at == s.width {
			row, at = row+1, 0
		}
	}
}

// addTo adds sums to others.
func addTo(sums, more []float64) {
	for i, x := range more {
		sums[i] += x
	}
}

// dotted gathers the products of bounds with a matrix.
type dotted struct {
	dots            *dots // of a fork nil until it gets parts of rows
	sums            *dots // that they are added to
	lo, hi          []float64
	mid, rad, reach []float64 // nil where bounds have no middle
	flip            bool
	visit           visitor
	rows            *kern.RowSums // of whole rows, nil until there are some
}

// gatherer takes the elements of the matrix of product.
func (d *dots) gatherer(lo, hi []float64, flip bool) *dotted {
	g := &dotted{dots: d, sums: d, lo: lo, hi: hi, flip: flip, visit: d.visitor(lo, hi, flip)}
	if mid, rad, finite := middles(lo, hi); finite && d.least == nil && !flip {
		g.mid, g.rad, g.reach = mid, rad, reaches(mid, rad)
	}
	return g
}

// reaches returns how far bounds reach from 0.
func reaches(mid, rad []float64) []float64 {
	reach := make([]float64, len(mid))
	for i := range mid {
		reach[i] = math.Abs(mid[i]) + rad[i]
	}
	return reach
}

func (g *dotted) add(row, from int, x []float64) {
	if g.dots == nil {
		g.dots = newDots(len(g.sums.lo), g.sums.least != nil)
		g.visit = g.dots.visitor(g.lo, g.hi, false)
	}
	g.visit(row, from, x)
}

func (g *dotted) addRows(row, width int, x []float32) bool {
	if g.mid == nil {
		return false
	}
	if g.rows == nil {
		n := len(g.sums.lo)
		g.rows = &kern.RowSums{Mids: make([]float64, n), Rads: make([]float64, n), Reaches: make([]float64, n)}
	}
	n := row + len(x)/width
	engine().DotRows(g.rows, x, g.mid[row:n], g.rad[row:n], g.reach[row:n])
	return true
}

// fork makes sums of its own. A flipped matrix has a row for each sum: no two sections touch one.
func (g *dotted) fork() gatherer {
	if g.flip {
		return g
	}
	y := *g
	y.dots, y.rows, y.visit = nil, nil, nil
	return &y
}

func (g *dotted) join(o gatherer) {
	x := o.(*dotted)
	if x == g {
		return
	}
	g.sums.addRows(x.rows)
	if x.dots == nil {
		return
	}
	addTo(g.dots.lo, x.dots.lo)
	addTo(g.dots.hi, x.dots.hi)
	addTo(g.dots.total, x.dots.total)
	for i := range x.dots.least {
		g.dots.least[i] = math.Min(g.dots.least[i], x.dots.least[i])
		g.dots.most[i] = math.Max(g.dots.most[i], x.dots.most[i])
	}
}

// addRows adds the sums of rows; they may be nil.
func (d *dots) addRows(s *kern.RowSums) {
	if s == nil {
		return
	}
	for i, mid := range s.Mids {
		d.lo[i] += mid - s.Rads[i]
		d.hi[i] += mid + s.Rads[i]
		d.total[i] += s.Reaches[i]
	}
}
