package refeval

import (
	"slices"
	"testing"

	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval/kern"
)

// TestFactor multiplies by weights that are laid out once, however sums run, as by weights as they are.
func TestFactor(t *testing.T) {
	const n, k, m = 37, 300, 2
	w, x := make([]float32, n*k), make([]float32, m*k)
	for i := range w {
		w[i] = float32(i*7919%201-100) / 64
	}
	for i := range x {
		x[i] = float32(i*104729%101-50) / 32
	}
	for _, a := range []accum{{}, {format: numfmt.FP16}, {format: numfmt.FP16, block: blockLen}} {
		c := &Call{acc: a, x: &run{r: &Runner{engine: kern.New(1)}}}
		want, got := make([]float32, m*n), make([]float32, m*n)
		timesTurned(c, want, x, w, m, n, k)
		f := newFactor(c, w, n, k, 10)
		if f.packed == nil && f.rows == nil {
			t.Errorf("%v: nothing is laid out", a)
		}
		if f.times(got, x, m); !slices.Equal(got, want) {
			t.Errorf("%v: the products differ", a)
		}
	}
}
