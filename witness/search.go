package witness

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/rangeprop"
)

// search tries inputs until every goal is met or nothing is left to try.
func (f *finder) search(ctx context.Context, info *infer.Info, ranges []rangeprop.InputRange) (err error) {
	for i, in := range f.opt.Samples {
		if e := f.try(ctx, in, i); e != nil {
			err = e
		}
	}
	for s, e := range spaces(f.m, info, ranges, true, f.opt.Padding) {
		if f.done() || ctx.Err() != nil {
			return nil
		}
		if f.space, err = s, e; err != nil {
			continue
		}
		rng := rand.New(rand.NewPCG(seed, seed))
		f.most = stretch * f.opt.Work
		if err = f.begin(ctx, rng); err != nil {
			continue // another length may fit
		}
		f.most = max(f.opt.Work, min(tries*f.work, f.most))
		if f.empty(f.open()) {
			continue
		}
		f.draw(ctx, rng)
		f.climb(ctx, rng)
		return nil
	}
	return err
}

// A model of which the work that is allowed is less than a few runs is run a few times all the same: tries is how
// often, in units of the first run, and stretch how many times as much as is allowed that may take.
const (
	tries   = 4
	stretch = 5
)

// begin tries a first input. Integers that are out of place as indices end a run: where 0 does not,
// they stay 0.
func (f *finder) begin(ctx context.Context, rng *rand.Rand) error {
	err := f.try(ctx, f.space.draw(func(int) mode { return spread }, rng), -1)
	if err == nil || ctx.Err() != nil {
		return err
	}
	tame := slices.Clone(f.space)
	for i, x := range tame {
		if !x.v.Type.Elem.IsFloat() {
			at := math.Min(math.Max(0, x.r.Lo), x.r.Hi)
			tame[i].r = rangeprop.Range{Lo: at, Hi: at}
		}
	}
	if f.try(ctx, tame.draw(func(int) mode { return spread }, rng), -1) == nil {
		f.space, err = tame, nil
	}
	return err
}

// open lists the values of the goals that are not met.
func (f *finder) open() []*graph.Value {
	var list []*graph.Value
	for _, h := range f.hunts {
		if !h.done() {
			list = append(list, h.values()...)
		}
	}
	return list
}

func (f *finder) done() bool {
	for _, h := range f.hunts {
		if !h.done() {
			return false
		}
	}
	return true
}

// order lists the modes that fill all inputs, in the order they are tried in: what small numbers do shows where
// all are 0, and the work that is allowed may end before the last.
func (f *finder) order() []mode {
	if slices.ContainsFunc(f.hunts, func(h *hunt) bool { return h.Harm == Vanished }) {
		return []mode{zero, spread, corners, high, low, sparse, rows, own}
	}
	return []mode{spread, corners, high, low, sparse, rows, zero, own}
}

// draw tries inputs of one mode, at ends of the ranges, and of modes mixed.
func (f *finder) draw(ctx context.Context, rng *rand.Rand) {
	next := func(how func(i int) mode) bool {
		if ctx.Err() != nil || f.done() {
			return false
		}
		_ = f.try(ctx, f.space.draw(how, rng), -1) // an input that cannot be run shows nothing
		return true
	}
	for _, m := range f.order() {
		if !next(func(i int) mode { return f.space.unless(i, m) }) {
			return
		}
	}
	for m := spread; m < modes; m++ {
		if ctx.Err() != nil || f.done() {
			return
		}
		_ = f.try(ctx, f.space.alike(f.space.draw(func(int) mode { return m }, rng)), -1)
	}
	if f.absorbing() {
		for range Enough {
			if !next(func(int) mode { return decades }) {
				return
			}
		}
	}
	for _, ends := range f.space.ends() {
		if !next(func(i int) mode { return ends[i] }) {
			return
		}
	}
	for turn := range f.opt.Runs {
		if !next(func(i int) mode { return f.space.uncovered(i, f.space.unless(i, mode(rng.IntN(int(own)+1))), turn) }) {
			return
		}
	}
}

// alike gives inputs of one type and range the same elements: what compares two things, such as a
// distance, breaks where they are equal.
func (s space) alike(in Input) Input {
	for j, x := range s {
		for _, y := range s[:j] {
			a, b := in[y.v.Name], in[x.v.Name]
			if a == nil || b == nil || y.v.Type.Elem != x.v.Type.Elem || y.r != x.r || a.Tensor.Len() == 0 {
				continue
			}
			repeat(b.Tensor.F, a.Tensor.F)
			repeat(b.Tensor.D, a.Tensor.D)
			repeat(b.Tensor.I, a.Tensor.I)
			break
		}
	}
	return in
}

// repeat fills a list with another one, again and again.
func repeat[T any](to, from []T) {
	for i := range to {
		to[i] = from[i%len(from)]
	}
}

// unless returns the mode, another where it means nothing for the slot.
func (s space) unless(i int, m mode) mode {
	if m == modes || m == own && s[i].v.Init == nil {
		return spread
	}
	return m
}

// maxEnds bounds the combinations of ends.
const maxEnds = 81

// ends lists combinations of one end, the other or 0 for each slot: all of them while they are
// few, else those where one slot differs from the others.
func (s space) ends() (list [][]mode) {
	all := 1
	for range s {
		all = min(all*3, maxEnds+1)
	}
	kinds := []mode{high, low, zero}
	if all <= maxEnds {
		for c := range all {
			var how []mode
			for range s {
				how = append(how, kinds[c%3])
				c /= 3
			}
			list = append(list, how)
		}
		return list
	}
	for i := range min(len(s), maxEnds/6) {
		for _, a := range kinds {
			for _, b := range kinds {
				if a == b {
					continue
				}
				how := make([]mode, len(s))
				for j := range how {
					how[j] = b
				}
				how[i] = a
				list = append(list, how)
			}
		}
	}
	return list
}
