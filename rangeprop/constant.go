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
	if s == nil || m.gather(t, s.row, s) != nil {
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
	width int // of the axis that bounds are kept along
	step  int // elements between neighbours along that axis
	least float64

	t          *graph.Tensor
	low, high  []float32 // of whole rows, nil until there are some
	unreported bool      // least and NaN of those are to be had from the counts of the tensor
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
	s := &scan{t: t, v: Val{basis: Constant, integer: true}, want: size(dims), least: math.Inf(1), step: 1}
	if s.small = countUpTo(dims, maxKept) <= maxKept; s.small {
		s.v.dims = dims
		s.v.lo = make([]float64, 0, s.want)
		s.row = max(s.want, 1)
		return s
	}
	s.channels(dims)
	s.open()
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
	s.width = width
}

// open makes bounds that hold nothing.
func (s *scan) open() {
	s.v.lo, s.v.hi = make([]float64, s.width), make([]float64, s.width)
	for i := range s.v.lo {
		s.v.lo[i], s.v.hi[i] = math.Inf(1), math.Inf(-1)
	}
}

// add takes the elements of a row from one on.
func (s *scan) add(_, from int, x []float64) {
	if s.v.lo == nil && !s.small {
		s.open()
	}
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

// addRows takes rows that begin and end with the bounds.
func (s *scan) addRows(_, width int, x []float32) bool {
	if s.small || s.step != 1 || width != s.width {
		return false
	}
	if s.low == nil {
		s.low, s.high = make([]float32, width), make([]float32, width)
		for i := range s.low {
			s.low[i], s.high[i] = float32(math.Inf(1)), float32(math.Inf(-1))
		}
	}
	s.n, s.unreported = s.n+len(x), true
	engine().ExtremeRows(s.low, s.high, x)
	for i := 0; i < len(x) && s.v.integer; i++ {
		e := float64(x[i])
		s.v.integer = e == math.Trunc(e) || e != e
	}
	return true
}

// fork is a scan without bounds until it gets parts of rows: most get whole ones.
func (s *scan) fork() gatherer {
	return &scan{t: s.t, v: Val{basis: Constant, integer: true}, small: s.small, width: s.width, step: s.step, least: math.Inf(1)}
}

func (s *scan) join(o gatherer) {
	x := o.(*scan)
	for i, e := range x.v.lo {
		s.v.lo[i], s.v.hi[i] = min(s.v.lo[i], e), max(s.v.hi[i], x.v.hi[i])
	}
	for i, e := range x.low {
		s.v.lo[i], s.v.hi[i] = min(s.v.lo[i], float64(e)), max(s.v.hi[i], float64(x.high[i]))
	}
	s.n, s.least = s.n+x.n, min(s.least, x.least)
	s.v.integer, s.v.nan, s.unreported = s.v.integer && x.v.integer, s.v.nan || x.v.nan, s.unreported || x.unreported
}

// reported asks the counts for what whole rows were not looked at for. Columns of nothing but NaN are
// as those of 0, like all that NaN stands in.
func (s *scan) reported() bool {
	if !s.unreported {
		return true
	}
	c, err := s.t.Counts()
	if err != nil {
		return false
	}
	if least := c.MinMagnitude(); least > 0 {
		s.least = min(s.least, least)
	}
	if s.v.nan = s.v.nan || c.NaNs() > 0; s.v.nan {
		for i, lo := range s.v.lo {
			s.v.lo[i], s.v.hi[i] = min(lo, 0), max(s.v.hi[i], 0)
		}
	}
	return true
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
	if s.n != s.want || !s.reported() {
		return anything(nil).constantly()
	}
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
