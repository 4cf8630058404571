package rangeprop

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

// norms keeps what was found out about large matrices, by their elements: layers that share their weights map alike,
// and so do the analyses of one model under other ranges or formats. To tell a matrix takes a hundredth of what its
// norms take. It may be used by several goroutines, and what it gives depends on the matrix alone.
type norms struct {
	mu    sync.Mutex
	known map[normKey]*lead
}

// normKey tells matrices apart, and what is asked of them.
type normKey struct {
	rows, cols, squarings int
	elements              [sha256.Size]byte
}

// wholly stands for the number of squarings where the matrix is not split, together where it is multiplied with another.
const (
	wholly   = -1
	together = -2
)

func newNorms() *norms { return &norms{known: map[normKey]*lead{}} }

// leastKept is how many multiplications a product takes of a matrix with itself that is worth to be told again.
const leastKept = 1 << 24

// split returns what compute gives for the matrix, or gave for one of the same elements.
func (s *norms) split(m *matrix, squarings int, compute func() *lead) *lead {
	if s == nil || m.rows*m.cols*min(m.rows, m.cols) < leastKept {
		return compute()
	}
	return s.kept(normKey{m.rows, m.cols, squarings, digestOf(m.a)}, compute)
}

// product returns the norm of the product of one matrix, turned over, with another: what compute gives, or gave for
// two of the same elements.
func (s *norms) product(m, w *matrix, compute func() float64) float64 {
	if s == nil {
		return compute()
	}
	a, b := digestOf(m.a), digestOf(w.a)
	both := sha256.Sum256(append(a[:], b[:]...))
	return s.kept(normKey{m.rows, m.cols, together, both}, func() *lead { return &lead{whole: compute()} }).whole
}

// kept returns what compute gives, or gave for the same key.
func (s *norms) kept(key normKey, compute func() *lead) *lead {
	s.mu.Lock()
	l := s.known[key]
	s.mu.Unlock()
	if l != nil {
		return l
	}
	l = compute()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[key] = l
	return l
}

// digestOf tells lists of numbers apart.
func digestOf(a []float32) [sha256.Size]byte {
	h := sha256.New()
	buf := make([]byte, 0, 1<<14)
	for part := range slices.Chunk(a, cap(buf)/4) {
		buf = buf[:0]
		for _, x := range part {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		h.Write(buf)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
