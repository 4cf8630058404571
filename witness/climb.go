package witness

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
)

// attempt is the input that took a suspect furthest so far.
type attempt struct {
	score float64
	in    Input
}

// maxSuspects bounds how many values are climbed for: those of one hazard in many layers mostly
// stand or fall together.
const maxSuspects = 6

// keep remembers the input of the last run for the suspects that it took further than any before.
func (p *prober) keep(in Input) {
	for _, v := range p.opt.Suspects[:min(maxSuspects, len(p.opt.Suspects))] {
		r, ok := p.reference[v]
		if !ok || !r.finite() {
			continue
		}
		score := math.Max(math.Abs(r.lo), math.Abs(r.hi))
		if b := p.best[v]; b == nil || score > b.score {
			p.best[v] = &attempt{score, in}
		}
	}
}

// climb changes the best input of each suspect that no run has shown to overflow, a block of
// elements at a time, and keeps what takes it further. An input that takes it past the limit is
// run as the target would.
func (p *prober) climb(ctx context.Context, rng *rand.Rand) {
	if p.ref == nil || p.low == nil {
		return
	}
	for _, v := range p.opt.Suspects[:min(maxSuspects, len(p.opt.Suspects))] {
		f, held := p.opt.Hold(v)
		b := p.best[v]
		if _, done := p.seen.Of(v); done || b == nil || !held {
			continue
		}
		cone, err := refeval.New(p.m, refeval.Options{Wide: p.opt.Target == numfmt.Invalid || p.opt.Stored, Goal: []*graph.Value{v}, Free: p.free, Measure: p.spend, Observe: p.observeReference, Glance: true, MaxMemory: searchMemory, Shared: p.opt.Shared})
		if err != nil {
			continue
		}
		p.only = v
		for range p.opt.Climbs {
			if b.score >= f.OverflowAt() || ctx.Err() != nil {
				break
			}
			p.step(ctx, cone, v, b, rng)
		}
		p.only = nil
		p.seen.largest[v] = max(p.seen.largest[v], b.score)
		if b.score >= f.OverflowAt() {
			p.confirm(ctx, v, b, rng)
		}
	}
}

// Enough is the number of runs with right outputs from which on an overflow is believed to do no
// harm.
const Enough = 12

// confirm runs an input that takes a value past its limit as the target would, and others like it
// until one gives a wrong output or enough have been right.
func (p *prober) confirm(ctx context.Context, v *graph.Value, b *attempt, rng *rand.Rand) {
	in := b.in
	for range 4 * Enough {
		if in == nil || p.run(ctx, in) != nil {
			return
		}
		if s := p.seen.sights[v]; s != nil && (!s.Right || s.Runs >= Enough) {
			return
		}
		in = p.space.changed(b.in, rng)
	}
}

// step tries one change of an input.
func (p *prober) step(ctx context.Context, cone *refeval.Runner, v *graph.Value, b *attempt, rng *rand.Rand) {
	in := p.space.changed(b.in, rng)
	if in == nil {
		return
	}
	p.reference = map[*graph.Value]extremes{}
	if _, err := cone.Run(ctx, in); err != nil {
		return
	}
	r, ok := p.reference[v]
	if score := math.Max(math.Abs(r.lo), math.Abs(r.hi)); ok && r.finite() && score > b.score {
		b.score, b.in = score, in
	}
}

// changed returns a copy of an input in which one of its values differs in a block of elements, nil
// where there is none.
func (s space) changed(in Input, rng *rand.Rand) Input {
	var open []slot
	for _, x := range s {
		if in[x.v.Name] == nil && x.v.Init != nil || in[x.v.Name] != nil && in[x.v.Name].Tensor.Len() > 0 {
			open = append(open, x)
		}
	}
	if len(open) == 0 {
		return nil
	}
	x := open[rng.IntN(len(open))]
	out := maps.Clone(in)
	if in[x.v.Name] == nil || x.padding {
		out[x.v.Name] = refeval.TensorValue(x.fill(mode(rng.IntN(int(modes))), rng))
		return out
	}
	t := in[x.v.Name].Tensor
	size := max(t.Len()>>rng.IntN(8), 1)
	from := rng.IntN(t.Len() - size + 1)
	fresh := fill(t.Elem, t.Dims, x.r, mode(rng.IntN(int(modes))), rng)
	c := &refeval.Tensor{Elem: t.Elem, Dims: t.Dims, F: slices.Clone(t.F), D: slices.Clone(t.D), I: slices.Clone(t.I)}
	splice(c.F, fresh.F, from, size)
	splice(c.D, fresh.D, from, size)
	splice(c.I, fresh.I, from, size)
	out[x.v.Name] = refeval.TensorValue(c)
	return out
}

func splice[T any](to, from []T, at, size int) {
	if len(to) > 0 {
		copy(to[at:at+size], from[at:])
	}
}
