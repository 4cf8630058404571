package witness

import (
	"context"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
)

// absorption is what runs in which a goal's harm was there showed of the outputs.
type absorption struct {
	tries  int
	broken bool               // an output was not finite, or held another whole number
	worst  map[string]float64 // the largest error of each output
}

// plenty is the number of runs with right outputs that ends a search for a wrong one.
const plenty = 6 * Enough

// notes compares outputs that a run with the harm gave with those of FP32.
func (a *absorption) notes(want, got map[string]*refeval.Value) {
	a.tries++
	a.broken = a.broken || !sameIntegers(want, got)
	for name, w := range want {
		g := got[name]
		if g == nil {
			continue
		}
		x, y := w.Tensors(), g.Tensors()
		a.broken = a.broken || len(x) != len(y)
		for i := range min(len(x), len(y)) {
			diff, finite := distance(x[i], y[i])
			a.broken = a.broken || !finite
			a.worst[name] = math.Max(a.worst[name], diff)
		}
	}
}

// right tells whether the outputs were right in every run, and the runs enough to believe it. What is
// lost is measured against the outputs of all runs: 0 for 1e-8 is right beside an ordinary 1.
func (a *absorption) right(scale map[string]float64) bool {
	if a == nil || a.broken || a.tries < Enough {
		return false
	}
	for name, diff := range a.worst {
		if diff > closeEnough*scale[name] {
			return false
		}
	}
	return true
}

// absorbing tells whether a goal asks what outputs take in: numbers just small enough to do the harm count
// as well as those at the ends of the ranges.
func (f *finder) absorbing() bool {
	return slices.ContainsFunc(f.hunts, func(h *hunt) bool { return h.Absorb })
}

// absorbs notes what becomes of outputs in a run that shows a goal's harm: of those of the run, or, where
// something else spoils them, of those with the values of the goal alone held low.
func (f *finder) absorbs(ctx context.Context, h *hunt, in Input, want, got map[string]*refeval.Value) {
	if h.absorbed == nil {
		h.absorbed = &absorption{worst: map[string]float64{}}
	}
	if allFinite(want) && (!same(want, got) || !sameIntegers(want, got)) {
		if got = f.runAlone(ctx, h, in); got == nil {
			return
		}
	}
	h.absorbed.notes(want, got)
}

// runAlone returns the outputs with all values held wide but those of a goal and what they are computed
// from; nil where that cannot be run, or was run often enough.
func (f *finder) runAlone(ctx context.Context, h *hunt, in Input) map[string]*refeval.Value {
	if f.opt.Target == numfmt.Invalid {
		return nil
	}
	if h.alone == nil {
		near := h.near()
		o := f.opt.lowered(f.free, f.spend, nil)
		keep := o.Keep
		o.Keep = func(v *graph.Value) bool { return keep(v) || !slices.Contains(near, v) }
		h.alone = planSolo(f.m, o)
	}
	if h.alone.runs++; h.alone.runner == nil || h.alone.runs > maxBlamed {
		return nil
	}
	got, err := h.alone.runner.Run(ctx, in)
	if err != nil {
		return nil
	}
	return got
}
