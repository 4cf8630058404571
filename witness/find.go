package witness

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// Witness is an input that breaks a place of a model.
type Witness struct {
	Input Input
	// Right tells that the outputs come out right all the same; NotFinite that one of them has an
	// element that is not finite.
	Right, NotFinite bool
	// Sample is the number of the sample that it is, -1 for an input that was made.
	Sample int
}

// Found is what a search for a goal came to.
type Found struct {
	*Witness // nil where there is none
	// Least is the least magnitude that the goal's guard had in FP32; 0 where the runs were too few to
	// tell, or it has none.
	Least float64
	// Absorbed tells that outputs were right in all the runs that did the harm, for a goal that asks so.
	Absorbed bool
}

// hunt is the search for one goal.
type hunt struct {
	Goal
	found    *Witness
	sure     grip // of what was found
	tries    int  // inputs with right outputs that showed the harm
	hit      grip // of the run that is looked at
	best     attempt
	alone    *solo       // with the values of the goal alone held low, once it was wanted
	absorbed *absorption // for a goal that asks for it, once the harm was done
	score    float64     // of the run that is looked at
}

func (h *hunt) done() bool {
	if h.Absorb {
		return h.absorbed != nil && (h.absorbed.broken || h.absorbed.tries >= plenty)
	}
	return h.sure == broken && (!h.found.Right || h.tries >= Enough && h.Guard == nil)
}

// settled tells whether nothing is gained by coming closer to the harm.
func (h *hunt) settled() bool {
	if h.Absorb {
		return h.done() || h.absorbed != nil && h.absorbed.tries >= Enough
	}
	return h.sure == broken && (!h.found.Right || h.Guard == nil)
}

// finder runs inputs until all goals are met.
type finder struct {
	m        *graph.Model
	opt      Options
	ref, low *refeval.Runner // low is nil where FP32 itself is looked at
	hunts    []*hunt
	watched  map[*graph.Value][]*hunt
	want     map[*graph.Value][]*refeval.Tensor // of the run in FP32, as often as a value is made
	seen     map[*graph.Value]int
	space    space
	free     []*graph.Value
	scale    map[string]float64 // of the outputs in FP32: the largest magnitude of all runs
	runs     int                // of inputs
	meter
}

// Find looks for an input for each goal and returns them in the order of the goals, nil where it
// found none. Samples come first, then inputs of all modes and of the ends of the ranges, and then
// the ones that came closest are changed for the worse. An error says why nothing could be run.
func Find(ctx context.Context, m *graph.Model, info *infer.Info, ranges []rangeprop.InputRange, goals []Goal, opt Options) ([]Found, error) {
	f := &finder{m: m, opt: opt, free: movable(ranges), watched: map[*graph.Value][]*hunt{}, scale: map[string]float64{},
		meter: meter{dims: map[*graph.Value][]int{}, most: opt.Work}}
	for _, g := range goals {
		h := &hunt{Goal: g, best: attempt{score: math.Inf(-1)}}
		f.hunts = append(f.hunts, h)
		for _, v := range g.watched() {
			f.watched[v] = append(f.watched[v], h)
		}
	}
	if err := f.plan(); err != nil {
		return nil, err
	}
	if opt.Limit > 0 {
		limited, cancel := context.WithTimeout(ctx, opt.Limit)
		defer cancel()
		ctx = limited
	}
	ctx, f.stop = context.WithCancel(ctx)
	defer f.stop()
	err := f.search(ctx, info, ranges)
	out := make([]Found, len(f.hunts))
	for i, h := range f.hunts {
		if out[i].Witness = h.found; h.found != nil {
			err = nil
		}
		out[i].Absorbed = h.absorbed.right(f.scale)
		if h.Guard != nil && f.runs >= Enough && !math.IsInf(h.best.score, 0) {
			out[i].Least = -h.best.score
		}
	}
	return out, err
}

func (f *finder) plan() (err error) {
	reference := refeval.Options{Wide: true, Free: f.free, Measure: f.spend, Observe: f.observeWant, Shown: f.watches, MaxMemory: searchMemory, Shared: f.opt.Shared}
	if f.opt.Target == numfmt.FP32 {
		reference.Wide = false
	}
	if f.ref, err = refeval.New(f.m, reference); err != nil || f.opt.Target == numfmt.FP32 {
		return err
	}
	low := f.opt.lowered(f.free, f.spend, f.observeGot)
	low.Shown = f.watches
	f.low, err = refeval.New(f.m, low)
	return err
}

// climb changes the input that came closest to a goal, and tries what comes closer.
func (f *finder) climb(ctx context.Context, rng *rand.Rand) {
	for _, h := range f.hunts {
		if h.settled() || h.best.in == nil || ctx.Err() != nil {
			continue
		}
		cone, err := refeval.New(f.m, refeval.Options{Wide: f.opt.Target != numfmt.FP32, Free: f.free, Goal: h.aims(), Measure: f.spend, Observe: f.observeWant, Shown: f.watches, MaxMemory: searchMemory, Shared: f.opt.Shared})
		if err != nil {
			continue
		}
		for range f.opt.Climbs {
			in := f.space.changed(h.best.in, rng)
			if in == nil || ctx.Err() != nil {
				break
			}
			f.reset()
			if _, err := cone.Run(ctx, in); err != nil || h.score <= h.best.score && h.hit == unhurt {
				continue
			}
			if f.try(ctx, in, -1); h.settled() {
				break
			}
		}
	}
}

func (f *finder) reset() {
	f.want, f.seen = map[*graph.Value][]*refeval.Tensor{}, map[*graph.Value]int{}
	for _, h := range f.hunts {
		h.hit, h.score = unhurt, math.Inf(-1)
	}
}

// try runs an input and notes which goals it meets.
func (f *finder) try(ctx context.Context, in Input, sample int) error {
	f.reset()
	want, err := f.ref.Run(ctx, in)
	if err != nil {
		return err
	}
	f.runs++
	for name, v := range want {
		f.scale[name] = math.Max(f.scale[name], magnitude(v))
	}
	w := Witness{Input: in, Sample: sample, NotFinite: !allFinite(want)}
	w.Right = !w.NotFinite
	blamed := func(*hunt) bool { return true }
	if f.low != nil {
		got, err := f.low.Run(ctx, in)
		if err != nil {
			return err
		}
		w.Right, w.NotFinite = same(want, got) && sameIntegers(want, got), !allFinite(got) && allFinite(want)
		for _, h := range f.hunts {
			if h.Absorb && h.hit == broken && !h.done() {
				f.absorbs(ctx, h, in, want, got)
			}
		}
		blamed = func(h *hunt) bool {
			return w.Right || h.direct(w.NotFinite) || f.breaksAlone(ctx, h, in, want, w.NotFinite)
		}
	}
	for _, h := range f.hunts {
		if !h.Absorb {
			f.note(h, w, blamed)
		} else if h.score > h.best.score {
			h.best = attempt{h.score, in}
		}
	}
	return nil
}

// note takes over what a run showed of a goal. Where the outputs are wrong something else may be why:
// blamed tells.
func (f *finder) note(h *hunt, w Witness, blamed func(*hunt) bool) {
	if h.score > h.best.score {
		h.best = attempt{h.score, w.Input}
	}
	if h.hit == unhurt || h.hit == touched && w.Right {
		return
	}
	if w.Right {
		h.tries++
	}
	if (h.found == nil || h.hit > h.sure || h.hit == h.sure && h.found.Right && !w.Right) && blamed(h) {
		h.found, h.sure = &w, h.hit
	}
}

// watches tells whether a goal has to do with a value.
func (f *finder) watches(v *graph.Value) bool { return len(f.watched[v]) > 0 }

// observeWant sees what is watched in the run in FP32.
func (f *finder) observeWant(v *graph.Value, t *refeval.Tensor) {
	f.want[v] = append(f.want[v], t)
	for _, h := range f.watched[v] {
		if s, ok := h.margin(v, t); ok {
			h.score = math.Max(h.score, s)
		}
		if f.low == nil && t.Elem.IsFloat() && h.shows(v) && f.begins(h, v) && !extremesOf(t).finite() {
			h.hit = broken
		}
	}
}

// begins tells whether what the node of a value reads is finite.
func (f *finder) begins(h *hunt, v *graph.Value) bool {
	if v.Producer == nil {
		return false
	}
	for _, in := range v.Producer.Inputs {
		for _, t := range f.want[in] {
			if !extremesOf(t).finite() {
				return false
			}
		}
	}
	return true
}

// shows tells whether the harm is looked for in a value.
func (h *hunt) shows(v *graph.Value) bool {
	for _, w := range h.values() {
		if w == v {
			return true
		}
	}
	return false
}

// observeGot sees what is watched in the run as the target does.
func (f *finder) observeGot(v *graph.Value, t *refeval.Tensor) {
	i := f.seen[v]
	f.seen[v]++
	if i >= len(f.want[v]) { // the runs went different ways
		return
	}
	format, _ := f.opt.Hold(v)
	for _, h := range f.watched[v] {
		if !h.shows(v) {
			continue
		}
		g := h.Harm.harmed(f.want[v][i], t, format)
		if v.Producer == nil || v.Const != nil {
			g = min(g, touched) // what a constant loses it loses in every run, which shows nothing yet
		}
		h.hit = max(h.hit, g)
	}
}

// sameIntegers tells whether outputs that are no real numbers agree.
func sameIntegers(want, got map[string]*refeval.Value) bool {
	for name, w := range want {
		g := got[name]
		if w != nil && g != nil && w.Tensor != nil && g.Tensor != nil && !slices.Equal(w.Tensor.I, g.Tensor.I) {
			return false
		}
	}
	return true
}

func allFinite(out map[string]*refeval.Value) bool {
	for _, v := range out {
		for _, t := range v.Tensors() {
			if t.Elem.IsFloat() && !extremesOf(t).finite() {
				return false
			}
		}
	}
	return true
}
