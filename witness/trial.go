package witness

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/graph/infer"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/rangeprop"
	"github.com/amplint/amplint/refeval"
)

// Trial holds inputs of a model and what the model makes of them in FP32, for another form of the
// model to be held against.
type Trial struct {
	model *graph.Model // its own
	cases []trialCase
	scale map[string]float64 // the greatest finite magnitude of each output, over all inputs
	usual map[string]float64 // the same over the ordinary ones
	made  int64              // the work that went into that
	meter
}

type trialCase struct {
	in    Input
	want  map[string]*refeval.Value
	how   mode    // that it was drawn in; spread for the user's
	given bool    // the user's
	sway  float64 // see swayed; 0 where nobody asked
}

// ordinary tells whether it is the user's, or drawn from anywhere in the ranges: neither ends nor zeros alone.
func (c *trialCase) ordinary() bool { return c.how == spread }

// alike tells whether all elements are the same, or all of a row.
func (c *trialCase) alike() bool {
	return c.how == high || c.how == low || c.how == rows || c.how == zero
}

// Fault is how an output of the other form differs.
type Fault struct {
	Output    string
	NotFinite bool    // an element is infinite or NaN that is finite in FP32
	Error     float64 // the largest difference, as a share of the output's largest magnitude over all inputs
	Whole     bool    // the output holds whole numbers, and Error is the share of them that differ
	Input     Input
	Drawn     bool // the input is not the user's
}

// nothing is the share of the largest magnitude of an output below which it is as good as 0: of the tail of a bell
// nobody misses the digits, though it may be all that ordinary inputs give.
const nothing = 1.0 / 1024

// maxKept bounds the elements of inputs and outputs that a trial keeps.
const maxKept = 1 << 24

// NewTrial runs a model in FP32 on the samples of the options and on inputs drawn from the ranges,
// Runs of them at most. A quarter of the work that is allowed goes into it; the rest is left for
// [Trial.Judge]. A trial without inputs finds no faults.
func NewTrial(ctx context.Context, m *graph.Model, info *infer.Info, ranges []rangeprop.InputRange, opt Options) *Trial {
	fits := opt.Fits(m)
	opt.Work = opt.work(m)
	t := &Trial{model: m, scale: map[string]float64{}, usual: map[string]float64{}, meter: meter{dims: map[*graph.Value][]int{}, most: opt.Work / 4}}
	if !fits {
		return t
	}
	ctx, t.stop = context.WithCancel(ctx)
	defer t.stop()
	r, err := refeval.New(m, refeval.Options{Wide: true, Measure: t.spend, MaxMemory: searchMemory, Shared: opt.Shared})
	if err != nil {
		return t
	}
	kept := 0
	add := func(in Input, how mode) error {
		want, err := r.Run(ctx, in)
		if kept += elements(in) + elements(want); err != nil || kept > maxKept {
			return errors.Join(err, ctx.Err())
		}
		c := trialCase{in: in, want: want, how: how}
		t.cases = append(t.cases, c)
		for name, v := range want {
			size := magnitude(v)
			if t.scale[name] = max(t.scale[name], size); c.ordinary() {
				t.usual[name] = max(t.usual[name], size)
			}
		}
		return nil
	}
	for _, in := range opt.Samples {
		_ = add(in, spread) // a sample that does not run says nothing
	}
	for i := range t.cases {
		t.cases[i].given = true
	}
	t.draw(ctx, m, info, ranges, &opt, add)
	for name, size := range t.usual {
		t.usual[name] = max(size, nothing*t.scale[name])
	}
	t.most, t.made = opt.Work, t.work
	return t
}

// Again returns a trial on the same inputs, with all the work that was left for forms of the model.
func (t *Trial) Again() *Trial {
	return &Trial{model: t.model, cases: slices.Clone(t.cases), scale: t.scale, usual: t.usual, made: t.made, meter: meter{dims: map[*graph.Value][]int{}, work: t.made, most: t.most}}
}

// trialModes are the modes that inputs are drawn in, in turn: ends show overflow, small numbers
// underflow.
var trialModes = [...]mode{spread, corners, decades, faint, high, low, sparse, rows, zero}

// draw adds inputs of all modes, with lengths of the open dimensions that the model runs with, and that the work
// allowed suffices for.
func (t *Trial) draw(ctx context.Context, m *graph.Model, info *infer.Info, ranges []rangeprop.InputRange, opt *Options, add func(in Input, how mode) error) {
	rng := rand.New(rand.NewPCG(seed, seed))
	before := len(t.cases)
	for s, err := range spaces(m, info, ranges, opt.Anything, opt.Padding) {
		if err != nil {
			continue
		}
		lengths := s.lengths(info)
		if !opt.fits(m, lengths) {
			continue
		}
		opt.Work = max(opt.Work, opt.must(foreseen(m, lengths)))
		t.most = opt.Work / 4
		for i := range opt.Runs {
			how := trialModes[i%len(trialModes)]
			if err = add(s.draw(func(j int) mode { return s.counted(j, how) }, rng), how); err != nil {
				break
			}
		}
		if len(t.cases) > before || ctx.Err() != nil { // the lengths fit
			return
		}
	}
}

// Spent tells whether more than this share of the work that is allowed is used up.
func (t *Trial) Spent(share float64) bool { return float64(t.work) > share*float64(t.most) }

// Len returns the number of inputs.
func (t *Trial) Len() int { return len(t.cases) }

// Judge runs a form of the model in the types it stores and returns the first fault that is no
// rounding: nil where there is none. An input with a fault comes first the next time. The error
// says that the model does not run, or that the work allowed is used up.
func (t *Trial) Judge(ctx context.Context, m *graph.Model, tolerance float64) (*Fault, error) {
	return t.judge(ctx, m, tolerance, nil)
}

// judge is Judge that hands on what each input gives, where seen is not nil.
func (t *Trial) judge(ctx context.Context, m *graph.Model, tolerance float64, seen func(c trialCase, got map[string]*refeval.Value)) (*Fault, error) {
	if len(t.cases) == 0 {
		return nil, nil
	}
	ctx, t.stop = context.WithCancel(ctx)
	defer t.stop()
	clear(t.dims) // a form that was judged before is not needed any more
	if err := t.planned(m, perForm); err != nil {
		return nil, err
	}
	r, err := refeval.New(m, refeval.Options{Measure: t.spend, MaxMemory: searchMemory})
	if err != nil {
		return nil, err
	}
	for _, w := range m.Graph.Inits() {
		t.work += w.Init.Len() * perElement // to read them takes as long as to run a layer
	}
	return t.compare(t.cases, t.scale, t.beyond(ctx, tolerance, narrowestUnit(m)), func(c trialCase) (map[string]*refeval.Value, error) {
		got, err := r.Run(ctx, retype(c.in, m))
		if err == nil && seen != nil {
			seen(c, got)
		}
		return got, err
	})
}

// swayed is how many times as far as moved inputs put an output off a form may put it off where all elements are alike.
const swayed = 4

// beyond tells which faults count: what is not finite, and errors beyond the tolerance that inputs moved by a unit
// would not bring about.
func (t *Trial) beyond(ctx context.Context, tolerance, unit float64) func(*trialCase, *Fault) bool {
	return func(c *trialCase, f *Fault) bool {
		return f.NotFinite || f.Error > tolerance && f.Error > swayed*t.swayOf(ctx, c, unit)
	}
}

// swayOf returns how far the outputs of the trial's own model are off where elements that are alike are moved by one
// unit of a format, each by itself, and 0 for other inputs: what cancels only because all are the same, such as a
// constant signal in a transform, is no number that anybody relies on.
func (t *Trial) swayOf(ctx context.Context, c *trialCase, unit float64) float64 {
	if !c.alike() || c.given {
		return 0
	}
	if c.sway == 0 {
		c.sway = math.SmallestNonzeroFloat64
		r, err := refeval.New(t.model, refeval.Options{Wide: true, Measure: t.spend, MaxMemory: searchMemory})
		if err != nil {
			return 0
		}
		sway, err := c.moved(ctx, r, unit, t.scale)
		if err != nil {
			return 0
		}
		c.sway = max(c.sway, sway)
	}
	return c.sway
}

// moved returns how far outputs of a run in FP32 are off where the floats of the input are moved by a share of themselves.
func (c *trialCase) moved(ctx context.Context, r *refeval.Runner, share float64, scale map[string]float64) (float64, error) {
	got, err := r.Run(ctx, moved(c.in, share))
	if err != nil {
		return 0, err
	}
	if f := c.fault(got, scale); f != nil && !f.NotFinite {
		return f.Error, nil
	}
	return 0, nil
}

// narrowestUnit is the unit roundoff of the narrowest format of 16 bits or more that a model holds.
func narrowestUnit(m *graph.Model) (unit float64) {
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if f, ok := v.Type.Elem.Format(); ok && f.Bits() >= 16 {
				unit = max(unit, f.Unit())
			}
		}
	}
	return unit
}

// compare runs the cases and returns the first fault that counts. A case with one comes first the next time.
func (t *Trial) compare(cases []trialCase, scale map[string]float64, counts func(*trialCase, *Fault) bool, run func(trialCase) (map[string]*refeval.Value, error)) (*Fault, error) {
	for i, c := range cases {
		got, err := run(c)
		if err != nil {
			return nil, err
		}
		if f := c.fault(got, scale); f != nil && counts(&cases[i], f) {
			cases[0], cases[i] = cases[i], cases[0]
			return f, nil
		}
	}
	return nil, nil
}

// Sway returns how far an output of the model in FP32 is off where its float inputs are moved by one unit of a format,
// up or down, and nothing is rounded: the largest error over all inputs that there is work left for.
func (t *Trial) Sway(ctx context.Context, m *graph.Model, f numfmt.Format) (most float64) {
	ctx, t.stop = context.WithCancel(ctx)
	defer t.stop()
	r, err := refeval.New(m, refeval.Options{Wide: true, Measure: t.spend, MaxMemory: searchMemory})
	if err != nil {
		return 0
	}
	for _, c := range t.cases {
		sway, err := c.moved(ctx, r, f.Unit(), t.scale)
		if err != nil {
			return most
		}
		most = max(most, sway)
	}
	return most
}

// moved returns an input whose floats are larger or smaller by a share of themselves.
func moved(in Input, share float64) Input {
	out := maps.Clone(in)
	rng := rand.New(rand.NewPCG(seed, seed))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if in[name].Tensor == nil || in[name].Tensor.F == nil {
			continue
		}
		t := *in[name].Tensor
		t.F = slices.Clone(t.F)
		for i, x := range t.F {
			t.F[i] = x * float32(1+share*float64(2*rng.IntN(2)-1))
		}
		out[name] = refeval.TensorValue(&t)
	}
	return out
}

// Break returns the place where a run of the trial's own model, or of a form of it, held as the options say, stops being
// finite on the way to an output that is finite in FP32: the first value in the order of the run
// that is not, though it is in FP32 and all that its node reads is. It returns nil where no input
// shows one.
func (t *Trial) Break(ctx context.Context, m *graph.Model, opt Options) *Broken {
	if len(t.cases) == 0 {
		return nil
	}
	ctx, t.stop = context.WithCancel(ctx)
	defer t.stop()
	r, err := refeval.New(m, opt.lowered(nil, t.spend, nil))
	if err != nil {
		return nil
	}
	for _, c := range t.cases {
		in := retype(c.in, m)
		got, err := r.Run(ctx, in)
		if err != nil {
			return nil
		}
		if f := c.fault(got, t.scale); f == nil || !f.NotFinite {
			continue
		}
		if b := t.first(ctx, m, t.suspects(ctx, m, opt, in), in); b != nil {
			return b
		}
	}
	return nil
}

// suspects returns the values that are not finite though all that their nodes read is, in the order of
// the run. Most models have none, and are run without anybody looking at every element.
func (t *Trial) suspects(ctx context.Context, m *graph.Model, opt Options, in Input) (list []*Broken) {
	broken := map[*graph.Value]bool{}
	o := opt.lowered(nil, t.spend, func(v *graph.Value, x *refeval.Tensor) {
		e := extremesOf(x)
		broken[v] = !e.finite()
		if broken[v] && starts(v, func(in *graph.Value) bool { return broken[in] }) {
			list = append(list, &Broken{Value: v, NaN: e.nan && !e.inf})
		}
	})
	o.Glance = true
	r, err := refeval.New(m, o)
	if err != nil {
		return nil
	}
	if _, err := r.Run(ctx, in); err != nil {
		return nil
	}
	return list
}

// Broken is a value that is not finite in the target alone.
type Broken struct {
	Value *graph.Value
	NaN   bool // and none of its elements infinite
	Input Input
}

// first returns the first of the suspects that is finite in FP32, nil where there is none.
func (t *Trial) first(ctx context.Context, m *graph.Model, suspects []*Broken, in Input) *Broken {
	whole := map[*graph.Value]bool{}
	r, err := refeval.New(m, refeval.Options{Wide: true, Measure: t.spend, MaxMemory: searchMemory, Glance: true, Observe: func(v *graph.Value, x *refeval.Tensor) {
		whole[v] = extremesOf(x).finite()
	}})
	if err != nil {
		return nil
	}
	if _, err := r.Run(ctx, in); err != nil {
		return nil
	}
	for _, b := range suspects {
		if whole[b.Value] {
			b.Input = in
			return b
		}
	}
	return nil
}

// fault returns the worst difference of the outputs, as a share of their scale, nil where they are the
// same.
func (c trialCase) fault(got map[string]*refeval.Value, scale map[string]float64) *Fault {
	var worst *Fault
	for _, name := range slices.Sorted(maps.Keys(c.want)) {
		w, g := c.want[name].Tensors(), got[name].Tensors()
		for i := range min(len(w), len(g)) {
			diff, finite := distance(w[i], g[i])
			f := &Fault{Output: name, NotFinite: !finite, Error: diff / max(scale[name], math.SmallestNonzeroFloat32), Input: c.in, Drawn: !c.given}
			if worst == nil || f.NotFinite && !worst.NotFinite || f.NotFinite == worst.NotFinite && f.Error > worst.Error {
				worst = f
			}
		}
	}
	return worst
}

// distance returns the largest difference of two float tensors where both are finite, and whether
// the second is wherever the first is. Elements of other types do not count.
func distance(want, got *refeval.Tensor) (diff float64, finite bool) {
	finite = true
	if want.Len() != got.Len() || !want.Elem.IsFloat() || !got.Elem.IsFloat() {
		return 0, true
	}
	format, _ := got.Elem.Format()
	a, b := numbers(want), numbers(got)
	for i, x := range a {
		switch d := math.Abs(x - b[i]); {
		case math.IsNaN(x) || math.IsInf(x, 0):
		case math.IsNaN(d) || math.IsInf(d, 0):
			finite = false
		case format.Bits() == 16: // less what its own type takes
			diff = max(diff, d-format.Ulp(x)/2)
		default:
			diff = max(diff, d)
		}
	}
	return diff, finite
}

func numbers(t *refeval.Tensor) []float64 {
	list := make([]float64, 0, t.Len())
	scan(t, func(x float64) { list = append(list, x) })
	return list
}

// magnitude returns the greatest finite magnitude of a value's floats.
func magnitude(v *refeval.Value) float64 {
	most := 0.0
	for _, t := range v.Tensors() {
		most = max(most, largest(t))
	}
	return most
}

// largest returns the greatest finite magnitude of a tensor's floats.
func largest(t *refeval.Tensor) float64 {
	most := 0.0
	scan(t, func(x float64) {
		if a := math.Abs(x); !math.IsInf(a, 0) && a > most {
			most = a
		}
	})
	return most
}

func elements(values map[string]*refeval.Value) int {
	n := 0
	for _, v := range values {
		for _, t := range v.Tensors() {
			n += t.Len()
		}
	}
	return n
}

// retype gives float inputs the types that a form of the model declares.
func retype(in Input, m *graph.Model) Input {
	out := Input{}
	for name, x := range in {
		out[name] = x
		if v := m.Graph.Lookup(name); v != nil && x.Tensor != nil && x.Tensor.Elem.IsFloat() {
			if t, err := refeval.Convert(x.Tensor, v.Type.Elem); err == nil {
				out[name] = refeval.TensorValue(t)
			}
		}
	}
	return out
}
