package witness

import (
	"context"
	"maps"
	"slices"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/refeval"
)

// Spoiled is what rounding to the target does to an output that stays finite.
type Spoiled struct {
	// Values are those that must not be held low for the outputs to come out right, in the order of
	// the model, and none of them can be left out.
	Values []*graph.Value
	Most   float64 // the largest magnitude of the first in FP32
	Fault  *Fault
}

// Spoiled runs the trial's own model, held as the options say, on ordinary inputs, and returns what
// it takes to put an output right that is off by more than the tolerance; nil where none is, or where
// no small part of the values does: the errors are then those of a model that magnifies any rounding.
func (t *Trial) Spoiled(ctx context.Context, m *graph.Model, opt Options, tolerance float64) *Spoiled {
	var low []*graph.Value
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if _, ok := opt.Hold(v); ok {
				low = append(low, v)
			}
		}
	}
	ctx, t.stop = context.WithCancel(ctx)
	defer t.stop()
	fault, err := t.held(ctx, m, opt, nil, tolerance)
	if err != nil || fault == nil || fault.NotFinite || (fault.Whole || jumps(m)) && t.tied(ctx, m, opt, low, tolerance) {
		return nil
	}
	slight := fault.Drawn && fault.Error <= noise*tolerance
	left := tolerance
	if slight {
		left = fault.Error / 2
	}
	wide := Least(low, func(wide []*graph.Value) bool {
		fault, err := t.held(ctx, m, opt, wide, left)
		return err == nil && fault == nil
	})
	if wide == nil || slight && len(wide) > few/2 || ctx.Err() != nil {
		return nil
	}
	return &Spoiled{Values: wide, Most: t.magnitudeOf(ctx, m, wide[0], fault.Input), Fault: fault}
}

// jumps tells whether a model has an operator whose result jumps: its outputs may be others for
// inputs that are hardly others. A softmax of large scores is one.
func jumps(m *graph.Model) bool {
	for n := range m.Nodes() {
		switch n.Op {
		case "Softmax", "LogSoftmax", "Attention", "MultiHeadAttention", "GroupQueryAttention", "Floor", "Ceil", "Round", "Mod":
			return true
		case "Cast":
			if o := n.Out(0); o != nil && !o.Type.Float() && n.In(0) != nil && n.In(0).Type.Float() {
				return true
			}
		}
	}
	return chooses(m)
}

// chooses tells whether a model compares its numbers with each other or with some limit, and goes by that.
func chooses(m *graph.Model) bool {
	for n := range m.Nodes() {
		switch n.Op {
		case "ArgMax", "ArgMin", "TopK", "Hardmax", "NonMaxSuppression", "Sign", "Greater", "GreaterOrEqual", "Less", "LessOrEqual",
			"Equal", "Unique", "ThresholdedRelu", "Shrink":
			return true
		}
	}
	return false
}

// tied tells whether the inputs as the target holds them already spoil the outputs: random scores
// are that close to each other, or to a threshold.
func (t *Trial) tied(ctx context.Context, m *graph.Model, opt Options, low []*graph.Value, tolerance float64) bool {
	made := slices.DeleteFunc(slices.Clone(low), handed)
	fault, err := t.held(ctx, m, opt, made, tolerance)
	return err != nil || fault != nil
}

// handed tells whether a value is an input, or what an input is cast to.
func handed(v *graph.Value) bool {
	n := v.Producer
	return v.Input || n != nil && n.Op == "Cast" && n.In(0) != nil && n.In(0).Input
}

// Tied tells whether the trial's own model goes by comparisons, and the inputs, held as the options say, put an output off
// by themselves: some come that close to each other, or to a limit.
func (t *Trial) Tied(ctx context.Context, m *graph.Model, opt Options, tolerance float64) bool {
	if !chooses(m) {
		return false
	}
	ctx, t.stop = context.WithCancel(ctx)
	defer t.stop()
	var low []*graph.Value
	for g := range m.Graphs() {
		for _, v := range g.Values {
			if _, ok := opt.Hold(v); ok {
				low = append(low, v)
			}
		}
	}
	return t.tied(ctx, m, opt, low, tolerance)
}

// noise is how many times the tolerance a drawn input may put an output off where it takes more than a few
// values to halve that: networks for images and sounds, which are smooth, magnify what rounding does to noise.
const noise = 2

// held runs the model with values left wide, and returns the first fault.
func (t *Trial) held(ctx context.Context, m *graph.Model, opt Options, wide []*graph.Value, tolerance float64) (*Fault, error) {
	if err := t.planned(m, perPlan); err != nil {
		return nil, err
	}
	free := map[*graph.Value]bool{}
	for _, v := range wide {
		free[v] = true
	}
	o := opt.lowered(nil, t.spend, nil)
	keep := o.Keep
	o.Keep = func(v *graph.Value) bool { return free[v] || keep(v) }
	r, err := refeval.New(m, o)
	if err != nil {
		return nil, err
	}
	ordinary, others := t.parted()
	whole := tally{}
	counts := t.beyond(ctx, tolerance, opt.Target.Unit())
	fault, err := t.compare(ordinary, t.usual, counts, func(c trialCase) (map[string]*refeval.Value, error) {
		got, err := r.Run(ctx, c.in)
		whole.count(c.want, got)
		return got, err
	})
	if err != nil || fault != nil {
		return fault, err
	}
	if len(ordinary) > 0 {
		if fault = whole.fault(ordinary[0].in); fault != nil {
			return fault, nil
		}
	}
	return t.compare(others, t.scale, counts, func(c trialCase) (map[string]*refeval.Value, error) {
		return r.Run(ctx, c.in)
	})
}

// parted returns the ordinary cases, whose outputs are held against what is usual of them, and the others, such as
// small numbers and ends, which are held against all there is: a result that vanishes there is missed by nobody.
func (t *Trial) parted() (ordinary, others []trialCase) {
	for _, c := range t.cases {
		if c.ordinary() {
			ordinary = append(ordinary, c)
		} else {
			others = append(others, c)
		}
	}
	return ordinary, others
}

// tally counts the whole numbers of each output that came out as others.
type tally map[string]*struct{ off, all int }

// reordered is the share of an output's whole numbers, and leastWhole their number, from which on
// they are not what a few near ties make of them.
const (
	reordered  = 0.25
	leastWhole = 8
)

func (t tally) count(want, got map[string]*refeval.Value) {
	for name, v := range want {
		w, g := v.Tensors(), got[name].Tensors()
		for i := range min(len(w), len(g)) {
			if w[i].I == nil || len(w[i].I) != len(g[i].I) {
				continue
			}
			if t[name] == nil {
				t[name] = &struct{ off, all int }{}
			}
			t[name].all += len(w[i].I)
			for j, x := range w[i].I {
				if x != g[i].I[j] {
					t[name].off++
				}
			}
		}
	}
}

// fault returns the first output that is mostly another, nil where none is.
func (t tally) fault(in Input) *Fault {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if c := t[name]; c.all >= leastWhole && float64(c.off) >= reordered*float64(c.all) {
			return &Fault{Output: name, Error: float64(c.off) / float64(c.all), Whole: true, Input: in}
		}
	}
	return nil
}

// magnitudeOf returns the largest magnitude of a value in an FP32 run.
func (t *Trial) magnitudeOf(ctx context.Context, m *graph.Model, v *graph.Value, in Input) float64 {
	most := 0.0
	r, err := refeval.New(m, refeval.Options{Wide: true, Measure: t.spend, MaxMemory: searchMemory, Shown: func(w *graph.Value) bool { return w == v },
		Glance: true, Observe: func(_ *graph.Value, x *refeval.Tensor) { most = max(most, largest(x)) }})
	if err == nil {
		_, _ = r.Run(ctx, in) // what was seen before an end of the work counts
	}
	return most
}

// few are so few that all of them may have to be wide.
const few = 8

// maxParts ends the search where no larger part of all values can be left low.
const maxParts = 8

// Least takes values away as long as the rest suffices: halves first, then smaller parts
// (Zeller and Hildebrandt, Simplifying and isolating failure-inducing input, 2002). The whole list
// is taken to suffice. It returns nil where no small part does, and stops with what it has once
// nothing suffices any more.
func Least(list []*graph.Value, suffices func([]*graph.Value) bool) []*graph.Value {
	whole := list
	for parts := 2; len(list) > 1; {
		if parts > maxParts && len(list) == len(whole) && len(whole) > few {
			return nil
		}
		size := (len(list) + parts - 1) / parts
		smaller := false
		for at := 0; at < len(list); at += size {
			rest := slices.Concat(list[:at], list[min(at+size, len(list)):])
			if len(rest) > 0 && suffices(rest) {
				list, smaller = rest, true
				break
			}
		}
		switch {
		case smaller:
			parts = max(parts-1, 2)
		case size == 1:
			return single(whole, list, suffices)
		default:
			parts = min(2*parts, len(list))
		}
	}
	return single(whole, list, suffices)
}

// maxSingles is how many values each is tried alone.
const maxSingles = 128

// single returns the first value that suffices alone, or else those that are known to, where they are
// a small part: taking values away from many ends with a list of which none can be left out, and not
// with the shortest.
func single(whole, known []*graph.Value, suffices func([]*graph.Value) bool) []*graph.Value {
	if len(known) > 1 && len(whole) <= maxSingles {
		for _, v := range whole {
			if one := []*graph.Value{v}; suffices(one) {
				return one
			}
		}
	}
	if 2*len(known) > len(whole) && len(whole) > few {
		return nil
	}
	return known
}
