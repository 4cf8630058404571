package graph

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/amplint/amplint/numfmt"
)

// TestSections: every section comes whole and in order, and its end is told after those before it.
func TestSections(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	const width, size, n = 100, 100 * 500, 100*2000 - 37
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i % 1000)
	}
	long := FloatTensor("long", []int64{n}, x...)
	listed := decoded(t, modelBytes(blob(graphName, "g"), sub(graphInitializer, tensorBytes("l", Float, []uint64{n},
		blob(tensorFloatData, string(le32(x...))))))).Graph.Inits()[0].Init
	for name, w := range map[string]*Tensor{"raw": long, "listed": listed, "rounded": long.Converted(Float16, false), "none": FloatTensor("none", []int64{0})} {
		var mu sync.Mutex
		parts, ends := map[int][]float32{}, []int{}
		err := w.Sections(Sections{Size: size, Width: width, Target: numfmt.FP16,
			Begin: func(i int) func(int64, []float32) {
				return func(from int64, chunk []float32) {
					mu.Lock()
					defer mu.Unlock()
					if from != int64(i*size+len(parts[i])) {
						t.Errorf("%s: section %d goes on at %d with %d elements", name, i, from, len(parts[i]))
					}
					parts[i] = append(parts[i], chunk...)
				}
			},
			End: func(i int) {
				mu.Lock()
				defer mu.Unlock()
				ends = append(ends, i)
			}})
		if err != nil {
			t.Fatal(err)
		}
		var all []float32
		for i := range len(parts) {
			all = append(all, parts[i]...)
		}
		want := x[:w.Len()]
		if !slices.Equal(all, want) {
			t.Errorf("%s: %d elements, want %d, or others", name, len(all), len(want))
		}
		if got := fmt.Sprint(ends); len(all) > 0 && got != "[0 1 2 3]" {
			t.Errorf("%s: ends %s", name, got)
		}
		compareCounts(t, w, FloatTensor("want", []int64{w.Len()}, want...))
	}
}

// TestSectionsFail: an error of reading ends all of them.
func TestSectionsFail(t *testing.T) {
	dir := t.TempDir()
	w := &Tensor{Name: "w", Elem: Float, Dims: []int64{1 << 20}, model: &Model{Dir: dir}, External: []Entry{{"location", "missing"}}}
	err := w.Sections(Sections{Size: 1 << 16, Width: 16, Target: numfmt.FP16,
		Begin: func(int) func(int64, []float32) { return func(int64, []float32) {} }, End: func(int) {}})
	if err == nil || w.tally() != nil {
		t.Errorf("error %v", err)
	}
}
