package witness

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// mode is a way to fill inputs with numbers of their ranges.
type mode uint8

const (
	spread  mode = iota // anywhere
	corners             // each element at the one or the other end
	high                // all at the upper end
	low                 // all at the lower end
	sparse              // most near 0, some at the ends
	rows                // each row at one end
	modes
	zero    // all as near to 0 as they may
	own     // an initializer keeps its values
	decades // anywhere, all magnitudes down to leastDrawn alike
	bell    // about the middle, the range six standard deviations wide
	faint   // anywhere, each row as a whole smaller by some power of two
)

// leastDrawn is the magnitude below which decades draws nothing: FP16 is out of subnormals there.
const leastDrawn = 0x1p-30

// leastFaint is the magnitude of the faintest rows: their squares are 0 in FP16, and they themselves have digits left.
const leastFaint = 0x1p-16

// shaper chooses lengths for the dimensions that a model leaves open.
type shaper struct {
	info  *infer.Info
	meant *infer.Supposition // what operators demand of lengths, nil for nothing
	first int64              // of a leading dimension, which is mostly the batch
	other int64
	sizes map[string]int64
}

// attempts are lengths to try in turn: not every model runs with every length, and sound is longer
// than text.
var attempts = [][2]int64{{2, 16}, {1, 64}, {1, 32}, {1, 8}, {1, 128}, {1, 1}, {1, 1024}, {1, 16384}}

// dims returns the lengths of an input.
func (s *shaper) dims(t graph.Type) ([]int, error) {
	if t.Kind != graph.KindTensor || t.Shape == nil {
		return nil, fmt.Errorf("no tensor of known rank")
	}
	dims := make([]int, len(t.Shape))
	for i, d := range t.Shape {
		if d.Known() {
			dims[i] = int(d.N)
			continue
		}
		dims[i] = int(s.open(i, d))
	}
	return dims, nil
}

func (s *shaper) open(axis int, d graph.Dim) int64 {
	if n, ok := s.sizes[d.Sym]; ok && d.Sym != "" {
		return n
	}
	n := s.other
	if axis == 0 {
		n = s.first
	}
	if s.meant != nil {
		if m := s.meant.Size(d); m > 0 {
			n = m
		}
	}
	if lo, hi := s.info.Bounds(d); hi >= 0 {
		n = min(max(n, lo, 1), hi)
	}
	s.sizes[d.Sym] = n
	return n
}

// Input holds what a run is given by name: inputs, and initializers that may move.
type Input = map[string]*refeval.Value

// slot is one thing that a run is given.
type slot struct {
	v    *graph.Value
	dims []int
	r    rangeprop.Range
	// padding tells that it masks the padding of sequences.
	padding bool
}

// space is what inputs are drawn from.
type space []slot

// newSpace settles the lengths of all inputs. It fails for inputs that it cannot make: strings,
// sequences and, unless anything will do, floats whose range nobody vouches for, and integers of
// which nothing is known: an index or a position near 2^63 is an input, but none that anybody gives.
// Initializers that may move come after the inputs.
func newSpace(m *graph.Model, ranges []rangeprop.InputRange, s *shaper, anything bool, padding func(*graph.Value) bool) (space, error) {
	known := map[*graph.Value]rangeprop.InputRange{}
	for _, r := range ranges {
		known[r.Value] = r
	}
	var list space
	total := int64(0)
	for _, v := range m.Graph.Inputs {
		if v.Init != nil || v.Sparse != nil {
			continue
		}
		r, ok := known[v]
		if !anything && (!ok || !vouched(r)) {
			return nil, fmt.Errorf("input %q has no declared range", v.Name)
		}
		dims, err := s.dims(v.Type)
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", v.Name, err)
		}
		if total += size(dims); total > maxKept {
			return nil, fmt.Errorf("input %q: %v elements are too many", v.Name, dims)
		}
		if fill(v.Type.Elem, []int{}, rangeprop.Range{}, low, nil) == nil {
			return nil, fmt.Errorf("input %q: no values of type %s", v.Name, v.Type.Elem)
		}
		x := slot{v: v, dims: dims, r: modest(v, r, ok)}
		x.padding = padding != nil && x.r == rangeprop.Range{Lo: 0, Hi: 1} && x.v.Type.Elem.IsInt() && padding(v)
		list = append(list, x)
	}
	for _, v := range movable(ranges) {
		if dims, err := s.dims(v.Type); err == nil {
			list = append(list, slot{v: v, dims: dims, r: known[v].Range})
		}
	}
	return list, nil
}

// heavy is how many operations a run takes of a model that is run on one input at a time: two at once would leave
// too little work for what the runs are to show.
const heavy = 5e9

// spaces yields what inputs can be drawn from for each of the attempts; see [newSpace]. Lengths that operators
// demand come first, but a demand may be mistaken.
func spaces(m *graph.Model, info *infer.Info, ranges []rangeprop.InputRange, anything bool, padding func(*graph.Value) bool) iter.Seq2[space, error] {
	return func(yield func(space, error) bool) {
		var before []space
		for _, meant := range []*infer.Supposition{rangeprop.Supposed(info, m.Graph), nil} {
			for _, a := range attempts {
				s, err := newSpace(m, ranges, &shaper{info: info, meant: meant, first: a[0], other: a[1], sizes: map[string]int64{}}, anything, padding)
				if a[0] > 1 && (err != nil || foreseen(m, s.lengths(info)) > heavy) {
					s, err = newSpace(m, ranges, &shaper{info: info, meant: meant, first: 1, other: a[1], sizes: map[string]int64{}}, anything, padding)
				}
				if again := meant == nil; again && (err != nil || slices.ContainsFunc(before, s.same)) {
					continue
				}
				before = append(before, s)
				if !yield(s, err) {
					return
				}
			}
		}
	}
}

// same tells whether inputs of another space have the same lengths.
func (s space) same(t space) bool {
	return slices.EqualFunc(s, t, func(a, b slot) bool { return slices.Equal(a.dims, b.dims) })
}

// lengths returns what the dimensions of values come to for inputs of the space, 0 where that is not known.
func (s space) lengths(info *infer.Info) func(d graph.Dim) int {
	l := info.Suppose()
	for _, x := range s {
		for i, d := range x.v.Type.Shape {
			if !d.Known() {
				l.Let(d, int64(x.dims[i]))
			}
		}
	}
	return func(d graph.Dim) int { return int(max(l.Size(d), 0)) }
}

// vouched tells whether somebody says what the range is.
func vouched(r rangeprop.InputRange) bool {
	if !r.Range.Bounded() || r.Basis == rangeprop.Unknown {
		return false
	}
	return !r.Value.Type.Elem.IsFloat() || r.Derived || r.Basis == rangeprop.Declared || r.Basis == rangeprop.Observed
}

// movable lists the initializers that a range lets move.
func movable(ranges []rangeprop.InputRange) []*graph.Value {
	var list []*graph.Value
	for _, r := range ranges {
		if r.Value.Init != nil && vouched(r) {
			list = append(list, r.Value)
		}
	}
	return list
}

// modest returns the range of an input, cut to ordinary numbers where it has no end.
func modest(v *graph.Value, r rangeprop.InputRange, known bool) rangeprop.Range {
	most := 4.0
	if !v.Type.Elem.IsFloat() {
		most = 1
	}
	out := r.Range
	if !known {
		out = rangeprop.Range{Lo: math.Inf(-1), Hi: math.Inf(1)}
	}
	if math.IsInf(out.Lo, 0) || out.Lo < -1<<53 {
		out.Lo = math.Min(-most, out.Hi)
		if !v.Type.Elem.IsFloat() {
			out.Lo = math.Min(0, out.Hi)
		}
	}
	if math.IsInf(out.Hi, 0) || out.Hi > 1<<53 {
		out.Hi = math.Max(most, out.Lo)
	}
	return out
}

// draw fills all slots, the first first, each in the mode that how gives it.
func (s space) draw(how func(i int) mode, rng *rand.Rand) Input {
	in := Input{}
	for i, x := range s {
		if m := how(i); m != own {
			in[x.v.Name] = refeval.TensorValue(x.fill(m, rng))
		}
	}
	return in
}

// fill makes a tensor for a slot.
func (x *slot) fill(how mode, rng *rand.Rand) *refeval.Tensor {
	t := fill(x.v.Type.Elem, x.dims, x.r, how, rng)
	if x.padding && t != nil && len(t.Dims) > 0 {
		for row := range slices.Chunk(t.I, max(t.Dims[len(t.Dims)-1], 1)) {
			pad(row, how, rng)
		}
	}
	return t
}

// pad makes a row what the mask of a sequence is: ones for its tokens, of which there is one at least,
// and zeros behind them.
func pad(row []int64, how mode, rng *rand.Rand) {
	tokens := 1
	switch how {
	case low, zero:
	case high:
		tokens = len(row)
	default:
		tokens += rng.IntN(len(row))
	}
	for i := range row {
		row[i] = 0
		if i < tokens {
			row[i] = 1
		}
	}
}

// counted returns the mode for a slot whose whole numbers mean something: a mask that hides all, or
// ids that are all the same, are inputs that nobody gives, and outputs for them nobody reads.
func (s space) counted(i int, how mode) mode {
	if !s[i].v.Type.Elem.IsFloat() {
		return spread
	}
	return how
}

// flags tells whether a slot holds nothing but 0 and 1, as masks do.
func (x *slot) flags() bool { return !x.v.Type.Elem.IsFloat() && x.r.Lo >= 0 && x.r.Hi <= 1 }

// uncovered returns the mode for a slot in one of a number of turns: in two of three all flags are
// alike, since masks that hide rows at random make NaN of what they should hide only, and then nothing
// else shows.
func (s space) uncovered(i int, how mode, turn int) mode {
	if turn%3 == 0 || !s[i].flags() {
		return how
	}
	return [...]mode{high, low}[turn%3-1]
}

// fill makes a tensor, nil for a type it has no numbers for.
func fill(e graph.ElemType, dims []int, r rangeprop.Range, how mode, rng *rand.Rand) *refeval.Tensor {
	n, width := 1, 1
	for _, d := range dims {
		n, width = n*d, d
	}
	draw := drawer(r, how, width, rng)
	t := &refeval.Tensor{Elem: e, Dims: dims}
	switch {
	case e == graph.Double:
		t.D = make([]float64, n)
		for i := range t.D {
			t.D[i] = draw(i)
		}
	case e.IsFloat():
		t.F = make([]float32, n)
		f, _ := e.Format()
		for i := range t.F {
			t.F[i] = float32(held(draw(i), f, r))
		}
	case e.IsInt(), e == graph.Bool:
		t.I = make([]int64, n)
		for i := range t.I {
			t.I[i] = int64(math.Round(math.Min(math.Max(draw(i), math.Ceil(r.Lo)), math.Floor(r.Hi))))
		}
	default:
		return nil
	}
	return t
}

// held returns the number of a format that an input of its type holds for x, inside the range where the
// range has one there: what the type rounds to is another input, and no fault of the model.
func held(x float64, f numfmt.Format, r rangeprop.Range) float64 {
	if f == numfmt.Invalid || f == numfmt.FP32 {
		return x
	}
	x = math.Min(math.Max(x, -f.Max()), f.Max())
	y, step := f.Round(x), 0.75*f.Ulp(x)
	if y > r.Hi && f.Round(x-step) >= r.Lo {
		return f.Round(x - step)
	}
	if y < r.Lo && f.Round(x+step) <= r.Hi {
		return f.Round(x + step)
	}
	return y
}

// drawer returns the function that gives element i.
func drawer(r rangeprop.Range, how mode, width int, rng *rand.Rand) func(i int) float64 {
	anywhere := func() float64 { return r.Lo + (r.Hi-r.Lo)*rng.Float64() }
	either := func() float64 {
		if rng.IntN(2) == 0 {
			return r.Lo
		}
		return r.Hi
	}
	row := 0.0
	return func(i int) float64 {
		switch how {
		case corners:
			return either()
		case bell:
			return math.Min(math.Max((r.Lo+r.Hi)/2+rng.NormFloat64()*(r.Hi-r.Lo)/6, r.Lo), r.Hi)
		case zero:
			return math.Min(math.Max(0, r.Lo), r.Hi)
		case high:
			return r.Hi
		case low:
			return r.Lo
		case sparse:
			if rng.IntN(10) == 0 {
				return either()
			}
			return math.Min(math.Max(0, r.Lo), r.Hi)
		case rows:
			if i%max(width, 1) == 0 {
				row = either()
			}
			return row
		case decades:
			return decade(r, rng)
		case faint:
			if i%max(width, 1) == 0 {
				row = math.Pow(leastFaint/max(r.MaxAbs(), leastFaint), rng.Float64())
			}
			return math.Min(math.Max(row*anywhere(), r.Lo), r.Hi)
		}
		return anywhere()
	}
}

// decade draws a number whose magnitude's logarithm is uniform.
func decade(r rangeprop.Range, rng *rand.Rand) float64 {
	most := max(r.MaxAbs(), leastDrawn)
	x := leastDrawn * math.Pow(most/leastDrawn, rng.Float64())
	if r.Hi <= 0 || r.Lo < 0 && rng.IntN(2) == 0 {
		x = -x
	}
	return math.Min(math.Max(x, r.Lo), r.Hi)
}
