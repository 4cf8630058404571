package witness

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// Options say how much to run.
type Options struct {
	// Target is the format the model is run in besides FP32; Invalid takes the types it is stored in.
	Target numfmt.Format
	// Foreign tells that the model's 16-bit floats are of another type than the target, and become it.
	Foreign bool
	// Stored tells that the target is what the model stores itself: its reference holds that in FP32.
	Stored bool
	// Hold tells which values are held low; the others stay as they are.
	Hold func(*graph.Value) (numfmt.Format, bool)
	// Padding tells of inputs that mask the padding of sequences; nil where there are none.
	Padding func(*graph.Value) bool
	// Accumulate and Flush say how kernels of the target sum, and whether they keep subnormals.
	Accumulate refeval.Accumulate
	Flush      bool
	// Shared holds the constants of the model for all its runs; nil for none.
	Shared *refeval.Shared
	// Work is the number of operations that all runs together may take, and ends a run that takes all
	// of it; 1e9 where it is 0. What the runs show depends on it alone.
	Work int64
	// Least is the number of runs of the model that the work is to suffice for, also where that is more, up to Most.
	Least int
	Most  int64
	// Must is the number of runs below which nothing would be shown: the work suffices for them up to Far, and where
	// they take more nothing is run.
	Must int
	Far  int64
	// Limit is a time that no model should come near, for machines that are overloaded; none where it is 0.
	Limit time.Duration
	// Samples are inputs of the user, which are run before all others.
	Samples []Input
	// Anything lets a trial draw inputs whose range nobody vouches for.
	Anything bool
	// Runs is the number of inputs that are made and run at most.
	Runs int
	// Suspects are values that may overflow, the likely ones first. Where the runs do not show it the
	// inputs that came closest are changed for the worse, Climbs times at most.
	Suspects []*graph.Value
	Climbs   int
}

// Sight is what the runs showed of one value.
type Sight struct {
	// Lo and Hi are the extremes in FP32, over the runs in which the value is a root.
	Lo, Hi float64
	// NaN tells that an element was NaN and none infinite.
	NaN bool
	// Right tells that the outputs were right in every such run, or were so with this value alone held
	// low, and Runs how many there were.
	Right bool
	Runs  int
	// Sample tells that a sample of the user did it.
	Sample bool
	// Input did it, if any with a wrong output.
	Input Input
}

// Seen holds what runs showed.
type Seen struct {
	sights  map[*graph.Value]*Sight
	largest map[*graph.Value]float64 // magnitudes of the suspects in FP32
	close   map[*graph.Value]float64 // of values that came close to the limit of their format
	swept   bool                     // no id was left out
	Runs    int                      // that were completed
	Err     error                    // why there were none
}

// Of returns what was seen of a value.
func (s *Seen) Of(v *graph.Value) (Sight, bool) {
	if s == nil || s.sights[v] == nil {
		return Sight{}, false
	}
	return *s.sights[v], true
}

// prober runs one model twice for each input: in FP32 and as the target does.
type prober struct {
	m         *graph.Model
	opt       Options
	seen      *Seen
	ref, low  *refeval.Runner
	reference map[*graph.Value]extremes
	lows      map[*graph.Value]extremes // of the values that are not finite in the low run
	roots     []*graph.Value
	best      map[*graph.Value]*attempt // of the suspects
	only      *graph.Value              // the one value to look at while climbing
	free      []*graph.Value            // initializers that may move
	solos     map[*graph.Value]*solo
	space     space // that inputs are drawn from
	meter
	sample bool // the run is of a sample
	drawn  int  // inputs made and run
}

type extremes struct {
	lo, hi   float64
	nan, inf bool
}

func (x extremes) finite() bool { return !x.nan && !x.inf }

func extremesOf(t *refeval.Tensor) extremes {
	if s := t.Stats(); t.F != nil && s.Inf == 0 {
		return extremes{lo: float64(s.Min), hi: float64(s.Max), nan: s.NaN > 0}
	}
	x := extremes{lo: math.Inf(1), hi: math.Inf(-1)}
	scan(t, func(f float64) {
		if math.IsNaN(f) {
			x.nan = true
			return
		}
		x.inf = x.inf || math.IsInf(f, 0)
		x.lo, x.hi = math.Min(x.lo, f), math.Max(x.hi, f)
	})
	return x
}

func (x extremes) join(y extremes) extremes {
	return extremes{math.Min(x.lo, y.lo), math.Max(x.hi, y.hi), x.nan || y.nan, x.inf || y.inf}
}

// seed is the same in every run of the program.
const seed = 0x616d706c

// Probe runs the model on inputs of the ranges and returns what it saw. Models that cannot be run
// give nothing, and the reason.
func Probe(ctx context.Context, m *graph.Model, info *infer.Info, ranges []rangeprop.InputRange, opt Options) *Seen {
	if opt.Work == 0 {
		opt.Work = 1e9
	}
	if !opt.Fits(m) {
		return &Seen{}
	}
	opt.Work = opt.work(m)
	p := &prober{m: m, opt: opt, seen: &Seen{sights: map[*graph.Value]*Sight{}, largest: map[*graph.Value]float64{}, close: map[*graph.Value]float64{}}, best: map[*graph.Value]*attempt{}, solos: map[*graph.Value]*solo{},
		free: movable(ranges), meter: meter{dims: map[*graph.Value][]int{}, most: opt.Work}}
	if p.seen.Err = p.plan(); p.seen.Err != nil {
		return p.seen
	}
	if opt.Limit > 0 {
		limited, cancel := context.WithTimeout(ctx, opt.Limit)
		defer cancel()
		ctx = limited
	}
	ctx, p.stop = context.WithCancel(ctx)
	defer p.stop()
	rng := rand.New(rand.NewPCG(seed, seed))
	for _, in := range opt.Samples {
		p.sample = true
		if err := p.run(ctx, in); err != nil {
			p.seen.Err = err
		}
	}
	p.sample = false
	p.draw(ctx, info, ranges, rng)
	if p.drawn > 0 {
		p.seen.swept = p.sweep(ctx, rng)
	}
	p.climb(ctx, rng)
	return p.seen
}

// draw runs inputs of all modes, with lengths of the open dimensions that the model runs with.
func (p *prober) draw(ctx context.Context, info *infer.Info, ranges []rangeprop.InputRange, rng *rand.Rand) {
	for s, err := range spaces(p.m, info, ranges, false, p.opt.Padding) {
		if p.space, p.seen.Err = s, err; err != nil {
			continue
		}
		if lengths := s.lengths(info); p.opt.fits(p.m, lengths) {
			p.most = max(p.most, p.opt.must(foreseen(p.m, lengths)))
		} else {
			continue // a shorter one may do
		}
		for p.drawn < p.opt.Runs && !p.decided() {
			how, turn := mode(p.drawn)%modes, p.drawn/int(modes)
			if err := p.run(ctx, p.space.draw(func(i int) mode { return p.space.uncovered(i, how, turn) }, rng)); err != nil {
				p.seen.Err = err
				break
			}
			if p.empty(p.opt.Suspects) {
				break
			}
			p.drawn++
		}
		if p.drawn > 0 || ctx.Err() != nil {
			return
		}
	}
}

// decided tells whether more inputs of the same kinds would show nothing new: all modes were drawn
// once, and every suspect has been seen to do harm, or often enough to do none.
func (p *prober) decided() bool {
	if p.drawn < 2*int(modes) || len(p.opt.Suspects) == 0 {
		return false
	}
	for _, v := range p.opt.Suspects {
		if s := p.seen.sights[v]; s == nil || s.Right && s.Runs < Enough {
			return false
		}
	}
	return true
}

// plan prepares both evaluations. A model that is taken as it is is compared with itself in FP32.
func (p *prober) plan() (err error) {
	wide := p.opt.Target == numfmt.Invalid || p.opt.Stored
	p.ref, err = refeval.New(p.m, refeval.Options{Wide: wide, Measure: p.spend, Observe: p.observeReference, Glance: true, Free: p.free, MaxMemory: searchMemory, Shared: p.opt.Shared})
	if err != nil || p.opt.Target == numfmt.FP32 {
		return err
	}
	low := p.opt.lowered(p.free, p.spend, p.observeLow)
	low.Glance = true
	p.low, err = refeval.New(p.m, low)
	return err
}

// searchMemory bounds what a run that nobody asked for may hold: a size in the file, of a
// ConstantOfShape for one, decides how much it takes, and a search can do without.
const searchMemory = 4 << 30

// lowered returns the options of a run as the target does it; observe may be nil.
func (o *Options) lowered(free []*graph.Value, measure, observe func(*graph.Value, *refeval.Tensor)) refeval.Options {
	r := refeval.Options{Accumulate: o.Accumulate, FlushSubnormals: o.Flush, Free: free, Measure: measure, Observe: observe, MaxMemory: searchMemory, Shared: o.Shared}
	if o.Target != numfmt.Invalid {
		r.As, r.Wide = o.Target, o.Foreign
		r.Keep = func(v *graph.Value) bool {
			_, held := o.Hold(v)
			return !held
		}
	}
	return r
}

// run evaluates one input and notes the roots.
func (p *prober) run(ctx context.Context, in Input) (err error) {
	p.reference, p.lows, p.roots = map[*graph.Value]extremes{}, map[*graph.Value]extremes{}, nil
	var want, got map[string]*refeval.Value
	if p.ref != nil {
		if want, err = p.ref.Run(ctx, in); err != nil {
			return err
		}
	}
	if p.low != nil {
		if got, err = p.low.Run(ctx, in); err != nil {
			return err
		}
	}
	p.seen.Runs++
	p.behind()
	p.keep(in)
	p.measure()
	right := want != nil && got != nil && same(want, got)
	for _, v := range p.roots {
		p.note(v, in, right || p.harmless(v) && p.alone(ctx, v, in, want))
	}
	return nil
}

// harmless tells whether a value has done no harm so far.
func (p *prober) harmless(v *graph.Value) bool {
	s := p.seen.sights[v]
	return s == nil || s.Right
}

func (p *prober) note(v *graph.Value, in Input, right bool) {
	s := p.seen.sights[v]
	if s == nil {
		s = &Sight{Lo: math.Inf(1), Hi: math.Inf(-1), NaN: true, Right: true}
		p.seen.sights[v] = s
	}
	x := p.lows[v]
	if r, ok := p.reference[v]; ok {
		x.lo, x.hi = r.lo, r.hi
	}
	s.Lo, s.Hi = math.Min(s.Lo, x.lo), math.Max(s.Hi, x.hi)
	if s.Input == nil || s.Right && !right {
		s.Input = in
	}
	s.NaN, s.Right = s.NaN && !x.inf, s.Right && right
	s.Runs++
	s.Sample = s.Sample || p.sample
}

func (p *prober) observeReference(v *graph.Value, t *refeval.Tensor) {
	if !t.Elem.IsFloat() || p.only != nil && p.only != v {
		return
	}
	x := extremesOf(t)
	if old, ok := p.reference[v]; ok { // of a loop's body
		x = x.join(old)
	}
	p.reference[v] = x
	if p.opt.Target == numfmt.FP32 {
		p.root(v, x)
	}
}

// observeLow finds the roots: values that are not finite although they are in FP32.
func (p *prober) observeLow(v *graph.Value, t *refeval.Tensor) {
	if r, ok := p.reference[v]; !t.Elem.IsFloat() || ok && !r.finite() {
		return
	}
	p.root(v, extremesOf(t))
}

// root notes a value that is not finite while all that its node reads is.
func (p *prober) root(v *graph.Value, x extremes) {
	if _, again := p.lows[v]; again || x.finite() {
		return
	}
	p.lows[v] = x
	if starts(v, func(in *graph.Value) bool { _, broken := p.lows[in]; return broken }) {
		p.roots = append(p.roots, v)
	}
}

// behind adds the roots that stand behind others: what is not finite for what its node reads, and would not be either
// if it read what it does in FP32, because its own numbers pass the limit there. They would show one after the other,
// each once those before it are held in FP32, and of a network with an overflow in each block a fix has no time for that.
func (p *prober) behind() {
	for g := range p.m.Graphs() {
		for _, v := range g.Values {
			x, broken := p.lows[v]
			if !broken || slices.Contains(p.roots, v) || !p.beyond(v) || !starts(v, p.beyond) {
				continue
			}
			x.inf = true
			p.lows[v] = x
			p.roots = append(p.roots, v)
		}
	}
}

// beyond tells whether numbers of a value are finite in FP32 and infinite in the format that it is held in.
func (p *prober) beyond(v *graph.Value) bool {
	r, seen := p.reference[v]
	return seen && r.finite() && max(-r.lo, r.hi) >= p.limit(v)
}

// limit is the magnitude that the format of a value does not hold, infinite where it stays wide.
func (p *prober) limit(v *graph.Value) float64 {
	if p.opt.Hold != nil {
		if f, held := p.opt.Hold(v); held {
			return f.OverflowAt()
		}
	}
	return math.Inf(1)
}

// starts tells whether a value's node computes it, and of nothing that is broken already.
func starts(v *graph.Value, broken func(*graph.Value) bool) bool {
	n := v.Producer
	if n == nil || n.Op == "Constant" || n.Call != nil || len(n.Subgraphs()) > 0 {
		return false
	}
	return !slices.ContainsFunc(n.Inputs, func(in *graph.Value) bool { return broken(outside(in)) })
}

// outside follows the input of a function's instance to what the call hands in.
func outside(v *graph.Value) *graph.Value {
	for v != nil && v.Input && v.Graph.Kind == graph.CallGraph {
		at := 0
		for v.Graph.Inputs[at] != v {
			at++
		}
		var given []*graph.Value
		for _, a := range v.Graph.Owner.Inputs {
			if a != nil {
				given = append(given, a)
			}
		}
		if at >= len(given) {
			return v
		}
		v = given[at]
	}
	return v
}

func scan(t *refeval.Tensor, see func(float64)) {
	for _, f := range t.F {
		see(float64(f))
	}
	for _, f := range t.D {
		see(f)
	}
}

// closeEnough is the error of an output, relative to its largest element, that counts as rounding.
const closeEnough = 0.02

// same tells whether outputs agree but for rounding.
func same(want, got map[string]*refeval.Value) bool {
	for name, w := range want {
		g := got[name]
		if w == nil || g == nil || w.Tensor == nil || g.Tensor == nil {
			continue
		}
		if !alike(w.Tensor, g.Tensor) {
			return false
		}
	}
	return true
}

func alike(w, g *refeval.Tensor) bool {
	if w.Len() != g.Len() {
		return false
	}
	worst, finite := distance(w, g)
	return finite && worst <= closeEnough*math.Max(largest(w), 1e-30)
}
