package rangeprop

import (
	"math"
	"math/rand"
	"runtime"
	"slices"
	"testing"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
)

// made is what all gatherers make of a matrix with rows for the elements of bounds.
type made struct {
	v       *Val
	dots    *dots
	moments *moments
	mapping *mapping
}

func madeOf(t *testing.T, w *graph.Tensor, bounds *Val, rows, cols int, flip bool, all func(list ...gatherer) error) made {
	t.Helper()
	rng := rand.New(rand.NewSource(9))
	x := &ball{center: make([]float64, rows), groups: 1, diag: make([]float64, rows)}
	for i := range x.center {
		x.center[i], x.diag[i] = rng.NormFloat64(), rng.Float64()
	}
	g := made{dots: newDots(cols, false), mapping: newMapping(x, rows, cols, flip, nil)}
	m := (&call{n: &graph.Node{Inputs: []*graph.Value{nil}}}).productOf(&moments{[]int{rows}, x.center, x.diag}, rows, cols, flip)
	s := newScan(w)
	if err := all(s, g.dots.gatherer(bounds.lo, bounds.hi, flip), m, g.mapping); err != nil {
		t.Fatal(err)
	}
	g.v, g.moments = s.finish(), m.moments()
	return g
}

func (g made) all() []float64 {
	return slices.Concat(g.v.lo, g.v.hi, []float64{g.v.tiny}, g.dots.lo, g.dots.hi, g.dots.total, g.moments.mean, g.moments.vari,
		g.mapping.center, g.mapping.widest, g.mapping.m.squares)
}

// TestGather: sections give what one element after the other gives, but for the roundings of sums, and
// the same bits on any number of processors; also where a row is longer than what is read at once.
func TestGather(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, size := range [][2]int{{700, 1600}, {70, 33000}} {
		for _, flip := range []bool{false, true} {
			testGather(t, size[0], size[1], flip)
		}
	}
}

func testGather(t *testing.T, rows, cols int, flip bool) {
	t.Helper()
	n, k := rows, cols
	if flip {
		n, k = cols, rows
	}
	rng := rand.New(rand.NewSource(5))
	w := matrixOf(rng, rows, cols, 0.02)
	lo, hi, _, _ := boundsOf(rng, n, 1, 0)
	bounds := &Val{lo: lo, hi: hi}
	want := madeOf(t, w, bounds, n, k, flip, func(list ...gatherer) error {
		return streamRows(w, cols, visitors(list)...)
	})
	for _, c := range []*graph.Tensor{w, w.Converted(graph.Float16, false).Converted(graph.Float, false)} {
		var first []float64
		for _, procs := range []int{1, 3} {
			runtime.GOMAXPROCS(procs)
			got := madeOf(t, c, bounds, n, k, flip, func(list ...gatherer) error {
				return NewMemo(numfmt.FP16).gather(c, cols, list...)
			}).all()
			if first == nil {
				first = got
			}
			if !slices.Equal(got, first) {
				t.Errorf("%d × %d, flipped %v: %d processors give other bits", rows, cols, flip, procs)
			}
		}
		if c == w {
			nearAll(t, first, want.all())
		}
	}
}

func nearAll(t *testing.T, got, want []float64) {
	t.Helper()
	for i, g := range got {
		if math.Abs(g-want[i]) > 1e-11*(1+math.Abs(want[i])) {
			t.Fatalf("number %d is %v, want %v", i, g, want[i])
		}
	}
}

// TestGatherSpecial: NaN has a flag of its own in sections, too, and columns of nothing else have
// bounds.
func TestGatherSpecial(t *testing.T) {
	const rows, cols = 1200, 1000
	x := make([]float32, rows*cols)
	for i := range x {
		switch x[i] = float32(i%7) + 1; {
		case i%cols == 3:
			x[i] = float32(math.NaN())
		case i == 5000:
			x[i] = float32(math.Inf(1))
		}
	}
	for _, w := range []*graph.Tensor{graph.FloatTensor("w", []int64{rows, cols}, x...), graph.FloatTensor("v", []int64{rows, cols, 1}, x...)} {
		v := NewMemo(numfmt.FP16).read(w)
		if !v.nan || !v.posInf || v.negInf || !v.integer || v.Hull() != (Range{0, math.Inf(1)}) {
			t.Errorf("%s: %v, NaN %v, infinities %v %v, integer %v", w.Name, v.Hull(), v.nan, v.posInf, v.negInf, v.integer)
		}
	}
}
