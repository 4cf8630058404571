package tokens

import (
	"math"
	"slices"

	"github.com/amplint/amplint/refeval/kern"
)

// MeanWork is about how many products are multiplied and added for the bounds of a mean.
func (s *Set) MeanWork(width, outputs int) float64 {
	return float64(s.Words()) * float64(width) * float64(s.channels+outputs)
}

// Mean bounds the elements of Σ_h m_h·O_h, where m_h is a mean of the part h of images of tokens, under
// weights of its own for each of the parts, and O_h the rows of O, a row for each element of the image,
// that belong to it. Those are infinite where nothing can be said.
//
// A mean reaches no further than the farthest of what it is taken of, part by part. Where weights may sum to
// less than 1, as zero tells, it may come as near to 0 as they do.
func (s *Set) Mean(m *Image, parts int, o []float32, zero bool) (lo, hi []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := m.width()
	outputs := len(o) / w
	if s.open() != nil || !(norm(m.A)*norm(o)*s.reach() < largest) {
		return slices.Repeat([]float64{math.Inf(-1)}, outputs), slices.Repeat([]float64{math.Inf(1)}, outputs)
	}
	type ends struct{ lo, hi []float64 }
	with := 0
	if zero {
		with = 1
	}
	e := remembered(s, key([]int{1, w, parts, outputs, with}, slices.Concat(m.A, o), m.B), func() ends {
		a := &means{s: s, m: m, o: o, parts: parts, outputs: outputs, zero: zero}
		a.open()
		a.read()
		lo, hi := a.sum()
		return ends{lo, hi}
	})
	return e.lo, e.hi
}

// means bounds the sums of the products of means, first of each part.
type means struct {
	s       *Set
	m       *Image
	o       []float32
	parts   int
	outputs int
	zero    bool
	alone   int // words that were taken with every sum

	e       []float32   // images of the sums of small rows
	mid     [][]float64 // of each group
	offsets [][]float64 // those of the groups times O, by group and part and output
	radius  [][]float64 // how far the products of a group lie from that
	lo, hi  []float64   // of the words with the main group, by part and output
}

func (a *means) open() {
	s, w := a.s, a.m.width()
	a.e = make([]float32, s.sums()*w)
	s.pool.Gemm(a.e, w, kern.Rows(s.s, s.channels), kern.Rows(a.m.A, w), s.sums(), w, s.channels, false)
	n := a.parts * a.outputs
	a.lo, a.hi = make([]float64, n), make([]float64, n)
	for _, g := range s.groups {
		mid := middle(a.e[g.from*w:g.to*w], w)
		offsets, radius := a.around(g, mid)
		a.mid, a.offsets, a.radius = append(a.mid, mid), append(a.offsets, offsets), append(a.radius, radius)
	}
}

// around multiplies the images of a group's sums: their middle, and how far others lie from it.
func (a *means) around(g group, mid []float64) (offsets, radius []float64) {
	w, d, count := a.m.width(), a.m.width()/a.parts, g.to-g.from
	offsets, radius = make([]float64, a.parts*a.outputs), make([]float64, a.parts*a.outputs)
	y := make([]float32, count*a.outputs)
	for h := range a.parts {
		a.s.pool.Gemm(y, a.outputs, kern.Rows(a.e[g.from*w+h*d:], w), kern.Rows(a.o[h*d*a.outputs:], a.outputs), count, a.outputs, d, false)
		at := offsets[h*a.outputs:][:a.outputs]
		for k := range d {
			for j, v := range a.o[(h*d+k)*a.outputs:][:a.outputs] {
				at[j] += mid[h*d+k] * float64(v)
			}
		}
		r := radius[h*a.outputs:][:a.outputs]
		for i, v := range y {
			j := i % a.outputs
			r[j] = max(r[j], math.Abs(float64(v)-at[j]))
		}
	}
	return offsets, radius
}

// read takes all words with the middle of the main group, a block at a time: neighbours have about the same
// ρ, so that the radius is multiplied by that of each block.
func (a *means) read() {
	s, w, d := a.s, a.m.width(), a.m.width()/a.parts
	right := kern.Pack(kern.Rows(a.m.A, w), s.channels, w)
	var rows []*kern.Packed
	for h := range a.parts {
		rows = append(rows, kern.Pack(kern.Rows(a.o[h*d*a.outputs:], a.outputs), d, a.outputs))
	}
	y, z := make([]float32, blockRows*w), make([]float32, blockRows*a.outputs)
	low, high := make([]float32, a.outputs), make([]float32, a.outputs)
	a.alone = s.alone()
	for i := range a.alone {
		a.every(i, rows)
	}
	m := 0
	for from := a.alone; from < s.Words(); from += m {
		m = s.alike(from)
		s.pool.GemmPacked(y, w, kern.Rows(s.x[from*s.channels:], s.channels), right, m, false)
		top := a.scale(y[:m*w], from)
		for h := range a.parts {
			s.pool.GemmPacked(z, a.outputs, kern.Rows(y[h*d:], w), rows[h], m, false)
			clear(low)
			clear(high)
			s.pool.ExtremeRows(low, high, z[:m*a.outputs])
			a.take(h, low, high, top)
		}
	}
}

// maxAlone is how many words may be taken with every sum, exceptional how much greater than that of all others
// their ρ is.
const (
	maxAlone    = 8
	exceptional = 1.3
)

// alone returns how many words are so short that almost nothing but the small rows is left in their tokens, as
// those that stand for padding are: the ball around all sums, times their ρ, would say too much.
func (s *Set) alone() int {
	list := s.main().hi
	n := min(maxAlone, len(list)-1)
	for n > 0 && !(list[n-1] > exceptional*list[n]) {
		n--
	}
	if s.sums() == 1 {
		return 0
	}
	return n
}

// every takes a word with every sum.
func (a *means) every(word int, rows []*kern.Packed) {
	s, w, sums := a.s, a.m.width(), a.s.sums()
	x := s.rows([]int{word})
	factors := s.factors([]int{word}, x)
	y := make([]float32, w)
	s.pool.Gemm(y, w, kern.Rows(x, s.channels), kern.Rows(a.m.A, w), 1, w, s.channels, false)
	images, z := make([]float32, len(a.e)), make([]float32, sums*a.outputs)
	for i, v := range a.e {
		images[i] = float32(float64(v+y[i%w]) * factors[i/w])
	}
	low, high := make([]float32, a.outputs), make([]float32, a.outputs)
	for h := range a.parts {
		s.pool.GemmPacked(z, a.outputs, kern.Rows(images[h*w/a.parts:], w), rows[h], sums, false)
		clear(low)
		clear(high)
		s.pool.ExtremeRows(low, high, z)
		a.take(h, low, high, 0)
	}
}

// alike returns how many words from one on are taken together, whose ρ is not much less than its.
func (s *Set) alike(from int) int {
	list := s.main().hi[from:]
	n := 1
	for n < min(blockRows, len(list)) && list[n] > 0.8*list[0] {
		n++
	}
	return n
}

// scale adds the middle of the main group to images of words and multiplies by the greatest ρ of each. It
// returns the greatest of all: 0 lies between the ends that are kept, so that a smaller ρ stays within.
func (a *means) scale(y []float32, from int) (top float64) {
	p, w := a.s.main(), a.m.width()
	mid := a.mid[len(a.mid)-1]
	for i := 0; i < len(y); i += w {
		f := p.hi[from+i/w]
		top = max(top, f)
		for k, v := range y[i : i+w] {
			y[i+k] = float32((float64(v) + mid[k]) * f)
		}
	}
	return top
}

// take enters the extremes of a block.
func (a *means) take(h int, low, high []float32, top float64) {
	r := a.radius[len(a.radius)-1][h*a.outputs:]
	lo, hi := a.lo[h*a.outputs:], a.hi[h*a.outputs:]
	for j := range low {
		e := r[j] * top
		lo[j], hi[j] = min(lo[j], float64(low[j])-e), max(hi[j], float64(high[j])+e)
	}
}

// sum adds the bounds of the parts.
func (a *means) sum() (lo, hi []float64) {
	lo, hi = make([]float64, a.outputs), make([]float64, a.outputs)
	d := a.m.width() / a.parts
	share, tops := a.shares()
	for h := range a.parts {
		own := a.m.norm(h*d, (h+1)*d)
		for j := range hi {
			column, bias := 0.0, 0.0
			for k := range d {
				o := float64(a.o[(h*d+k)*a.outputs+j])
				column, bias = column+o*o, bias+o*a.m.B[h*d+k]
			}
			slack := 2 * rounding(a.s.channels+d) * own * math.Sqrt(column) * a.s.reach()
			below := a.end(h*a.outputs+j, -1, share, tops) - bias + slack
			above := a.end(h*a.outputs+j, 1, share, tops) + bias + slack
			if a.zero {
				below, above = max(below, 0), max(above, 0)
			}
			lo[j], hi[j] = lo[j]-below, hi[j]+above
		}
	}
	return lo, hi
}

// shares returns for each group the greatest quotient of its ρ by that of the main group, of the words that
// are not taken with every sum, and the greatest ρ of them.
func (a *means) shares() (list, tops []float64) {
	main := a.s.main().hi[a.alone:]
	list, tops = make([]float64, len(a.s.groups)), make([]float64, len(a.s.groups))
	for g := range list {
		for i, f := range a.s.groups[g].hi[a.alone:] {
			tops[g] = max(tops[g], f)
			if main[i] > 0 { // else there is nothing that it could multiply
				list[g] = max(list[g], f/main[i])
			}
		}
	}
	return list, tops
}

// end is how far words reach in one part, with any group: with the groups beside the main one, whose ρ is a
// share of its, as far as that share, and what their middle is further.
func (a *means) end(i int, sign float64, share, tops []float64) float64 {
	own, main := a.hi[i], len(share)-1
	if sign < 0 {
		own = -a.lo[i]
	}
	most := own
	for g := range main {
		further := sign*(a.offsets[g][i]-a.offsets[main][i]) + a.radius[g][i]
		most = max(most, own*share[g]+max(further, 0)*tops[g])
	}
	return most
}
