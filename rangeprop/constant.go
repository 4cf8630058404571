package rangeprop

import (
	"math"

	"github.com/amplint/amplint/graph"
)

// constant returns the bounds of a constant: its elements while they are few, else their least and
// greatest along the feature axis. The elements are streamed and the result is kept.
func (p *pass) constant(t *graph.Tensor) *Val {
	if v := p.consts[t]; v != nil {
		return v
	}
	v := readConstant(t)
	p.consts[t] = v
	return v
}

func readConstant(t *graph.Tensor) *Val {
	switch t.Elem {
	case graph.String, graph.Complex64, graph.Complex128, graph.Undefined:
		return anything(nil).constantly()
	}
	dims := make([]int, len(t.Dims))
	for i, d := range t.Dims {
		dims[i] = int(d)
	}
	var s scan
	s.start(dims)
	var err error
	if wide(t.Elem) {
		var x []float64
		x, err = t.Float64s()
		for _, c := range x {
			s.add(c)
		}
	} else {
		err = t.Floats(func(chunk []float32) error {
			for _, c := range chunk {
				s.add(float64(c))
			}
			return nil
		})
	}
	if err != nil || s.n != size(dims) { // the loader reports it where it matters
		return anything(nil).constantly()
	}
	return s.finish()
}

// wide tells whether float32 cannot hold the elements.
func wide(e graph.ElemType) bool {
	switch e {
	case graph.Double, graph.Int64, graph.Uint64, graph.Int32, graph.Uint32:
		return true
	}
	return false
}

// scan collects the bounds of a stream of elements.
type scan struct {
	v     Val
	n     int
	small bool
	step  int // elements between neighbours along the kept axis
	width int // length of that axis
	least float64
}

func (s *scan) start(dims []int) {
	s.v = Val{basis: Constant, integer: true}
	s.least = math.Inf(1)
	if s.small = countUpTo(dims, maxKept) <= maxKept; s.small {
		s.v.dims = dims
		s.v.lo = make([]float64, 0, size(dims))
		return
	}
	keep := layout(dims)
	s.v.dims = make([]int, len(dims))
	s.width, s.step = 1, 1
	f := featureAxis(len(dims))
	for i := range dims {
		s.v.dims[i] = 1
	}
	if keep[f] {
		s.v.dims[f], s.width = dims[f], dims[f]
		for _, d := range dims[f+1:] {
			s.step *= d
		}
	}
	s.v.lo, s.v.hi = make([]float64, s.width), make([]float64, s.width)
	for i := range s.v.lo {
		s.v.lo[i], s.v.hi[i] = math.Inf(1), math.Inf(-1)
	}
}

func (s *scan) add(x float64) {
	i := s.n
	s.n++
	if x != x {
		s.v.nan = true
		x = 0
	}
	if s.v.integer && x != math.Trunc(x) {
		s.v.integer = false
	}
	if a := math.Abs(x); a < s.least && a > 0 {
		s.least = a
	}
	if s.small {
		s.v.lo = append(s.v.lo, x)
		return
	}
	if i = i / s.step % s.width; x < s.v.lo[i] {
		s.v.lo[i] = x
	}
	if x > s.v.hi[i] {
		s.v.hi[i] = x
	}
}

func (s *scan) finish() *Val {
	v := s.v
	if s.small {
		v.hi = v.lo
	}
	if !math.IsInf(s.least, 1) {
		v.tiny = s.least
	}
	v.infinities()
	return &v
}

// sparse bounds a sparse initializer: its values and 0.
func (p *pass) sparse(v *graph.Value) *Val {
	if v.Sparse.Values == nil {
		return typed(anything(v), v.Type)
	}
	x := p.constant(v.Sparse.Values).flat().clone()
	x.lo, x.hi = []float64{math.Min(x.lo[0], 0)}, []float64{math.Max(x.hi[0], 0)}
	return x
}
