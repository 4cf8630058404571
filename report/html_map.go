package report

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/amplint/amplint/analyze"
)

// The precision map: a cell for each node, or for several side by side in a large model.
const (
	maxCells  = 1500
	cellWidth = 13.0
	cellGap   = 2.0
	perRow    = 69 // as many as chartWidth holds
)

// cell is what one cell of the map stands for.
type cell struct {
	name            string // of the first node
	low, wide, cast int
}

// cells counts the nodes by format, in graph order.
func cells(nodes []analyze.ProfileNode) []cell {
	n := min(len(nodes), maxCells)
	list := make([]cell, n)
	for i := range n {
		from, to := i*len(nodes)/n, (i+1)*len(nodes)/n
		c := cell{name: fmt.Sprintf("%s (%s)", nodes[from].Key, nodes[from].Op)}
		for _, x := range nodes[from:to] {
			switch {
			case x.Op == "Cast":
				c.cast++
			case x.Elem.Bits() >= 32:
				c.wide++
			default:
				c.low++
			}
		}
		list[i] = c
	}
	return list
}

// class names the colour of a cell: FP32 where any node is.
func (c cell) class() string {
	switch {
	case c.wide > 0:
		return "cell-wide"
	case c.cast > 0:
		return "cell-cast"
	}
	return "cell-low"
}

func (c cell) title() string {
	if c.low+c.wide+c.cast == 1 {
		return c.name + map[string]string{"cell-wide": ": fp32", "cell-cast": ": cast", "cell-low": ": low"}[c.class()]
	}
	return fmt.Sprintf("%s and %d more: %d low, %d fp32, %s", c.name, c.low+c.wide+c.cast-1, c.low, c.wide, plural(c.cast, "cast"))
}

// precisionMap draws in which format each node computes.
func precisionMap(p *analyze.Profile, what string) template.HTML {
	list := cells(p.Nodes)
	rows := (len(list) + perRow - 1) / perRow
	s := newSVG(chartWidth, float64(max(rows, 1))*(cellWidth+cellGap), fmt.Sprintf("format of %s %s", plural(len(p.Nodes), "node"), what))
	for i, c := range list {
		x, y := float64(i%perRow)*(cellWidth+cellGap), float64(i/perRow)*(cellWidth+cellGap)
		s.open("col", c.title())
		s.rect(c.class(), x, y, cellWidth, cellWidth)
		if c.class() == "cell-wide" { // told by more than the colour
			s.rect("cell-mark", x+cellWidth/2-2, y+cellWidth/2-2, 4, 4)
		}
		s.end()
	}
	return template.HTML(s.String())
}

// castRow is a cast that the fix added, and the bytes it reads and writes each time the model runs.
type castRow struct {
	Node, Types, Elements, Bytes string
	bytes                        int64 // for each element of the open dimensions
}

// maxCasts is how many casts the table lists.
const maxCasts = 40

// castRows lists the casts of the result that the input did not have, the dearest first, with the
// bytes of all of them.
func castRows(before, after *analyze.Profile) (rows []castRow, total string) {
	had := map[string]bool{}
	for _, n := range before.Nodes {
		had[n.Key] = true
	}
	sums := map[string]int64{} // by the open dimensions
	for _, n := range after.Nodes {
		if n.Op != "Cast" || had[n.Key] {
			continue
		}
		r := castRow{Node: n.Key, Types: n.From.String() + " → " + n.Elem.String(), bytes: n.Elements * int64(n.From.Bits()+n.Elem.Bits()) / 8}
		r.Elements, r.Bytes = fmt.Sprint(n.Elements), size(r.bytes)
		open := ""
		for _, d := range n.Open {
			open += " × " + d
		}
		r.Elements, r.Bytes = r.Elements+open, r.Bytes+open
		sums[open] += r.bytes
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b castRow) int { return cmp.Compare(b.bytes, a.bytes) })
	var parts []string
	for _, open := range slices.Sorted(maps.Keys(sums)) {
		parts = append(parts, size(sums[open])+open)
	}
	return rows, cmp.Or(strings.Join(parts, " + "), "none")
}

// size writes a number of bytes.
func size(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	if n > 0 {
		i = min(int(math.Log2(float64(n))/10), len(units)-1)
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.3g %s", float64(n)/math.Pow(1024, float64(i)), units[i])
}
