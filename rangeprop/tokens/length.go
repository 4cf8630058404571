package tokens

import (
	"cmp"
	"math"
	"slices"

	"github.com/amplint/amplint/refeval/kern"
)

// maxPairs is for how many words each sum of small rows is looked at with its own ρ, chunkWords how many of
// them at a time.
const (
	maxPairs   = 512
	chunkWords = 32
)

// near is how close to the greatest length of the pairs looked at the bound of all others may stay.
const near = 1.05

// tiny is more than a root of differences in float64 is off by, relative to what they are of.
const tiny = 1e-7

// LengthWork is about how many products are multiplied and added for the length of an image.
func (s *Set) LengthWork(width int) float64 {
	words, sums, channels := float64(s.Words()), float64(s.sums()), float64(s.channels)
	return words*float64(width)*(channels+sums) + math.Min(maxPairs, words)*sums*(channels+float64(width))
}

// Length bounds ‖x·A + b‖ over all tokens x. It is infinite where nothing can be said.
//
// Each word is first put together with every sum under the greatest ρ that it has with any of them; in the
// order of that, words are then taken with the ρ of each pair, until no other can be much longer than what was
// found.
func (s *Set) Length(m *Image) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open() != nil || !(norm(m.A)*s.reach() < largest) || !(length(m.B) < largest) {
		return math.Inf(1)
	}
	return remembered(s, key([]int{0, m.width()}, m.A, m.B), func() float64 { return s.longest(m) })
}

func (s *Set) longest(m *Image) float64 {
	l := newLengths(s, m)
	bounds := l.coarse()
	order := sequence(len(bounds))
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(bounds[b], bounds[a]), cmp.Compare(a, b))
	})
	if top := bounds[order[0]]; s.sums() == 1 || math.IsNaN(bounds[order[len(order)-1]]) {
		return top
	}
	best := 0.0
	for at := 0; at < len(order); at += chunkWords {
		if next := bounds[order[at]]; next <= near*best || at >= maxPairs {
			return math.Max(best, next)
		}
		best = math.Max(best, l.pairs(order[at:min(at+chunkWords, len(order))]))
	}
	return best
}

// lengths bounds the lengths of one image.
type lengths struct {
	s        *Set
	m        *Image
	right    *kern.Packed // A
	across   *kern.Packed // images of the sums of small rows, transposed
	scale    float64      // a bound of the norm of A
	bias     float64      // ‖b‖
	square   []float32    // ‖s·A‖² of the sums
	against  []float32    // (s·A)·b
	farthest float64      // the greatest square

	y, cross []float32
}

func newLengths(s *Set, m *Image) *lengths {
	w, sums := m.width(), s.sums()
	l := &lengths{s: s, m: m, right: kern.Pack(kern.Rows(m.A, w), s.channels, w), scale: norm(m.A), bias: length(m.B)}
	e := make([]float32, sums*w)
	s.pool.GemmPacked(e, w, kern.Rows(s.s, s.channels), l.right, sums, false)
	l.across = kern.Pack(kern.Rows(e, w).Transpose(), w, sums)
	for i := 0; i < len(e); i += w {
		l.square = append(l.square, float32(squares(e[i:i+w])))
		l.against = append(l.against, float32(dot(e[i:i+w], m.B)))
		l.farthest = math.Max(l.farthest, squares(e[i:i+w]))
	}
	return l
}

// images multiplies words with the image, and those images with those of all sums. They hold until it is
// called again.
func (l *lengths) images(x []float32) (y, cross []float32) {
	n, w, sums := l.s.channels, l.m.width(), l.s.sums()
	words := len(x) / n
	if len(l.y) < words*w {
		l.y, l.cross = make([]float32, words*w), make([]float32, words*sums)
	}
	y, cross = l.y[:words*w], l.cross[:words*sums]
	l.s.pool.GemmPacked(y, w, kern.Rows(x, n), l.right, words, false)
	l.s.pool.GemmPacked(cross, sums, kern.Rows(y, w), l.across, words, false)
	return y, cross
}

// coarse bounds the length of every word with any sum.
func (l *lengths) coarse() []float64 {
	s, w, sums := l.s, l.m.width(), l.s.sums()
	bounds := make([]float64, s.Words())
	for from := 0; from < len(bounds); from += blockRows {
		m := min(blockRows, len(bounds)-from)
		y, cross := l.images(s.x[from*s.channels : (from+m)*s.channels])
		for i := range m {
			p := l.pair(from+i, y[i*w:(i+1)*w])
			for _, g := range s.groups {
				f := g.hi[from+i]
				far := widest(float32(f), cross[i*sums+g.from:i*sums+g.to], l.square[g.from:g.to], l.against[g.from:g.to])
				bounds[from+i] = math.Max(bounds[from+i], p.bound(&g, f, float64(far)))
			}
		}
	}
	return bounds
}

// widest returns the greatest f·(2x + square) + 2·against. One that is NaN is passed on.
func widest(f float32, x, square, against []float32) float32 {
	most := float32(math.Inf(-1))
	square, against = square[:len(x)], against[:len(x)]
	for i, v := range x {
		most = max(most, f*(2*v+square[i])+2*against[i])
	}
	return most
}

// pairs bounds the lengths of some words with every sum: the greatest of them.
func (l *lengths) pairs(words []int) float64 {
	s, w, sums := l.s, l.m.width(), l.s.sums()
	x := s.rows(words)
	y, cross := l.images(x)
	factors := s.factors(words, x)
	most := 0.0
	for i, word := range words {
		p := l.pair(word, y[i*w:(i+1)*w])
		for _, g := range s.groups {
			for k := g.from; k < g.to; k++ {
				f := factors[i*sums+k]
				far := f*(2*float64(cross[i*sums+k])+float64(l.square[k])) + 2*float64(l.against[k])
				most = math.Max(most, p.bound(&g, f, far))
			}
		}
	}
	return most
}

// pair is a word that is put together with sums of small rows. With y and z for the images of both,
//
//	‖(y + z)·ρ + b‖² = ρ·(ρ·(2y·z + ‖z‖²) + 2z·b) + ρ²·‖y‖² + 2ρ·y·b + ‖b‖²
type pair struct {
	l       *lengths
	length  float64 // of the word before it was centered
	image   float64 // ‖y‖²
	against float64 // y·b
	norm    float64 // the greatest of y and z, whichever sum it is, added up
}

func (l *lengths) pair(word int, y []float32) pair {
	p := pair{l: l, length: l.s.length[word], image: squares(y), against: dot(y, l.m.B)}
	p.norm = math.Sqrt(p.image) + math.Sqrt(l.farthest)
	return p
}

// bound is that of the length with a sum of a group, for a bound f of ρ and what is in the parentheses. The
// length is convex in ρ, so that it is the greatest at one of the ends: f, or 0, which leaves b alone.
func (p *pair) bound(g *group, f, far float64) float64 {
	l, e := p.l, rounding(p.l.s.channels)
	square := f*far + f*f*p.image + 2*f*p.against + l.bias*l.bias
	square = math.Max(square, 0) + e*f*p.norm*(f*p.norm+2*l.bias)
	return math.Max(math.Sqrt(square), l.bias) + e*l.scale*(p.length+g.norm)*f + tiny*(p.norm*f+l.bias)
}
