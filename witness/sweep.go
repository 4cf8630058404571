package witness

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/amplint/amplint/graph"
)

// fewIds is the width of a range of whole numbers from which on inputs drawn from it leave some out.
const fewIds = 64

// width returns how many whole numbers a slot may hold.
func (x *slot) width() int64 { return int64(math.Floor(x.r.Hi)) - int64(math.Ceil(x.r.Lo)) + 1 }

// counts tells whether a slot holds numbers to go through one after another, as ids of tokens are.
func (x *slot) counts() bool {
	return x.v.Type.Elem.IsInt() && x.v.Init == nil && x.width() >= fewIds
}

// sweep runs inputs that hold all ids between them, for what one token alone does, as long as a suspect
// has not been seen to overflow and half of the work is left. It reports whether none was left out.
func (p *prober) sweep(ctx context.Context, rng *rand.Rand) bool {
	step, width := int64(math.MaxInt64), int64(0)
	for _, x := range p.space {
		if n := size(x.dims); x.counts() && n > 0 {
			step, width = min(step, n), max(width, x.width())
		}
	}
	for at := int64(0); at < width; at += step {
		if p.work > p.most/2 || ctx.Err() != nil || p.allSeen() || p.run(ctx, p.space.inOrder(at, rng)) != nil {
			return false
		}
	}
	return len(p.space) > 0
}

// allSeen tells whether every suspect has been seen to overflow.
func (p *prober) allSeen() bool {
	for _, v := range p.opt.Suspects {
		if p.seen.sights[v] == nil {
			return false
		}
	}
	return true
}

// inOrder draws an input whose ids follow each other from a number on.
func (s space) inOrder(at int64, rng *rand.Rand) Input {
	in := s.draw(func(i int) mode { return s.uncovered(i, spread, 1) }, rng)
	for _, x := range s {
		if !x.counts() {
			continue
		}
		lo, t := int64(math.Ceil(x.r.Lo)), in[x.v.Name].Tensor
		for i := range t.I {
			t.I[i] = lo + (at+int64(i))%x.width()
		}
	}
	return in
}

func size(dims []int) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= int64(d)
	}
	return n
}

// Sought returns the largest magnitude that runs which looked for more gave a suspect in FP32; ok is
// false where they were too few to tell, or left out ids.
func (s *Seen) Sought(v *graph.Value) (most float64, ok bool) {
	if s == nil || !s.swept || s.Runs < Enough {
		return 0, false
	}
	most, ok = s.largest[v]
	return most, ok
}

// Harmless tells whether there were runs, and nothing overflowed in them.
func (s *Seen) Harmless() bool { return s != nil && s.Runs > 0 && len(s.sights) == 0 }

// Carried returns what harmless runs of a model showed of suspects, by the values of a form
// of the model, which form gives for those of the model, nil where it has none.
func (s *Seen) Carried(suspects map[*graph.Value]*graph.Value, form func(*graph.Value) *graph.Value) *Seen {
	own := &Seen{largest: map[*graph.Value]float64{}, close: map[*graph.Value]float64{}, swept: s.swept, Runs: s.Runs}
	for old, most := range s.close {
		if v := form(old); v != nil {
			own.close[v] = most
		}
	}
	for v, old := range suspects {
		if most, ok := s.largest[old]; ok {
			own.largest[v] = most
		}
	}
	return own
}

// measure notes how large the suspects were in a run.
func (p *prober) measure() {
	for _, v := range p.opt.Suspects {
		if r, ok := p.reference[v]; ok {
			p.seen.largest[v] = max(p.seen.largest[v], -r.lo, r.hi)
		}
	}
	for v, r := range p.reference {
		if most := max(-r.lo, r.hi); r.finite() && most >= p.limit(v)/closeBy {
			p.seen.close[v] = max(p.seen.close[v], most)
		}
	}
}

// closeBy is how many times below the limit of its format the numbers of a value are told of.
const closeBy = 8

// Close returns the largest magnitude that a run gave a value in FP32, 0 where none was near the limit of its format.
func (s *Seen) Close(v *graph.Value) float64 {
	if s == nil {
		return 0
	}
	return s.close[v]
}
