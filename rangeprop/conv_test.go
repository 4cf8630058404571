package rangeprop

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestRowsOfKernels holds the sums that take kernels row by row, in pieces, against those that take them one
// weight at a time.
func TestRowsOfKernels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group, ins, taps, outs := rapid.IntRange(1, 3).Draw(t, "group"), rapid.IntRange(1, 4).Draw(t, "ins"), rapid.IntRange(1, 5).Draw(t, "taps"), rapid.IntRange(1, 3).Draw(t, "outs")
		bound := rapid.OneOf(rapid.Float64Range(-8, 8), rapid.Just(0.0))
		if rapid.Bool().Draw(t, "open") {
			bound = rapid.OneOf(bound, rapid.Just(math.Inf(1)))
		}
		lo, hi := make([]float64, group*ins), make([]float64, group*ins)
		for i := range lo {
			lo[i], hi[i] = -math.Abs(bound.Draw(t, "lo")), math.Abs(bound.Draw(t, "hi"))
		}
		got, want := newDots(group*outs, false), newDots(group*outs, false)
		visit := got.filters(lo, hi, ins, taps, outs)
		for o := range group * outs {
			w := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(-2, 2), rapid.Just(0.0)), ins*taps, ins*taps).Draw(t, "w")
			cut := rapid.IntRange(0, len(w)).Draw(t, "cut")
			visit(o, 0, w[:cut])
			visit(o, cut, w[cut:])
			for i, e := range w {
				in := o/outs*ins + i/taps
				if e != 0 {
					want.add(o, e, lo[in], hi[in])
				}
			}
		}
		a, b := got.val(float64(ins*taps), 0, math.Inf(1)), want.val(float64(ins*taps), 0, math.Inf(1))
		for o := range a.lo {
			if !near(a.lo[o], b.lo[o]) || !near(a.hi[o], b.hi[o]) {
				t.Fatalf("output %d is in [%g, %g], weight by weight in [%g, %g]", o, a.lo[o], a.hi[o], b.lo[o], b.hi[o])
			}
		}
	})
}

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9 }

// TestMomentsOfKernelRows holds the moments of whole rows against those of single weights.
func TestMomentsOfKernelRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group, ins, taps, outs := rapid.IntRange(1, 3).Draw(t, "group"), rapid.IntRange(1, 4).Draw(t, "ins"), rapid.IntRange(1, 5).Draw(t, "taps"), rapid.IntRange(1, 3).Draw(t, "outs")
		real := func(n int, name string) []float64 {
			return rapid.SliceOfN(rapid.Float64Range(0, 4), n, n).Draw(t, name)
		}
		make := func() *kernels {
			k := &kernels{kernel: taps, minor: ins, perGroup: outs, places: 1, inPlaces: 1, sums: newSums(group*outs, common)}
			for range taps {
				k.meets = append(k.meets, []meet{{share: 1}})
			}
			return k
		}
		whole, single := make(), make()
		whole.meets[0], single.meets[0] = nil, nil
		whole.x = &moments{mean: real(group*ins, "mean"), vari: real(group*ins, "vari")}
		if single.x = whole.x; rapid.Bool().Draw(t, "apart") {
			whole.vari, single.vari = real(group*outs, "before"), nil
			single.vari = append(single.vari, whole.vari...)
		}
		terms := whole.terms()
		for o := range group * outs {
			w := real(ins*taps, "w")
			cut := rapid.IntRange(0, len(w)).Draw(t, "cut")
			whole.row(terms, o, 0, w[:cut])
			whole.row(terms, o, cut, w[cut:])
			for i, e := range w {
				single.tap(o*ins*taps+i, e)
			}
		}
		a, b := whole.sums.moments(), single.sums.moments()
		for o := range a.mean {
			if !near(a.mean[o], b.mean[o]) || !near(a.vari[o], b.vari[o]) || whole.vari != nil && !near(whole.vari[o], single.vari[o]) {
				t.Fatalf("output %d has mean %g and variance %g, weight by weight %g and %g", o, a.mean[o], a.vari[o], b.mean[o], b.vari[o])
			}
		}
	})
}
