package analyze

import (
	"context"
	"slices"
	"time"

	"github.com/amplint/amplint/graph"
	"github.com/amplint/amplint/numfmt"
	"github.com/amplint/amplint/refeval"
	"github.com/amplint/amplint/rewrite"
	"github.com/amplint/amplint/rules"
	"github.com/amplint/amplint/samples"
	"github.com/amplint/amplint/witness"
)

// budgets are what the levels of --effort allow the runs of one model.
var budgets = map[string]witness.Options{
	"quick": {Work: 4e9, Least: 4, Most: 2e10, Must: 3, Far: 6e10, Limit: time.Minute, Runs: 24, Climbs: 200},
	"full":  {Work: 1e11, Must: 3, Far: 1e12, Limit: 20 * time.Minute, Runs: 1000, Climbs: 5000},
}

// probe runs the model where a bound alone has left something open, and returns what the runs
// showed, nil where there were none.
func (a *analysis) probe(ctx context.Context, t Target, opt *Options, in *rules.Input, found []rules.Finding) *witness.Seen {
	w, ok := budgets[opt.Effort]
	if !ok {
		return nil
	}
	a.sought = undecided(found)
	w.Suspects = a.sought
	if len(w.Suspects) == 0 && len(a.inputs.given) == 0 {
		return nil
	}
	if seen := a.from.showed(a); seen != nil {
		in.Sought, in.Close = seen.Sought, seen.Close
		in.Seen = func(*graph.Value) (rules.Sighting, bool) { return rules.Sighting{}, false }
		return seen
	}
	if len(w.Suspects) == 0 {
		w.Runs = 0
	}
	a.options(&w, t, opt, in)
	if wide := fixedBy(found); len(wide) > 0 {
		a.unhurt(&w, in, wide)
	}
	seen := witness.Probe(ctx, a.model, a.info, a.ranges.Inputs(), w)
	a.seen = seen
	in.Seen = func(v *graph.Value) (rules.Sighting, bool) {
		s, ok := seen.Of(v)
		return rules.Sighting{Lo: s.Lo, Hi: s.Hi, Right: s.Right && (s.Sample || s.Runs >= witness.Enough), Observed: s.Sample}, ok
	}
	in.Sought, in.Close = seen.Sought, seen.Close
	if seen.Runs == 0 {
		return nil
	}
	return seen
}

// fixedBy returns the values that the fixes of errors hold in FP32.
func fixedBy(found []rules.Finding) map[*graph.Value]bool {
	wide := map[*graph.Value]bool{}
	for _, f := range found {
		for _, e := range f.Edits {
			if x, ok := e.(rewrite.Widen); ok && f.Severity == rules.Error {
				wide[x.Value] = true
			}
		}
	}
	return wide
}

// unhurt runs a model as those fixes would leave it: what is certain to break hides what would break behind it.
func (a *analysis) unhurt(w *witness.Options, in *rules.Input, wide map[*graph.Value]bool) {
	if w.Target == numfmt.Invalid && !a.asFormat(w, in.Target) {
		return
	}
	hold := w.Hold
	w.Hold = func(v *graph.Value) (numfmt.Format, bool) {
		if wide[v] {
			return numfmt.FP32, false
		}
		return hold(v)
	}
}

// asFormat rounds what a file stores in 16 bits as if it were asked for, so that single values can be left wide. It tells
// whether that is the same: a file of both formats of 16 bits has no one target.
func (a *analysis) asFormat(w *witness.Options, f numfmt.Format) bool {
	if f == numfmt.FP32 || f.Bits() < 16 || holds(a.model, graph.Float16) && holds(a.model, graph.BFloat16) {
		return false
	}
	w.Target, w.Foreign, w.Stored = f, true, true
	return true
}

// unexplained runs a model of which nothing bad is known on a few inputs, and tells whether an output
// breaks or is spoiled all the same. Where a rule has something to say that comes first.
func (a *analysis) unexplained(ctx context.Context, t Target, opt *Options, in *rules.Input, found []rules.Finding) bool {
	w, ok := trials[opt.Effort]
	if !ok || t == FP32 || slices.ContainsFunc(found, explains) {
		return false
	}
	a.options(&w, t, opt, in)
	trial := a.newTrial(ctx, w)
	if b := trial.Break(ctx, a.model, w); b != nil {
		in.Broken = &rules.Broken{Value: b.Value, NaN: b.NaN, Input: b.Input}
		return true
	}
	if w.Target == numfmt.Invalid && !a.asFormat(&w, in.Target) || w.Target.Bits() < 16 {
		return false
	}
	if s := trial.Spoiled(ctx, a.model, w, toleranceOf(w.Target, a.model)); s != nil {
		in.Spoiled = &rules.Spoiled{Values: s.Values, Most: s.Most, Output: s.Fault.Output, Error: s.Fault.Error, Whole: s.Fault.Whole, Input: s.Fault.Input}
		return true
	}
	return false
}

// newTrial runs a model in FP32 on the inputs of a trial. They are the same in every trial of one effort, unless
// some mask padding.
func (a *analysis) newTrial(ctx context.Context, w witness.Options) *witness.Trial {
	if a.trial == nil || w.Anything {
		trial := witness.NewTrial(ctx, a.model, a.info, a.ranges.Inputs(), w)
		if w.Anything || w.Padding != nil && slices.ContainsFunc(realInputs(a.model), w.Padding) {
			return trial
		}
		a.trial = trial
	}
	return a.trial.Again()
}

// explains tells whether a finding may be why an output breaks: not what depends on the kernel, since
// the runs are those of the best.
func explains(f rules.Finding) bool {
	return f.Severity == rules.Error || f.Severity == rules.Warning && f.Evidence != rules.Kernel
}

// undecided returns the values of the findings that a run could decide, the likely ones first.
func undecided(found []rules.Finding) []*graph.Value {
	var likely, open []*graph.Value
	for _, f := range found {
		switch {
		case f.Kind != rules.Overflow || f.Node == nil || f.Value == nil || f.Value.Const != nil: // no run changes a constant
		case f.Evidence == rules.Likely:
			likely = append(likely, f.Value)
		case f.Evidence <= rules.Near:
			open = append(open, f.Value)
		}
	}
	return append(likely, open...)
}

// maxFeeds bounds the samples that are run, and maxFed their elements taken together.
const (
	maxFeeds = 32
	maxFed   = 1 << 26
)

// feeds returns the user's samples as the evaluator takes them, which are made once. Those that it
// cannot take, such as sequences, are left out: they have bounded the inputs all the same.
func (in *inputs) feeds(m *graph.Model) []witness.Input {
	if in.fed == nil {
		in.fed = in.made(m)
	}
	return in.fed
}

func (in *inputs) made(m *graph.Model) []witness.Input {
	list := []witness.Input{}
	left := int64(maxFed)
	for _, s := range in.given[:min(maxFeeds, len(in.given))] {
		feed := witness.Input{}
		for _, v := range realInputs(m) {
			x := s.Inputs[v.Name]
			if x == nil || x.Tensor == nil {
				continue
			}
			if left -= x.Tensor.Len(); left < 0 {
				return list
			}
			if t := tensorOf(x.Tensor, v.Type.Elem); t != nil {
				feed[v.Name] = refeval.TensorValue(t)
			}
		}
		list = append(list, feed)
	}
	return list
}

// tensorOf reads an array as the type that the model declares, nil where it cannot.
func tensorOf(a *samples.Array, e graph.ElemType) *refeval.Tensor {
	g, err := a.Tensor()
	if err == nil {
		g, err = convert(g, e)
	}
	if err != nil {
		return nil
	}
	t, err := refeval.FromGraph(g)
	if err != nil || t.Elem == e {
		return t
	}
	if !t.Elem.IsFloat() || e == graph.Double {
		return nil
	}
	t, _ = refeval.Convert(t, e)
	return t
}
