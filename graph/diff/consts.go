package diff

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/amplint/amplint/graph"
)

// consts compares the constants of the file: initializers and what Constant nodes make.
func (r *Result) consts(a, b *graph.Model) error {
	x, y := inits(a), inits(b)
	here, there := byKey(x), byKey(y)
	both, err := comparedAll(x, there)
	if err != nil {
		return err
	}
	for i, v := range x {
		switch c := both[i]; {
		case there[v.Key()] == nil:
			r.Consts = append(r.Consts, Const{Change: Removed, Name: v.Key(), Before: tensor(v).Type().String(), Elements: tensor(v).Len()})
		case c != nil:
			r.Consts = append(r.Consts, *c)
		}
	}
	for _, w := range y {
		if here[w.Key()] == nil {
			r.Consts = append(r.Consts, Const{Change: Added, Name: w.Key(), After: tensor(w).Type().String(), Elements: tensor(w).Len()})
		}
	}
	return nil
}

// comparedAll compares constants with those of their names, as many at a time as there are processors: all weights of
// a model are read for it. It returns what differs, nil for one that is the same or has no other.
func comparedAll(list []*graph.Value, there map[string]*graph.Value) ([]*Const, error) {
	found, errs := make([]*Const, len(list)), make([]error, len(list))
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				v := list[i]
				w := there[v.Key()]
				if w == nil {
					continue
				}
				c, differs, err := compared(v, w)
				if err != nil {
					errs[i] = fmt.Errorf("comparing constant %q: %w", v.Key(), err)
				} else if differs {
					found[i] = &c
				}
			}
		})
	}
	all.Wait()
	return found, cmp.Or(errs...)
}

func inits(m *graph.Model) (list []*graph.Value) {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if tensor(v) != nil {
				list = append(list, v)
			}
		}
	}
	return list
}

// tensor returns what the file holds of a value, nil where it is no constant.
func tensor(v *graph.Value) *graph.Tensor {
	if v.Producer == nil {
		return v.Init
	}
	if a := v.Producer.Attr("value"); isConstant(v.Producer) && a != nil {
		return a.Tensor
	}
	return nil
}

func isConstant(n *graph.Node) bool { return n.OpName() == "Constant" }

func byKey(list []*graph.Value) map[string]*graph.Value {
	m := make(map[string]*graph.Value, len(list))
	for _, v := range list {
		m[v.Key()] = v
	}
	return m
}

func compared(v, w *graph.Value) (c Const, differs bool, err error) {
	t, u := tensor(v), tensor(w)
	c = Const{Change: Changed, Name: v.Key(), Before: t.Type().String(), After: u.Type().String(), Elements: t.Len()}
	if c.Before == c.After && bytes.Equal(sumOf(t), sumOf(u)) {
		return c, false, nil
	}
	if t.Len() != u.Len() || t.Elem == graph.String || u.Elem == graph.String {
		c.Differing = max(t.Len(), u.Len())
		return c, true, nil
	}
	return c, true, c.elements(t, u)
}

// elements compares two tensors of as many elements, chunk by chunk.
func (c *Const) elements(t, u *graph.Tensor) error {
	s := &stream{chunks: make(chan []float32), done: make(chan struct{})}
	go s.run(u)
	defer close(s.done)
	return t.Floats(func(x []float32) error {
		for len(x) > 0 {
			y, ok := s.next(len(x))
			if !ok {
				return s.err
			}
			c.pairs(x[:len(y)], y)
			x = x[len(y):]
		}
		return nil
	})
}

// pairs compares as many elements of each.
func (c *Const) pairs(x, y []float32) {
	for i, x := range x {
		y := y[i]
		if x == y {
			continue
		}
		switch d := math.Abs(float64(x) - float64(y)); {
		case x != x && y != y: // NaN is the same as NaN
			continue
		case y == 0 || !(d <= math.MaxFloat64):
			c.Lost++
		case d > c.Largest:
			c.Largest = d
		}
		c.Differing++
	}
}

// stream hands the elements of a tensor out in order.
type stream struct {
	chunks chan []float32
	done   chan struct{}
	have   []float32
	err    error // set before chunks is closed
}

func (s *stream) run(t *graph.Tensor) {
	defer close(s.chunks)
	s.err = t.Floats(func(chunk []float32) error {
		select {
		case s.chunks <- append([]float32(nil), chunk...):
			return nil
		case <-s.done:
			return fmt.Errorf("stopped")
		}
	})
}

// next returns some elements, at most n.
func (s *stream) next(n int) (x []float32, ok bool) {
	for len(s.have) == 0 {
		if s.have, ok = <-s.chunks; !ok {
			return nil, false
		}
	}
	n = min(n, len(s.have))
	x, s.have = s.have[:n], s.have[n:]
	return x, true
}

// sumOf is a checksum of the elements, nil where they cannot be read.
func sumOf(t *graph.Tensor) []byte {
	h := sha256.New()
	if t.Elem == graph.String {
		list, _ := t.Strings()
		fmt.Fprintf(h, "%q", list)
		return h.Sum(nil)
	}
	if err := t.Raw(func(chunk []byte) error { h.Write(chunk); return nil }); err != nil {
		return nil
	}
	return h.Sum(nil)
}
