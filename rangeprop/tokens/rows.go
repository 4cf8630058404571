package tokens

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/amplint/amplint/refeval/kern"
)

// ulp is the unit roundoff of float32.
const ulp = 1.0 / (1 << 24)

// rounding bounds the relative error of a sum of n products of float32, of numbers that were themselves
// rounded up to four times.
func rounding(n int) float64 { return 2 * float64(n+16) * ulp }

// errInfinite tells of tables that hold infinities or NaN, or numbers whose squares overflow.
var errInfinite = errors.New("a table with numbers that are not finite")

// group is a part of the sums of small rows, those from..to. Rows that are further out than the others are
// groups of their own: the ball around them all would be theirs.
type group struct {
	from, to int
	hi       []float64 // the greatest ρ of each word
	norm     float64   // the greatest before it is centered
	reach    float64   // the greatest (‖e‖ + ‖s‖)·ρ, before they are centered
	top      float64   // the greatest ρ
}

// prepare centers rows, and notes the norms that they had.
func (s *Set) prepare(x []float32, norms *[]float64) {
	n := s.channels
	for i := 0; i < len(x); i += n {
		row := x[i : i+n]
		if norms != nil {
			*norms = append(*norms, norm(row))
		}
		if s.norm.Center {
			center(row)
		}
	}
}

func center(x []float32) {
	mean := 0.0
	for _, v := range x {
		mean += float64(v)
	}
	mean /= float64(len(x))
	for i, v := range x {
		x[i] = float32(float64(v) - mean)
	}
}

// readSmall makes all sums of small rows, and the groups of them.
func (s *Set) readSmall() error {
	n := s.channels
	s.s = make([]float32, n)
	for _, r := range s.small {
		x, err := readRows(r, n)
		if err != nil {
			return err
		}
		s.s = added(s.s, x, n)
	}
	var norms []float64
	s.prepare(s.s, &norms)
	s.cut(norms)
	return nil
}

// added returns all sums of a row of a and a row of b.
func added(a, b []float32, n int) []float32 {
	sums := make([]float32, 0, len(a)/n*len(b))
	for i := 0; i < len(a); i += n {
		for j := 0; j < len(b); j += n {
			for k := range n {
				sums = append(sums, a[i+k]+b[j+k])
			}
		}
	}
	return sums
}

// cut sorts the sums by their distance from the middle and makes groups of them: each of those that are
// twice as far out as most is one of its own.
func (s *Set) cut(norms []float64) {
	n, count := s.channels, len(norms)
	mid, far := middle(s.s, n), make([]float64, count)
	for i := range far {
		for k, v := range s.s[i*n : (i+1)*n] {
			far[i] += (float64(v) - mid[k]) * (float64(v) - mid[k])
		}
	}
	order := sequence(count)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(far[b], far[a]) })
	arrange(s.s, order, n)
	alone := 0
	for alone < min(maxGroups-1, count-1) && far[order[alone]] > 4*far[order[count/2]] {
		alone++
	}
	for i := range alone {
		s.groups = append(s.groups, group{from: i, to: i + 1, norm: norms[order[i]]})
	}
	most := 0.0
	for _, i := range order[alone:] {
		most = max(most, norms[i])
	}
	s.groups = append(s.groups, group{from: alone, to: count, norm: most})
}

// largest is what products in float32 are kept below, far from the largest number.
const largest = 1e18

// reach is the greatest norm of the vectors that images are taken of, before they are centered.
func (s *Set) reach() float64 {
	most := 0.0
	for _, g := range s.groups {
		most = max(most, g.reach)
	}
	return most
}

// main is the group of most of the sums.
func (s *Set) main() *group { return &s.groups[len(s.groups)-1] }

func sequence(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// arrange puts rows into another order, where they are: a large table is not held twice.
func arrange(x []float32, order []int, n int) {
	row, done := make([]float32, n), make([]bool, len(order))
	for start := range order {
		if done[start] {
			continue
		}
		copy(row, x[start*n:(start+1)*n])
		at := start
		for ; order[at] != start; at = order[at] {
			copy(x[at*n:(at+1)*n], x[order[at]*n:(order[at]+1)*n])
			done[at] = true
		}
		copy(x[at*n:(at+1)*n], row)
		done[at] = true
	}
}

// middle is the mean of rows.
func middle(x []float32, w int) []float64 {
	mid := make([]float64, w)
	for i := 0; i < len(x); i += w {
		for k, v := range x[i : i+w] {
			mid[k] += float64(v)
		}
	}
	for k := range mid {
		mid[k] /= float64(len(x) / w)
	}
	return mid
}

// blockRows is how many words are multiplied at a time: their products stay in the cache.
const blockRows = 256

// span bounds ρ for each word and each group.
func (s *Set) span() error {
	n, words, sums := s.channels, s.Words(), s.sums()
	s.right = kern.Pack(kern.Rows(s.s, n).Transpose(), n, sums)
	s.square = make([]float32, sums)
	for i := range s.square {
		s.square[i] = float32(squares(s.s[i*n : (i+1)*n]))
	}
	dots := make([]float32, blockRows*sums)
	for from := 0; from < words; from += blockRows {
		m := min(blockRows, words-from)
		s.pool.GemmPacked(dots, sums, kern.Rows(s.x[from*n:], n), s.right, m, false)
		for i := range m {
			if !s.spanWord(from+i, dots[i*sums:(i+1)*sums]) {
				return errInfinite
			}
		}
	}
	return nil
}

// spanWord takes the products of a word with all sums.
func (s *Set) spanWord(w int, dots []float32) bool {
	n := s.channels
	own := norm(s.x[w*n : (w+1)*n])
	for g := range s.groups {
		p := &s.groups[g]
		slack := rounding(n) * (s.length[w] + p.norm) * (s.length[w] + p.norm)
		hi := s.norm.factor(own*own + float64(least(dots[p.from:p.to], s.square[p.from:p.to])) - slack)
		if slack == 0 { // a row of zeros stays one
			hi = 0
		}
		if !(hi < math.Inf(1)) || !(slack < math.Inf(1)) {
			return false
		}
		p.hi = append(p.hi, hi)
		p.reach, p.top = max(p.reach, (s.length[w]+p.norm)*hi), max(p.top, hi)
	}
	return true
}

// rows returns some words.
func (s *Set) rows(words []int) []float32 {
	x := make([]float32, 0, len(words)*s.channels)
	for _, i := range words {
		x = append(x, s.x[i*s.channels:(i+1)*s.channels]...)
	}
	return x
}

// factors bounds ρ of some words, whose rows are given, with every sum.
func (s *Set) factors(words []int, x []float32) []float64 {
	n, sums := s.channels, s.sums()
	dots, list := make([]float32, len(words)*sums), make([]float64, len(words)*sums)
	s.pool.GemmPacked(dots, sums, kern.Rows(x, n), s.right, len(words), false)
	for i, word := range words {
		own := squares(x[i*n : (i+1)*n])
		for _, g := range s.groups {
			both := s.length[word] + g.norm
			for k := g.from; k < g.to; k++ {
				at := i*sums + k
				square := own + 2*float64(dots[at]) + float64(s.square[k])
				list[at] = min(s.norm.factor(square-rounding(n)*both*both), g.hi[word])
			}
		}
	}
	return list
}

// least returns the least 2x + y. One that is NaN is passed on.
func least(x, y []float32) float32 {
	lo := float32(math.Inf(1))
	y = y[:len(x)]
	for i, v := range x {
		lo = min(lo, 2*v+y[i])
	}
	return lo
}

// factor bounds ρ of a vector with a squared norm; it falls as that grows.
func (m Norm) factor(square float64) float64 {
	if m.Coef == 0 {
		return 1
	}
	return 1 / math.Sqrt(m.Coef*max(square, 0)+m.Eps)
}

// sort puts the words with the greatest ρ first, so that neighbours have about the same.
func (s *Set) sort() {
	p := s.main()
	s.order = sequence(s.Words())
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(p.hi[b], p.hi[a]) })
	arrange(s.x, s.order, s.channels)
	s.length = picked(s.length, s.order)
	for g := range s.groups {
		s.groups[g].hi = picked(s.groups[g].hi, s.order)
	}
}

func picked(x []float64, order []int) []float64 {
	y := make([]float64, len(order))
	for i, k := range order {
		y[i] = x[k]
	}
	return y
}
