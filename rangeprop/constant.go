package rangeprop

import (
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
)

// constant returns the bounds of a constant: its elements while they are few, else their least and
// greatest along the feature axis. The elements are streamed and the result is kept.
func (p *pass) constant(t *graph.Tensor) *Val {
	if v := p.memo.constant(t); v != nil {
		return v
	}
	return p.memo.keep(t, p.memo.read(t))
}

func (m *Memo) read(t *graph.Tensor) *Val {
	s := newScan(t)
	if s == nil || m.stream(t, s.row, s.add) != nil {
		return anything(nil).constantly() // the loader reports it where it matters
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
	want  int // elements in all
	small bool
	row   int // length of the rows that the stream comes in
	step  int // elements between neighbours along that axis
	least float64
}

// newScan returns nil for elements that are no real numbers.
func newScan(t *graph.Tensor) *scan {
	switch t.Elem {
	case graph.String, graph.Complex64, graph.Complex128, graph.Undefined:
		return nil
	}
	dims := make([]int, len(t.Dims))
	for i, d := range t.Dims {
		dims[i] = int(d)
	}
	s := &scan{v: Val{basis: Constant, integer: true}, want: size(dims), least: math.Inf(1), step: 1}
	if s.small = countUpTo(dims, maxKept) <= maxKept; s.small {
		s.v.dims = dims
		s.v.lo = make([]float64, 0, s.want)
		s.row = max(s.want, 1)
		return s
	}
	s.channels(dims)
	return s
}

// channels lays the bounds out along the feature axis.
func (s *scan) channels(dims []int) {
	width := 1
	s.v.dims = pad(nil, len(dims))
	if f := featureAxis(len(dims)); layout(dims)[f] {
		s.v.dims[f], width = dims[f], dims[f]
		s.step = size(dims[f+1:])
	}
	if s.row = width * s.step; width == 1 {
		s.row = dims[len(dims)-1]
		s.step = s.row
	}
	s.v.lo, s.v.hi = make([]float64, width), make([]float64, width)
	for i := range s.v.lo {
		s.v.lo[i], s.v.hi[i] = math.Inf(1), math.Inf(-1)
	}
}

// add takes the elements of a row from one on.
func (s *scan) add(_, from int, x []float64) {
	s.n += len(x)
	s.kinds(x)
	if s.v.nan {
		x = withoutNaN(x)
	}
	switch {
	case s.small:
		s.v.lo = append(s.v.lo, x...)
	case s.step == 1:
		engine().Extremes(s.v.lo[from:from+len(x)], s.v.hi[from:from+len(x)], x)
	default:
		for len(x) > 0 {
			i, n := from/s.step, min(len(x), s.step-from%s.step)
			s.v.lo[i], s.v.hi[i] = extremesOf(s.v.lo[i], s.v.hi[i], x[:n])
			from, x = from+n, x[n:]
		}
	}
}

// kinds notes the least magnitude, and whether all elements are integers and one is NaN.
func (s *scan) kinds(x []float64) {
	least, nan := engine().Least(s.least, x)
	s.least, s.v.nan = least, s.v.nan || nan
	for i := 0; i < len(x) && s.v.integer; i++ {
		s.v.integer = x[i] == math.Trunc(x[i]) || x[i] != x[i]
	}
}

// withoutNaN puts 0 in the place of NaN, which has a flag of its own.
func withoutNaN(x []float64) []float64 {
	y := slices.Clone(x)
	for i, e := range y {
		if e != e {
			y[i] = 0
		}
	}
	return y
}

func extremesOf(lo, hi float64, x []float64) (float64, float64) {
	for _, e := range x {
		if e < lo {
			lo = e
		}
		if e > hi {
			hi = e
		}
	}
	return lo, hi
}

func (s *scan) finish() *Val {
	v := s.v
	if s.n != s.want {
		return anything(nil).constantly()
	}
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
