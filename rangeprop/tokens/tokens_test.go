package tokens

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/amplint/amplint/graph"
)

// world is a set of tokens, small enough to look at all of them.
type world struct {
	set    *Set
	n      int
	tokens [][]float64
}

// drawn is a table of rows of mean 0.1 and a spread; the second is further out than all others, and with a
// spread of 1 the third is zero.
func drawn(rng *rand.Rand, rows, n int, spread float64) (*graph.Tensor, [][]float64) {
	x, all := make([]float32, rows*n), make([][]float64, rows)
	for i := range rows {
		k := spread * (0.5 + rng.Float64())
		if i == 1 {
			k *= 4
		}
		for j := range n {
			if i != 2 || spread < 1 {
				x[i*n+j] = float32(k*rng.NormFloat64() + 0.1)
			}
			all[i] = append(all[i], float64(x[i*n+j]))
		}
	}
	return graph.FloatTensor("table", []int64{int64(rows), int64(n)}, x...), all
}

// newWorld has tables of so many rows; of the first one some rows are out of reach.
func newWorld(rng *rand.Rand, n int, counts []int, norm Norm) *world {
	w := &world{n: n}
	var tables []Rows
	sums := [][]float64{make([]float64, n)}
	for _, count := range counts {
		spread := 0.2
		if count == slices.Max(counts) {
			spread = 1
		}
		t, rows := drawn(rng, count+2, n, spread)
		r := Rows{Table: t, From: 1, To: count + 1, Factor: 1.5}
		tables = append(tables, r)
		var next [][]float64
		for _, s := range sums {
			for _, row := range rows[r.From:r.To] {
				x := make([]float64, n)
				for j := range x {
					x[j] = s[j] + r.Factor*row[j]
				}
				next = append(next, x)
			}
		}
		sums = next
	}
	for _, x := range sums {
		w.tokens = append(w.tokens, norm.of(x))
	}
	w.set = NewSet(n, tables, norm)
	return w
}

// of normalises a vector.
func (m Norm) of(x []float64) []float64 {
	y, mean, sum := make([]float64, len(x)), 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	if !m.Center {
		mean = 0
	}
	for i, v := range x {
		y[i] = v - mean
		sum += y[i] * y[i]
	}
	f := m.factor(sum)
	if sum == 0 {
		return y
	}
	for i := range y {
		y[i] *= f
	}
	return y
}

func drawImage(rng *rand.Rand, n, w int) *Image {
	m := &Image{A: make([]float32, n*w), B: make([]float64, w)}
	for i := range m.A {
		m.A[i] = float32(rng.NormFloat64())
	}
	for i := range m.B {
		m.B[i] = rng.NormFloat64()
	}
	return m
}

// image multiplies a token.
func (m *Image) image(x []float64) []float64 {
	y := append([]float64{}, m.B...)
	for i, v := range x {
		for k := range y {
			y[k] += v * float64(m.A[i*len(y)+k])
		}
	}
	return y
}

// eachWorld runs a test for sums of one table up to four, under every norm.
func eachWorld(t *testing.T, test func(t *testing.T, rng *rand.Rand, w *world)) {
	norms := map[string]Norm{"none": {}, "rms": {Coef: 1.0 / 20, Eps: 1e-5}, "layer": {Coef: 1.0 / 20, Eps: 1e-5, Center: true}, "length": {Coef: 1}}
	for name, norm := range norms {
		for i, counts := range [][]int{{300}, {300, 9}, {7, 400, 2}, {5, 2, 3, 90}, {700, 1}} {
			t.Run(fmt.Sprint(name, counts), func(t *testing.T) {
				rng := rand.New(rand.NewSource(int64(i)))
				test(t, rng, newWorld(rng, 20, counts, norm))
			})
		}
	}
}

// TestLength: no image is longer than its bound, and the longest is nearly as long.
func TestLength(t *testing.T) {
	eachWorld(t, func(t *testing.T, rng *rand.Rand, w *world) {
		for _, width := range []int{1, 5, 32} {
			m := drawImage(rng, w.n, width)
			most := 0.0
			for _, x := range w.tokens {
				most = math.Max(most, length(m.image(x)))
			}
			if bound := w.set.Length(m); !(bound >= most) || bound > 1.05*most {
				t.Errorf("%d elements: bound %v, the longest is %v", width, bound, most)
			}
		}
	})
}

// TestMean: no mean of tokens, and none of them and 0, reaches further than its bounds, which are reached
// but for what the small tables blur.
func TestMean(t *testing.T) {
	eachWorld(t, func(t *testing.T, rng *rand.Rand, w *world) {
		for _, parts := range []int{1, 3} {
			m := drawImage(rng, w.n, 12)
			o := make([]float32, 12*7)
			for i := range o {
				o[i] = float32(rng.NormFloat64())
			}
			for _, zero := range []bool{false, true} {
				lo, hi := w.set.Mean(m, parts, o, zero)
				least, most := w.farthest(m, parts, o, zero)
				for j := range lo {
					if lo[j] > least[j] || hi[j] < most[j] {
						t.Fatalf("[%v, %v] does not hold [%v, %v]", lo[j], hi[j], least[j], most[j])
					}
					blur := 3.0
					if w.set.sums() == 1 {
						blur = 1.01
					}
					if reach, exact := math.Max(-lo[j], hi[j]), math.Max(-least[j], most[j]); reach > blur*exact {
						t.Errorf("%v, where tokens reach %v", reach, exact)
					}
				}
			}
		}
	})
}

// farthest looks at all tokens, part by part.
func (w *world) farthest(m *Image, parts int, o []float32, zero bool) (least, most []float64) {
	d := m.width() / parts
	n := len(o) / m.width()
	least, most = make([]float64, n), make([]float64, n)
	for h := range parts {
		lo, hi := slices.Repeat([]float64{math.Inf(1)}, n), slices.Repeat([]float64{math.Inf(-1)}, n)
		if zero {
			lo, hi = make([]float64, n), make([]float64, n)
		}
		for _, x := range w.tokens {
			y := m.image(x)[h*d : (h+1)*d]
			for j := range n {
				sum := 0.0
				for k, v := range y {
					sum += v * float64(o[(h*d+k)*n+j])
				}
				lo[j], hi[j] = math.Min(lo[j], sum), math.Max(hi[j], sum)
			}
		}
		for j := range n {
			least[j], most[j] = least[j]+lo[j], most[j]+hi[j]
		}
	}
	return least, most
}

// TestSame: the bounds are the same when the tables were freed in between, in another set, and with
// questions in another order.
func TestSame(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	w := newWorld(rng, 24, []int{500, 12}, Norm{Coef: 1.0 / 24, Eps: 1e-6, Center: true})
	again := NewSet(24, append([]Rows{w.set.words}, w.set.small...), w.set.norm)
	a, b := drawImage(rng, 24, 8), drawImage(rng, 24, 4)
	first, second := w.set.Length(a), w.set.Length(b)
	w.set.Release()
	lo, hi := w.set.Mean(a, 2, b.A[:8*2], false)
	lo2, hi2 := again.Mean(a, 2, b.A[:8*2], false)
	if x, y := again.Length(b), again.Length(a); x != second || y != first || w.set.Length(a) != first {
		t.Errorf("%v and %v, then %v and %v", first, second, y, x)
	}
	for j := range lo {
		if lo[j] != lo2[j] || hi[j] != hi2[j] {
			t.Errorf("[%v, %v], then [%v, %v]", lo[j], hi[j], lo2[j], hi2[j])
		}
	}
	reach, top := w.set.Reach()
	if !(reach >= math.Sqrt(24)*0.9) || !(top > 0) || reach > 100 {
		t.Errorf("reach %v, greatest factor %v", reach, top)
	}
}

// TestNothing: of tables that are not finite nothing is said.
func TestNothing(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for name, first := range map[string]float32{"infinite": float32(math.Inf(1)), "not a number": float32(math.NaN())} {
		x := make([]float32, 16*10)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		for j := range 10 {
			x[j] = first
		}
		s := NewSet(10, []Rows{{Table: graph.FloatTensor("table", []int64{16, 10}, x...), To: 16, Factor: 1}}, Norm{Coef: 0.1})
		m := drawImage(rng, 10, 4)
		if l := s.Length(m); !math.IsInf(l, 1) {
			t.Errorf("%s: length %v", name, l)
		}
		if lo, hi := s.Mean(m, 1, m.A[:8], false); !math.IsInf(lo[0], -1) || !math.IsInf(hi[1], 1) {
			t.Errorf("%s: means %v, %v", name, lo, hi)
		}
	}
}

// TestTooMany: tables that make too many tokens are not looked at, nor those of another length.
func TestTooMany(t *testing.T) {
	table := func(rows, n int64) Rows {
		return Rows{Table: &graph.Tensor{Elem: graph.Float, Dims: []int64{rows, n}}, To: int(rows), Factor: 1}
	}
	for name, tables := range map[string][]Rows{"words": {table(1<<20, 64)}, "sums": {table(9000, 64), table(5000, 64)}, "rows": {table(100, 64), table(10, 32)}, "none": {}} {
		if NewSet(64, tables, Norm{}) != nil {
			t.Errorf("%s: there is a set", name)
		}
	}
	var sets Sets
	ok := []Rows{table(100, 64), table(3, 64)}
	if a := sets.Get(64, ok, Norm{}); a == nil || a != sets.Get(64, ok, Norm{}) || a == sets.Get(64, ok, Norm{Center: true}) {
		t.Error("sets are not told apart by what they are made of")
	}
	if sets.Get(64, []Rows{ok[0], ok[0], ok[0], ok[0], ok[0]}, Norm{}) != nil {
		t.Error("a set of five tables")
	}
	sets.Release()
}
