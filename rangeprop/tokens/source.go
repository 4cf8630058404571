package tokens

import (
	"crypto/sha256"
	"fmt"
	"math"
	"sync"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval/kern"
)

// Rows are consecutive rows of a constant, whose last dimension holds the channels, times a factor.
type Rows struct {
	Table    *graph.Tensor
	From, To int // rows, counted over all other dimensions
	Factor   float64
}

// Count returns how many rows there are.
func (r Rows) Count() int { return r.To - r.From }

// Norm is what the sum of the rows is divided by: √(Coef·‖x‖² + Eps), or more. The zero value divides by
// nothing.
type Norm struct {
	Coef   float64 // 1/n for a mean of squares
	Eps    float64 // 0 where what is added is not known
	Center bool    // the mean over the channels is subtracted first
}

// Set is the set of all tokens.
type Set struct {
	words    Rows
	small    []Rows
	norm     Norm
	channels int

	mu      sync.Mutex
	pool    *kern.Engine
	err     error
	spanned bool
	x       []float32    // the words, centered, in the order of their reach; nil while they are not read
	s       []float32    // all sums of small rows, centered, group by group
	square  []float32    // their squared norms
	right   *kern.Packed // they, to multiply words with
	groups  []group
	length  []float64 // norm of each word before it is centered
	order   []int     // places of the words in their table
	known   map[[sha256.Size]byte]any
}

// limits of what is looked at.
const (
	maxSums   = 4096    // of small rows
	maxWords  = 1 << 24 // numbers in the large table: 64 MB
	maxGroups = 8
)

// NewSet returns the set of sums of a row of each table. It is nil where the tables make too many tokens to
// look at, or do not have the channels.
func NewSet(channels int, tables []Rows, norm Norm) *Set {
	s := &Set{channels: channels, norm: norm, pool: engine(), known: map[[sha256.Size]byte]any{}}
	large, sums := -1, 1
	for i, t := range tables {
		if n := len(t.Table.Dims); n == 0 || t.Table.Dims[n-1] != int64(channels) || t.Count() < 1 {
			return nil
		}
		if large < 0 || t.Count() > tables[large].Count() {
			large = i
		}
	}
	for i, t := range tables {
		if i == large {
			s.words = t
			continue
		}
		if s.small = append(s.small, t); t.Count() > maxSums/sums {
			return nil
		}
		sums *= t.Count()
	}
	if large < 0 || channels < 1 || s.words.Count() > maxWords/channels {
		return nil
	}
	return s
}

// Reach returns the greatest (‖e‖ + ‖s‖)·ρ of all tokens, and the greatest ρ: what errors of the rows, as a
// share of them or as a number, come to in tokens. Both are infinite where nothing can be said.
func (s *Set) Reach() (reach, top float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open() != nil {
		return math.Inf(1), math.Inf(1)
	}
	for _, g := range s.groups {
		top = max(top, g.top)
	}
	return s.reach(), top
}

// engine is that of all sets.
var engine = sync.OnceValue(func() *kern.Engine { return kern.New(0) })

// Words returns how many rows the large table has, and sums how many sums there are of the others.
func (s *Set) Words() int { return s.words.Count() }

func (s *Set) sums() int {
	n := 1
	for _, t := range s.small {
		n *= t.Count()
	}
	return n
}

// Work is about how many products are multiplied and added before the first bound.
func (s *Set) Work() float64 {
	return float64(s.Words()) * float64(s.channels) * float64(s.sums())
}

// Release frees the rows, which are read again where they are asked for.
func (s *Set) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.x = nil
}

// open reads the tables where that has not been done.
func (s *Set) open() error {
	if s.err != nil || s.x != nil {
		return s.err
	}
	if s.err = s.read(); s.err != nil {
		s.x = nil
	}
	return s.err
}

func (s *Set) read() error {
	if s.spanned {
		return s.reread()
	}
	if err := s.readSmall(); err != nil {
		return err
	}
	x, err := readRows(s.words, s.channels)
	if err != nil {
		return err
	}
	s.x = x
	s.prepare(x, &s.length)
	if err := s.span(); err != nil {
		return err
	}
	s.sort()
	s.spanned = true
	return nil
}

// reread reads the words once more, in the order that is known.
func (s *Set) reread() error {
	x, err := readRows(s.words, s.channels)
	if err != nil {
		return err
	}
	s.prepare(x, nil)
	arrange(x, s.order, s.channels)
	s.x = x
	return nil
}

// remembered returns what was found for the same question before, or finds it.
func remembered[T any](s *Set, key [sha256.Size]byte, find func() T) T {
	if x, ok := s.known[key]; ok {
		return x.(T)
	}
	x := find()
	s.known[key] = x
	return x
}

// readRows reads rows of a table.
func readRows(r Rows, channels int) ([]float32, error) {
	x := make([]float32, 0, r.Count()*channels)
	at, from, to := 0, r.From*channels, r.To*channels
	err := r.Table.Floats(func(chunk []float32) error {
		a, b := max(from-at, 0), min(to-at, len(chunk))
		if a < b {
			x = append(x, chunk[a:b]...)
		}
		at += len(chunk)
		return nil
	})
	if err == nil && len(x) != r.Count()*channels {
		err = fmt.Errorf("table %q has fewer rows than %d", r.Table.Name, r.To)
	}
	if f := float32(r.Factor); f != 1 {
		for i := range x {
			x[i] *= f
		}
	}
	return x, err
}
