package infer

import (
	"maps"
	"slices"
	"sort"

	"github.com/amplint/amplint/graph"
)

// Supposition holds sizes that symbols are taken to have where the model runs as it was meant to: what an
// estimate may rest on, never a bound.
type Supposition struct{ syms symbols }

// Suppose returns a supposition that goes no further than what the user says.
func (i *Info) Suppose() *Supposition {
	s := &Supposition{*i.syms}
	s.syms.text, s.syms.ranges = maps.Clone(i.syms.text), map[string]DimRange{}
	maps.Copy(s.syms.ranges, i.syms.ranges)
	return s
}

// Size returns what a dimension comes to, -1 where it depends on a symbol of which nothing is supposed.
func (s *Supposition) Size(d graph.Dim) int64 {
	p, ok := s.syms.num(d).poly()
	if !ok {
		return -1
	}
	return s.size(p)
}

func (s *Supposition) size(p poly) int64 {
	if lo, hi := s.syms.bounds(p); lo == hi && lo >= 0 {
		return lo
	}
	return -1
}

// mostSupposed is the largest size that a symbol is supposed to have.
const mostSupposed = 1 << 20

// Let supposes that a dimension is n where one symbol alone leaves it open: of all sizes of the symbol that
// give n the largest, which leaves least of the last step of a strided window to its padding.
func (s *Supposition) Let(d graph.Dim, n int64) {
	p, ok := s.syms.num(d).poly()
	if !ok {
		return
	}
	open := s.syms.open(p, nil)
	if len(open) != 1 {
		return
	}
	name := open[0]
	before, limited := s.syms.ranges[name]
	r := DimRange{0, mostSupposed}
	if limited {
		r = DimRange{max(before.Lo, 0), min(before.Hi, mostSupposed)}
	}
	at := func(x int64) int64 {
		s.syms.ranges[name] = DimRange{x, x}
		return s.size(p)
	}
	// sizes grow with their symbols; where one does not, the size found does not fit and nothing is supposed
	first := sort.Search(int(max(r.Hi-r.Lo+1, 0)), func(k int) bool { return at(r.Lo+int64(k)) > n })
	if x := r.Lo + int64(first) - 1; first > 0 && x < mostSupposed && at(x) == n {
		return
	}
	if delete(s.syms.ranges, name); limited {
		s.syms.ranges[name] = before
	}
}

// open adds the symbols whose size is not settled and that p depends on to list, each once.
func (s *symbols) open(p poly, list []string) []string {
	for _, t := range p {
		for _, a := range t.atoms {
			c, made := s.parts[a]
			r, given := s.ranges[a]
			switch {
			case given && r.Lo == r.Hi || slices.Contains(list, a):
			case made:
				list = s.open(c.b, s.open(c.a, list))
			default:
				list = append(list, a)
			}
		}
	}
	return list
}
