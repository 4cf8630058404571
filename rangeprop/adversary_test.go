package rangeprop_test

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval"
)

// A pattern gives element i of a slot.
type pattern func(p *trial, s slot, i int) float64

// patterns are what linear bounds are reached by: corners in all arrangements, rows that are equal or
// nearly so, few elements that stand out, numbers that vanish.
var patterns = []struct {
	name string
	at   pattern
}{
	{"corners", func(p *trial, s slot, _ int) float64 { return s.at(float64(p.rng.Intn(2))) }},
	{"all low", func(_ *trial, s slot, _ int) float64 { return s.r.Lo }},
	{"all high", func(_ *trial, s slot, _ int) float64 { return s.r.Hi }},
	{"alternating", func(_ *trial, s slot, i int) float64 { return s.at(float64(i % 2)) }},
	{"rows of corners", func(_ *trial, s slot, i int) float64 { return s.at(corner(i / s.width())) }},
	{"columns of corners", func(_ *trial, s slot, i int) float64 { return s.at(corner(i % s.width())) }},
	{"halves", func(_ *trial, s slot, i int) float64 { return s.at(float64(2 * i / max(s.len(), 1))) }},
	{"rising", func(_ *trial, s slot, i int) float64 { return s.at(float64(i) / float64(max(s.len()-1, 1))) }},
	{"all in the middle", func(_ *trial, s slot, _ int) float64 { return s.at(0.5) }},
	{"nearly constant", func(p *trial, s slot, _ int) float64 { return s.at(0.9 + 1e-6*p.rng.Float64()) }},
	{"nearly constant rows", func(p *trial, s slot, i int) float64 {
		return s.at(0.2 + 0.7*corner(i/s.width()) + 1e-4*p.rng.Float64())
	}},
	{"constant but for one of each row", func(_ *trial, s slot, i int) float64 {
		return above(s.at(0.93), s.spike(i, i/s.width()*3))
	}},
	{"one of each row", func(_ *trial, s slot, i int) float64 {
		return s.middle() + s.spike(i, i/s.width()*7)*(s.r.Hi-s.middle())
	}},
	{"all but one of each row", func(_ *trial, s slot, i int) float64 { return s.at(1 - s.spike(i, i/s.width()*5)) }},
	{"one element", func(_ *trial, s slot, i int) float64 {
		if i == s.len()/3 {
			return s.r.Hi
		}
		return s.middle()
	}},
	{"nearly zero", func(p *trial, s slot, _ int) float64 { return 1e-4 * (p.rng.Float64() - 0.5) * s.r.MaxAbs() }},
	{"vanishing", func(p *trial, _ slot, _ int) float64 { return 1e-30 * p.rng.NormFloat64() }},
	{"subnormal", func(p *trial, _ slot, _ int) float64 { return 1e-44 * float64(p.rng.Intn(9)-4) }},
	{"zero", func(*trial, slot, int) float64 { return 0 }},
	{"zeros and corners", func(p *trial, s slot, _ int) float64 { return []float64{0, s.r.Lo, 0, s.r.Hi}[p.rng.Intn(4)] }},
	{"all magnitudes", func(p *trial, s slot, _ int) float64 {
		return math.Copysign(s.r.MaxAbs()*math.Exp2(-140*p.rng.Float64()), p.rng.Float64()-0.5)
	}},
	{"rows of all magnitudes", func(p *trial, s slot, i int) float64 {
		return s.r.MaxAbs() * math.Exp2(-float64(i/s.width()*17%140)) * (2*p.rng.Float64() - 1)
	}},
}

// corner is 0 or 1 by a number, in no order.
func corner(i int) float64 { return float64((uint64(i)*0x9E3779B97F4A7C15 + 12345) >> 40 & 1) }

// above returns the float32 that lies n steps above x, and x where none does.
func above(x, n float64) float64 {
	if math.Abs(x) > math.MaxFloat32/2 {
		return x
	}
	return float64(math.Float32frombits(math.Float32bits(float32(x)) + uint32(n)))
}

// at is the number at a place of the range, from 0 to 1.
func (s slot) at(u float64) float64 { return s.r.Lo*(1-u) + s.r.Hi*u }

// middle is the number of the range that is nearest to 0.
func (s slot) middle() float64 { return min(max(0, s.r.Lo), s.r.Hi) }

// spike is 1 at one place of a row and 0 elsewhere.
func (s slot) spike(i, at int) float64 {
	if i%s.width() == at%s.width() {
		return 1
	}
	return 0
}

func (s slot) len() int {
	n := 1
	for _, d := range s.dims {
		n *= d
	}
	return n
}

func (s slot) width() int {
	if len(s.dims) == 0 {
		return 1
	}
	return max(s.dims[len(s.dims)-1], 1)
}

// fill makes the value of a slot.
func (p *trial) fill(s slot, at pattern) *refeval.Value {
	switch {
	case s.value != nil:
		return s.value
	case s.items == 0:
		return refeval.TensorValue(p.tensor(s, at))
	}
	var items []*refeval.Value
	for range s.items {
		items = append(items, refeval.TensorValue(p.tensor(s, at)))
	}
	return refeval.SequenceValue(items...)
}

func (p *trial) tensor(s slot, at pattern) *refeval.Tensor {
	d := &draw{rng: p.rng, as: p.as}
	x := emptyTensor(s.elem)
	x.Dims = slices.Clone(s.dims)
	for i := range s.len() {
		d.add(x, p.element(s, at(p, s, i), d))
	}
	return x
}

func (p *trial) element(s slot, a float64, d *draw) float64 {
	if p.special && s.elem.IsFloat() && p.rng.Intn(40) == 0 {
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[p.rng.Intn(3)]
	}
	if (s.elem == graph.Float || s.elem == graph.BFloat16) && math.Abs(a) < p.least {
		a = 0
	}
	if a = min(max(a, s.r.Lo), s.r.Hi); !s.elem.IsFloat() {
		return math.Round(a)
	}
	return min(max(d.stored(s.elem, a), s.r.Lo), s.r.Hi)
}

// random draws every input anywhere in its range; one in four has a spread of its own about a middle.
func (p *trial) random() map[string]*refeval.Value {
	in := map[string]*refeval.Value{}
	for _, s := range p.slots {
		c, w := 0.5, 1.0
		if p.rng.Intn(4) == 0 {
			w = p.rng.Float64()
			c = w/2 + (1-w)*p.rng.Float64()
		}
		in[s.v.Name] = p.fill(s, func(p *trial, s slot, _ int) float64 { return s.at(c + w*(p.rng.Float64()-0.5)) })
	}
	return in
}

// adversarial runs as many inputs as there are random ones: half of them arranged, a few along the
// first weights, the others found by a search that takes a value to the ends of its bounds.
func (p *trial) adversarial(run *refeval.Runner) int {
	list := p.directions()
	n := 0
	for ; n < p.runs; n++ {
		in := map[string]*refeval.Value{}
		switch k := n / 2; {
		case n%2 == 0 && k < len(patterns):
			p.what = patterns[k].name
			in = p.arranged(patterns[k].at)
		case n%4 == 1 && len(list) > 0:
			d := list[p.rng.Intn(len(list))]
			p.what = "along the weights of " + d.of
			in = p.arranged(patterns[0].at)
			in[d.s.v.Name] = p.fill(d.s, d.at(p))
		case n%8 == 7:
			p.what = "patterns of each input"
			for _, s := range p.slots {
				in[s.v.Name] = p.fill(s, patterns[p.rng.Intn(len(patterns))].at)
			}
		default:
			in = p.climb()
		}
		p.run(run, in)
		p.progress(n + 1)
	}
	return n
}

func (p *trial) arranged(at pattern) map[string]*refeval.Value {
	in := map[string]*refeval.Value{}
	for _, s := range p.slots {
		in[s.v.Name] = p.fill(s, at)
	}
	return in
}

// climb changes an input, a block of elements at a time, so that the largest element of some value
// becomes larger, or the least one less.
func (p *trial) climb() map[string]*refeval.Value {
	in := p.arranged(patterns[p.rng.Intn(len(patterns))].at)
	if len(p.floats) == 0 {
		p.what = "corners"
		return in
	}
	goal := p.floats[p.rng.Intn(len(p.floats))]
	p.what = fmt.Sprintf("an input sought for %s", goal.Key())
	score, up := math.Inf(-1), p.rng.Intn(2) == 0
	cone, err := p.runner(func(v *graph.Value, x *refeval.Tensor) {
		list, _ := numbers(x)
		for _, a := range list {
			switch {
			case v == goal && up && a > score:
				score = a
			case v == goal && !up && -a > score:
				score = -a
			}
		}
	}, goal)
	if err != nil {
		return in
	}
	p.run(cone, in)
	best := score
	for range p.climbs {
		next := p.changed(in)
		score = math.Inf(-1)
		if p.run(cone, next); score > best {
			best, in = score, next
		}
	}
	return in
}

// changed draws a block of one input anew.
func (p *trial) changed(in map[string]*refeval.Value) map[string]*refeval.Value {
	out := maps.Clone(in)
	s := p.slots[p.rng.Intn(len(p.slots))]
	fresh := p.fill(s, patterns[p.rng.Intn(len(patterns))].at)
	if in[s.v.Name].Tensor == nil || fresh.Tensor == nil || s.value != nil {
		out[s.v.Name] = fresh
		return out
	}
	n := s.len()
	size := max(n>>p.rng.Intn(8), 1)
	from := p.rng.Intn(max(n-size, 0) + 1)
	old := in[s.v.Name].Tensor
	keepOutside(fresh.Tensor.F, old.F, from, from+size)
	keepOutside(fresh.Tensor.D, old.D, from, from+size)
	keepOutside(fresh.Tensor.I, old.I, from, from+size)
	out[s.v.Name] = fresh
	return out
}

// keepOutside brings back the old elements but for a block.
func keepOutside[E any](x, old []E, from, to int) {
	if len(x) > 0 {
		copy(x[:from], old[:from])
		copy(x[to:], old[to:])
	}
}
